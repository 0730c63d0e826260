"""The glossary as a wall of small pictures, each the smallest true one of its word."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from attnviz.base.words import _
from attnviz.canvas.shared.component import mount_component
from attnviz.live import canvas_wording


@dataclass(frozen=True)
class WallTerm:
    """A word: what it is called, and what is said of it, in one sentence and what follows that."""

    id: str
    name: str
    first: str
    rest: str


@dataclass(frozen=True)
class WallFigure:
    """Words in their order, and the numbers that their pictures have; as a part of a figure too."""

    scene: ClassVar[str] = "wall"
    payload: ClassVar[bytes] = b""
    terms: Sequence[WallTerm]
    numbers: Mapping[str, float | int]
    title: str = ""

    @property
    def header(self) -> dict[str, Any]:
        return {
            "terms": self.terms,
            "numbers": self.numbers,
            "title": self.title,
            "colours": canvas_wording.scene_colours(),
            "words": {"see": _("See it") + " →"},
        }


def glossary_wall(key: str, figure: WallFigure, *, on_open: Callable[[str], None]) -> None:
    """Draw the wall; `on_open` hears the id of the word that was pressed."""
    ids = {term.id for term in figure.terms}

    def read(report: dict[str, Any]) -> str | None:
        return report["term"] if report.get("term") in ids else None

    mount_component("glossary_wall", key, "opened", figure.header, read, on_open)
