"""Choices of the page Explore: sentence, model and head, display options, and changes of mask and scale."""

from typing import Any

from attnviz.app.links.choices import (
    LONGEST_ID,
    Choice,
    HeadPlace,
    PageChoices,
    head_name,
    pack_bits,
    parse_head,
    record_reader,
)
from attnviz.base.head_edit import LARGEST_FACTOR, LONGEST_WINDOW, MASKS, SCALES, SCOPES, VIEWS
from attnviz.base.words import N_
from attnviz.models.loading import EXAMPLES
from attnviz.pages.explore.maths import whole_model

START: HeadPlace = (13, 8)  # of SmolLM2: here "it" looks at what it stands for
OTHER_MODEL = "other"
LAST = -1  # a pin on the last token: after appending text, nobody knows into how many tokens it will be cut
#: the panels below the picture, and what each is about
PANELS = {
    "why": N_("Why there? What wrote the query and the key"),
    "place": N_("Where this head sits in the model"),
    "stages": N_("What its row hands on: weight × value"),
    "what_if": N_("What if: another mask, another scale, a silenced head"),
    "next": N_("What comes next"),
    "average": N_("Averages and rollout"),
    "beside": N_("Two side by side"),
}
LONGEST_TOKEN = 1000  # characters of a token's label
MOST_TOKENS = 1_000_000  # that a position in a link may count
MOST_PLACES = 10_000  # of anything in a link: pins, hidden tokens, silenced heads


def _parse_position(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < MOST_TOKENS:
        raise ValueError(value)
    return value


def _parse_list(value: Any) -> list[Any]:
    if not isinstance(value, list) or len(value) > MOST_PLACES:
        raise ValueError(value)
    return value


def _parse_pins(value: Any) -> dict[str, Any]:
    """Parse the pins and the clicked cell: {"t": [["q", 3, "it"], ...], "c": [3, 1, "it", "The"]}.

    Numbers are positions among the model's tokens, each with the token's label. LAST has no label.
    """
    pins: dict[str, Any] = {"t": [_parse_pin(pin) for pin in _parse_list(value.get("t", []))]}
    if value.get("c") is not None:
        query, key, query_label, key_label = _parse_list(value["c"])
        pins["c"] = [_parse_position(query), _parse_position(key), _parse_label(query_label), _parse_label(key_label)]
    return pins


def _parse_pin(value: Any) -> list[Any]:
    side, at, *label = _parse_list(value)
    if side not in ("q", "k"):
        raise ValueError(value)
    return [side, at] if at == LAST else [side, _parse_position(at), _parse_label(*label)]


def _parse_label(value: Any) -> str:
    if not isinstance(value, str) or len(value) > LONGEST_TOKEN:
        raise ValueError(value)
    return value


def _parse_scalars(value: Any) -> tuple[Any, ...]:
    """Parse names or numbers. The page drops those that it does not have, and tells the visitor."""
    return tuple(entry if isinstance(entry, str | int) else str(entry) for entry in _parse_list(value))


PAGE = PageChoices("explore")
SENTENCE = PAGE.sentence("text", EXAMPLES[0].text, longest=100_000, label=N_("Sentence"))
SECOND = PAGE.text("second", longest=100_000, label=N_("Second sentence"))
PAIR = PAGE.flag(
    "pair", None, label=N_("Add a second sentence")
)  #: whether an encoder reads a second sentence; None: it does when one was typed
MODEL = PAGE.one_of("model", label=N_("Model"))
HUB_ID = PAGE.text("hub_id", longest=1000, label=N_("Hub id or folder"))
FRAME = PAGE.one_of("frame", ("usual", "none", "start", "chat"), label=N_("Put around the sentence"))
STACK = PAGE.one_of("stack", ("", "encoder", "decoder", "cross"), label=N_("Attention"))
AT: Choice[HeadPlace] = PAGE.custom("at", START, parse_head, head_name, (3, 1), label=N_("Head (layer.head)"))
ORDER = PAGE.one_of("by", ("place", *whole_model.MEASURES), label=N_("All heads by"))

# A long text in place of the sentence
DOCUMENT = PAGE.one_of("doc", ("", "alice", "boat", "own"), label=N_("Long text"))
TEXT_UNIT = PAGE.one_of("text_unit", ("sentence", "word", "paragraph", "turn"), label=N_("Point at"))
QUESTION = PAGE.text("ask", longest=400, label=N_("Ask the text"))

# How a matrix is shown
VALUES = PAGE.one_of("show", ("weights", "values"), label=N_("Show"))
UNITS = PAGE.one_of("units", ("pieces", "words"), label=N_("Tokens as"))
SPECIAL = PAGE.one_of("special", ("shown", "hidden", "rest"), label=N_("Special tokens"))
SEGMENTS = PAGE.one_of(
    "part", ("all", "first to second", "second to first", "first to first", "second to second"), label=N_("Sentences")
)
COLOURS = PAGE.one_of("colours", ("one", "own"), label=N_("Colours from 0 to"))
#: "linear", which a link need not name: even steps, or those of square roots where the sentence is long
CURVE = PAGE.one_of("curve", ("linear", "root", "even"), label=N_("Colour steps"))

# What is open below the picture
OPEN = {name: PAGE.flag(f"open_{name}", label=title) for name, title in PANELS.items()}

# What if
MASK = PAGE.one_of("mask", [*MASKS], label=N_("Mask"))
WINDOW = PAGE.integer("window", 4, low=1, high=LONGEST_WINDOW, label=N_("Width of the window"))
SCALE = PAGE.one_of("scale", SCALES, label=N_("Scale"))
FACTOR = PAGE.real("factor", 1.0, low=0.0, high=LARGEST_FACTOR, label=N_("Scale × the model’s"))
WHERE = PAGE.one_of("where", [*SCOPES], label=N_("Change it in"))
AGAIN = PAGE.flag("again", label=N_("Run the model again"))
#: what the large head shows of a change; links of versions that changed nothing there do not name it
SEEN = PAGE.one_of("seen", VIEWS, label=N_("Before, after or difference"))

# Why there?
CUT = PAGE.text("cut", longest=40, label=N_("Cut it out of the keys"))

# What comes next
TEMPERATURE = PAGE.real("temperature", 1.0, low=0.0, high=3.0, label=N_("Temperature"))
TOP_K = PAGE.integer("topk", 50, low=1, high=50, label=N_("Top-k"))
WRITE = PAGE.integer("write", 10, low=1, high=50, label=N_("Tokens"))  #: tokens that the model writes at once

# Averages and rollout
COMBINE = PAGE.one_of("combine", ("layer", "all", "chosen", "rollout"), label=N_("Combine"))
MEAN_OF = PAGE.several("mean_of", label=N_("Heads, as layer.head"))
ROLLOUT_TO = PAGE.integer("rollout_to", None, low=1, high=999, label=N_("Layers, from the first on"))

# Two side by side
BESIDE = PAGE.one_of("beside", ("head", "sentence", "model"), label=N_("Show beside it"))
OTHER_TEXT = PAGE.text("other_text", longest=100_000, label=N_("The other sentence"))
BESIDE_MODEL = PAGE.one_of("other_model", label=N_("The other model"))
#: the head to show beside, as typed, one for each kind: another head, sentence or model
BESIDE_HEAD = {
    kind: PAGE.text(f"beside_{kind}", longest=LONGEST_ID, label=N_("Its head, as layer.head"))
    for kind in ("head", "sentence", "model")
}

# What the canvases hold; positions are those of the model's tokens
PINS: Choice[dict[str, Any] | None] = PAGE.on_canvas(
    "pins",
    None,
    _parse_pins,
    lambda pins: pins,
    {"t": [["q", 3, "it"]], "c": [3, 1, "it", "The"]},
    inside="c",
    short="pins",
    label=N_("Pinned tokens"),
)
PAINTED: Choice[str | None] = PAGE.on_canvas(
    "painted", None, pack_bits, lambda bits: bits, "gA==", inside="c", short="mask", label=N_("Painted mask")
)
#: heads of the layer on show whose lines are laid over those of the head on show
OVER: Choice[tuple[int, ...]] = PAGE.on_canvas(
    "over", (), _parse_scalars, list, (1, 3), inside="c", short="over", label=N_("Heads in the lines")
)
HIDDEN: Choice[tuple[int, ...]] = PAGE.on_canvas(
    "hide", (), _parse_scalars, list, (1,), inside="c", short="hide", label=N_("Hidden tokens")
)
QUIET: Choice[tuple[str, ...]] = PAGE.on_canvas(
    "quiet", (), _parse_scalars, list, ("0.1",), inside="c", short="quiet", label=N_("Silence heads (layer.head)")
)
STAGE: Choice[tuple[int, int | None] | None] = PAGE.on_canvas(
    "stage",
    None,
    record_reader(tuple[int, int | None], lambda stage: all(0 <= at < MOST_TOKENS for at in stage if at is not None)),
    lambda stage: list(stage) if stage else None,
    (2, 1),
    inside="c",
    short="stage",
    label=N_("Clicked cell"),
)  #: (query, key) by the model's tokens: so links of versions named it that told of a cell in a panel
#: what is told of a sentence, as an example's begins
FRESH: dict[Choice[Any], Any] = {
    choice: choice.default for choice in (SECOND, PAIR, PINS, STAGE, PAINTED, HIDDEN, QUIET, DOCUMENT, FRAME)
}
