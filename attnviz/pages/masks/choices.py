"""What a visitor can choose on the mask page: the sentence, the rules, the paint, and what to look at closer."""

import base64
from typing import Any

import numpy as np

from attnviz.analysis.word_vectors import LONGEST
from attnviz.app.links.choices import Choice, Move, PageChoices
from attnviz.base.packed import pack_bits, unpack_bits
from attnviz.base.words import N_
from attnviz.pages.masks.maths import mask_lab, mask_programs, mask_rules

EXAMPLE = "The cat sat on the mat because it was tired"  # the same in every language, because a link must show the same
MOST_RULES = 3
OFF = "off"


def _parse_paint(value: Any) -> mask_lab.Painted:
    size = int(value["n"])
    if not 0 < size <= LONGEST:
        raise ValueError(size)
    return mask_lab.Painted(size, _unpack_cells(value["on"], size), _unpack_cells(value["off"], size))


def _serialise_paint(value: mask_lab.Painted) -> dict[str, Any]:
    """The paint as bits: {"n": words, "on": base64, "off": base64}."""
    return {"n": value.size, "on": _pack_cells(value.on, value.size), "off": _pack_cells(value.off, value.size)}


def _pack_cells(flats: tuple[int, ...], size: int) -> str:
    grid = np.zeros(size * size, bool)
    grid[list(flats)] = True
    return base64.b64encode(pack_bits(grid)).decode() if flats else ""


def _unpack_cells(text: str, size: int) -> tuple[int, ...]:
    cells = unpack_bits(base64.b64decode(text, validate=True), (size, size)) if text else np.zeros(0)
    return tuple(np.flatnonzero(cells).tolist())


PAGE = PageChoices("masks")
SENTENCE = PAGE.sentence("m_text", EXAMPLE, longest=3000, label=N_("Sentence"))
SEED = PAGE.integer("m_seed", 0, low=0, high=9999, label=N_("Seed"))
RULES = tuple(
    PAGE.one_of(
        f"m_rule{position}",
        tuple(mask_rules.KINDS) if position == 1 else (OFF, *mask_rules.KINDS),
        "causal" if position == 1 else OFF,
        label=N_("The mask") if position == 1 else N_("Joined with") if position == 2 else N_("And then with"),
    )
    for position in range(1, MOST_RULES + 1)
)
#: how the second and the third rule are joined to those before them
JOINS = {
    position: PAGE.one_of(f"m_join{position}", ("and", "or"), label=N_("How")) for position in range(2, MOST_RULES + 1)
}


def _rule_choice(position: int, kind: str, parameter: mask_rules.RuleParameter) -> Choice[Any]:
    name = f"m{position}_{kind}_{parameter.name}"
    if isinstance(parameter.default, bool):
        return PAGE.flag(name, parameter.default, label=parameter.label)
    if isinstance(parameter.default, int):
        return PAGE.integer(name, parameter.default, parameter.least, parameter.most, label=parameter.label)
    if parameter.options:
        return PAGE.one_of(name, parameter.options, parameter.default, label=parameter.label)
    return PAGE.text(name, parameter.default, longest=1000, label=parameter.label)


#: (position, kind, parameter's name) -> its choice
RULE_PARAMETERS = {
    (position, kind.id, parameter.name): _rule_choice(position, kind.id, parameter)
    for position in range(1, MOST_RULES + 1)
    for kind in mask_rules.KINDS.values()
    for parameter in kind.parameters
}
PAINT = PAGE.on_canvas(
    "m_paint",
    mask_lab.Painted(),
    _parse_paint,
    _serialise_paint,
    mask_lab.Painted(4, (1,), (8,)),
    inside="m_paint",
    label=N_("Painted mask"),
)
GUESS = PAGE.one_of("m_guess", label=N_("Your guess"))  #: what is guessed, and of which cell: "share.8.3"
WORD = PAGE.integer("m_word", None, low=0, high=LONGEST - 1, label=N_("Word whose ribbons are shown"))
LAYERS = PAGE.integer("m_layers", 1, low=1, high=mask_lab.MOST_LAYERS, label=N_("Layers"))
PROGRAM = PAGE.one_of("m_code", tuple(mask_programs.PROGRAMS), "attn_mask", label=N_("How the mask is handed over"))

PAGE.moved["m_view", "traps"] = Move(
    "mistakes",
    {"mistake": "{m_trap}", "guess": "{m_trap}.0", "mi_text": "{m_text}", "mi_seed": "{m_seed}"},
    {"m_trap": "fill"},
    ("m-trap", "mistake"),
)
PAGE.moved["m_view", "training"] = Move(
    "born", {"born_section": "others", "born_changed": "no-mask"}, {}, ("m-losses", "born-others")
)
