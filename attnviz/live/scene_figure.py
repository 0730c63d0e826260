"""Figures drawn by the canvas's own JavaScript, in an engine inside Python: a file shows what the screen shows."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from attnviz.base import pictures_font
from attnviz.base.extras import needed_for
from attnviz.base.words import N_
from attnviz.figures.theme import Background

BUNDLE = Path(__file__).parent / "bundle/figure_engine.js"


class FigurePart(Protocol):
    """One picture of a figure, as the JavaScript takes it (`canvas/scene/figure_engine.js`)."""

    @property
    def scene(self) -> str:
        """Which picture it is, by its name in the engine's table."""

    @property
    def header(self) -> dict[str, Any]:
        """What is told of it, as JSON; "title" among it."""

    @property
    def payload(self) -> bytes:
        """The numbers behind it."""


@dataclass(frozen=True)
class SceneFigure:
    """A figure that the canvas's JavaScript draws; its parts stand side by side, each below its own title."""

    parts: tuple[FigurePart, ...]
    title: str = ""

    def to_svg(
        self,
        *,
        background: Background = "white",
        title: str | None = None,
        caption: str | None = None,
        colorbar: bool = True,
        brings_font: bool = True,
    ) -> str:
        """The SVG file. `title=None` leaves the title out, as does `caption=None` the caption."""
        payloads = [part.payload for part in self.parts]
        headers = [
            {"scene": part.scene, "header": part.header, "size": len(payload)}
            for part, payload in zip(self.parts, payloads, strict=True)
        ]
        look = {"background": background, "title": title or "", "caption": caption or "", "bar": colorbar}
        numbers = b"".join(payloads).decode("latin-1")
        told = json.dumps(headers, default=vars)
        return str(_engine()(told, numbers, json.dumps(look | {"fonts": pictures_font.style() if brings_font else ""})))


def _engine() -> Any:
    """The bundle's one function, in a context of its own: one context serves one thread alone."""
    with needed_for(N_("A figure of a head")):
        import quickjs  # here: only a file needs it
    context = quickjs.Context()
    context.eval(BUNDLE.read_text("utf-8"))
    return context.get("attnvizFigure")
