"""The glossary as a wall of small pictures, each the smallest true one of its word."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from attnviz.base.words import _
from attnviz.canvas.shared.component import mount_component
from attnviz.live import canvas_wording

AMONG = 6  #: words of which one is asked for, which one learns together


@dataclass(frozen=True)
class WallTerm:
    """A word: its name, the first sentence of its explanation, the rest, and its place in the order of learning."""

    id: str
    name: str
    first: str
    rest: str
    place: int = 0


class WallReport(NamedTuple):
    """What a hand did: `term` opens; the picture of `asked` is looked for, and `guess` was pressed; "": none."""

    term: str
    asked: str
    guess: str


@dataclass(frozen=True)
class WallFigure:
    """Words in their order, and the numbers that their pictures have; as a part of a figure too.

    The first `found` words were looked for, and the others are faded; None: all. `asked`, `guess`: as in a report.
    """

    scene: ClassVar[str] = "wall"
    payload: ClassVar[bytes] = b""
    terms: Sequence[WallTerm]
    numbers: Mapping[str, float | int]
    found: int | None = None
    asked: str = ""
    guess: str = ""
    title: str = ""

    @property
    def header(self) -> dict[str, Any]:
        return {
            "terms": self.terms,
            "numbers": self.numbers,
            "found": len(self.terms) if self.found is None else self.found,
            "asked": self.asked,
            "guess": self.guess,
            "among": AMONG,
            "title": self.title,
            "colours": canvas_wording.scene_colours(),
            "words": {
                "see": _("See it") + " →",
                "begin": _("Guess a picture"),
                "ask": _("Which picture shows “{word}”?"),
                "right": _("Yes, this one shows “{word}”."),
                "other": _("You took “{guess}”. The framed picture shows “{word}”."),
                "yours": _("your guess"),
                "another": _("Another word"),
                "end": _("All words"),
                "picture": _("Picture {number}"),
            },
        }


def glossary_wall(key: str, figure: WallFigure, sentence: str, on_report: Callable[[WallReport], None]) -> None:
    """Draw the wall and its sentence; `on_report` receives what a visitor did."""
    ids = {"", *(term.id for term in figure.terms)}

    def read(report: dict[str, Any]) -> WallReport | None:
        parts = [str(report.get(name)) for name in WallReport._fields]
        return WallReport(*parts) if ids.issuperset(parts) else None

    mount_component("glossary_wall", key, "opened", figure.header | {"sentence": sentence}, read, on_report)
