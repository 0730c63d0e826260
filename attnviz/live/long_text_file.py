"""A long text with a head's attention as one record: sent to the picture in the app, and written into its file."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from attnviz.base.head_edit import NO_EDIT, HeadEdit
from attnviz.base.head_record import HeadGrid
from attnviz.base.packed import fingerprint, pack_blob
from attnviz.base.record_json import to_json
from attnviz.base.words import _
from attnviz.live import Theme, canvas_wording
from attnviz.live.canvas_page import canvas_page
from attnviz.live.head_header import grid_header

Span = tuple[int, int]
PARTS = ("overview", "tile", "q", "k", "row", "wall", "answer")  #: the same as in canvas/long_text/head_supply.js


@dataclass(frozen=True)
class TextState:
    """What a visitor has chosen in the picture."""

    tile: tuple[int, int]  #: layer and head
    unit: str = "sentence"
    pinned: Span | None = None  #: tokens of the unit that is looked from
    hidden: Span | None = None  #: tokens that a question takes nothing from
    edit: HeadEdit = NO_EDIT


@dataclass(frozen=True)
class AnswerLine:
    """An answer as the picture shows it; below `address` the browser finds what each of its words read."""

    words: Sequence[str]
    tokens: Sequence[Span]  #: of the answer, that each word is made of
    address: str
    hidden: Span | None = None


@dataclass(frozen=True)
class HeadProfile:
    """Means over all rows of a head: shares of its weight from 0 to 1, and its entropy in nats."""

    sink: float  #: of the first token
    beyond: float  #: of tokens `far` or more positions away
    far: int
    entropy: float


@dataclass(frozen=True, eq=False)
class TextFigure:
    """The whole of a head, `codes` (rows, columns) of blocks of `step` tokens, as a part of a figure."""

    scene: ClassVar[str] = "text"
    text: "LongText"
    step: int
    codes: NDArray[np.uint8]
    title: str = ""

    @property
    def header(self) -> dict[str, Any]:
        tokens, starts = self.text.tokens, list(self.text.units[self.text.state.unit])
        ends = [*starts[1:], len(tokens)]
        names = ["".join(tokens[start:end]) for start, end in zip(starts, ends, strict=True)]
        labels = {unit: " ".join(re.sub(r"<\|[^|]*\|>", " ", name).split()) for unit, name in enumerate(names)}
        return {
            "title": self.title,
            "colours": canvas_wording.scene_colours(),
            "legend": long_text_words()["legend"],
            "first": [0, 0],
            "span": len(tokens),
            "corner": [0, 0],
            "step": self.step,
            "columns": self.codes.shape[1],
            "starts": starts,
            "labels": labels,
        }

    @property
    def payload(self) -> bytes:
        return self.codes.tobytes()


@dataclass(frozen=True)
class LongText:
    """A text and its heads. `units` are the first tokens of each word, sentence and so on.

    Parts of the heads are fetched below `address`. Of `retrieval` heads there is the share of the answer that each
    looked at as it was written.
    """

    tokens: Sequence[str]
    units: Mapping[str, Sequence[int]]
    grid: HeadGrid
    state: TextState
    address: str = ""
    answers: Sequence[AnswerLine] = ()
    retrieval: Sequence[tuple[int, int, float]] = ()
    profiles: Sequence[HeadProfile] = ()  #: of every head, layer by layer, where they are known

    @property
    def header(self) -> dict[str, Any]:
        """What JavaScript draws from."""
        return {
            "doc": self.address,
            "tokens": list(self.tokens),
            "units": {name: list(starts) for name, starts in self.units.items()},
            "overview": grid_header(self.grid),
            "state": vars(self.state) | {"edit": to_json(self.state.edit)},
            "answers": list(self.answers),
            "retrieval": [list(entry) for entry in self.retrieval],
            "profiles": list(self.profiles),
            "colours": canvas_wording.scene_colours(),
            "texts": long_text_words(),
            "words": canvas_wording.head_text() | canvas_wording.edit_text(),
        }

    def page(
        self,
        parts: Mapping[tuple[str, *tuple[int, ...]], bytes],
        title: str = "",
        note: str = "",
        theme: Theme = "auto",
    ) -> str:
        """The HTML of a file that needs no server: `parts` by their name in PARTS and their numbers.

        `title` stands above the picture, whose own first words are the name of the head on show.
        """
        named = {".".join(map(str, (PARTS.index(name), *numbers))): part for (name, *numbers), part in parts.items()}
        once = list(dict.fromkeys(named.values()))  # heads of a group have the same keys
        starts = dict(zip(once, accumulate(map(len, once), initial=0), strict=False))
        listed = [[name, starts[part], starts[part] + len(part)] for name, part in named.items()]
        header = self.header | {"doc": fingerprint(tuple(self.tokens)), "parts": listed}
        data = pack_blob(header, b"".join(once))
        return canvas_page("long_text", data, title, note, worker="text_worker", theme=theme)


def long_text_words() -> dict[str, str]:
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
        "profile": _(
            "On average {sink} of its weight goes to the first token and {beyond} to tokens {far} or more away. "
            "Its entropy is {entropy} nats."
        ),
        "absent": _("This file holds the weights of another head. Of {head} it holds means."),
        "gone": _("The text has left the memory: it is read again."),
    }
