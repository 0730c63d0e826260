"""A long text with a head's attention: a pyramid of tiles that is zoomed, and the text itself, which glows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from attnviz.base.words import _
from attnviz.canvas.shared.component import count, mount_component
from attnviz.live import canvas_wording

Span = tuple[int, int]


@dataclass(frozen=True)
class TextState:
    """Where a hand left the picture."""

    tile: tuple[int, int]  #: layer and head
    unit: str
    pinned: Span | None = None  #: tokens of the unit that is looked from
    hidden: Span | None = None  #: tokens that a question takes nothing from


@dataclass(frozen=True)
class AnswerLine:
    """An answer as the picture shows it; below `address` the browser finds what each of its words read."""

    words: Sequence[str]
    tokens: Sequence[Span]  #: of the answer, that each word is made of
    address: str
    hidden: Span | None = None


def long_text(
    key: str,
    tokens: Sequence[str],
    units: Mapping[str, Sequence[int]],
    state: TextState,
    *,
    address: str,
    heads: Sequence[int],
    answers: Sequence[AnswerLine] = (),
    retrieval: Sequence[tuple[int, int, float]] = (),
    on_stand: Callable[[TextState], None],
) -> None:
    """Draw a text of these `tokens` with the head of `state`; `on_stand` hears where a hand left it.

    `units` are the first tokens of each word, sentence and so on. Tiles and rows are fetched below `address`; `heads`
    are those of each layer; of `retrieval` heads, the share of the answer that each looked at as it was written.
    """
    n = len(tokens)

    def read_span(value: Any) -> Span | None:
        if not isinstance(value, list):
            return None
        start, stop = (count(at, n + 1) for at in value)
        return None if start is None or stop is None or start >= stop else (start, stop)

    def read_state(report: dict[str, Any]) -> TextState | None:
        layer, head = (count(at) for at in report["tile"])
        fits = report["doc"] == address and layer is not None and head is not None and layer < len(heads)
        if not fits or layer is None or head is None or head >= heads[layer] or report["unit"] not in units:
            return None
        return TextState((layer, head), report["unit"], read_span(report["pinned"]), read_span(report["hidden"]))

    header = {
        "doc": address,
        "tokens": list(tokens),
        "units": {name: list(starts) for name, starts in units.items()},
        "heads": list(heads),
        "state": state,
        "answers": list(answers),
        "retrieval": [list(entry) for entry in retrieval],
        "colours": canvas_wording.scene_colours(),
        "texts": _texts(),
    }
    mount_component("long_text", key, "stood", header, read_state, on_stand)


def _texts() -> dict[str, str]:
    """Sentences of the picture; {names} are filled in by the browser."""
    return {
        "units": _("Point at"),
        "word": _("words"),
        "sentence": _("sentences"),
        "paragraph": _("paragraphs"),
        "turn": _("turns"),
        "search": _("Search the text"),
        "matches": _("{at} of {count}"),
        "previous": _("Previous match"),
        "next": _("Next match"),
        "picture": _("The weights of one head: zoom with the wheel, two fingers, + and −; move with the arrow keys"),
        "closer": _("Zoom in"),
        "farther": _("Zoom out"),
        "all": _("Show all"),
        "text": _("The text: point at a part of it, and what it looks at glows"),
        "map": _("Where it glows, from the beginning of the text to its end"),
        "wall": _("All heads."),
        "wall_sampled": _("All heads. Of each, {rows} rows are computed and the others left out."),
        "head": _("Layer {layer}, head {head}"),
        "cell": _("“{query}” looks at “{key}”: {weight}"),
        "block": _("Up to {weight} in {size} × {size} tokens, around “{query}” and “{key}”"),
        "masked": _("“{query}” comes before “{key}” and cannot look at it"),
        "point": _("Point at the text or the picture."),
        "looks": _("“{unit}” looks most at:"),
        "only": _("“{unit}” looks only at itself."),
        "sink": _("{share} of its weight goes to the first token, which is left out here."),
        "wrote": _("To write “{unit}”, it looked most at:"),
        "answer": _("Answer"),
        "without": _("Answer without “{unit}”"),
        "hidden_from": _(
            "Only the question and the answer cannot look at this part. Later parts of the text had already read it."
        ),
        "hide": _("Answer without this part"),
        "show": _("With it again"),
        "copies": _("Heads that looked at the very word that was then written:"),
        "legend": _("weight, in steps of ten"),
        "gone": _("The text has left the memory: it is read again."),
    }
