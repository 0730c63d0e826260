"""What pictures of a notebook have in common: a frame in a cell, and files of several kinds."""

from __future__ import annotations

import base64
import html
from abc import ABC, abstractmethod
from contextlib import suppress
from pathlib import Path
from typing import Literal

from attnviz.base.extras import ExtraMissing
from attnviz.base.message import Problem
from attnviz.base.rasterised import render_png
from attnviz.base.words import _, use_language
from attnviz.live import Theme
from attnviz.live.scene_figure import SceneFigure

#: The picture's scripts run, and may offer a file to keep; the notebook around it is out of their reach.
SANDBOX = "allow-scripts allow-downloads"


class SavedView(ABC):
    """A live picture that a notebook displays as a cell's output; `save` writes it to a file."""

    title: str
    theme: Theme
    height: int
    language: str | None

    @property
    @abstractmethod
    def html(self) -> str:
        """The whole live file."""

    @property
    @abstractmethod
    def head_title(self) -> str:
        """Title of the first displayed head, in the picture's language."""

    @property
    @abstractmethod
    def csv(self) -> str:
        """The first displayed head as a table; a Problem where it is too large for one."""

    @abstractmethod
    def figure(self) -> SceneFigure:
        """The first displayed head as a figure."""

    @abstractmethod
    def _film(self, kind: str) -> bytes:
        """Animation of the first displayed head; a Problem where nothing of it moves."""

    @property
    def svg(self) -> str:
        """The first displayed head as a still picture."""
        return self._still()

    def _still(self, brings_font: bool = True) -> str:
        with use_language(self.language):
            return self.figure().to_svg(
                background=self._paper, title=self.title or self.head_title, brings_font=brings_font
            )

    @property
    def _paper(self) -> Literal["dark", "white"]:
        return "dark" if self.theme == "dark" else "white"

    def save(self, path: Path | str) -> Path:
        """Write the live file (.html), or the head on show first as a picture (.svg, .png) or a table (.csv).

        As a film (.gif, .webp) it is the row that tells most, from its words to a mixture of values.
        """
        path = Path(path)
        ending = path.suffix.lower()
        if ending in (".gif", ".webp"):
            contents = self._film(ending[1:])
        elif ending in (".html", ".svg", ".png", ".csv"):
            contents = render_png(self.svg) if ending == ".png" else str(getattr(self, ending[1:])).encode()
        else:
            raise Problem("{name} must end in .html, .svg, .png, .gif, .webp or .csv", name=path.name)
        path.write_bytes(contents)
        return path

    def _repr_html_(self) -> str:
        with use_language(self.language):
            name, summary = html.escape(self.title or self.head_title), html.escape(_("Still picture"))
        below = ""
        with suppress(ExtraMissing):  # without the engine that draws it, the live picture stands alone
            still = base64.b64encode(self._still(brings_font=False).encode()).decode()
            below = (
                f"<details><summary>{summary}</summary>"
                f'<img alt="{name}" src="data:image/svg+xml;base64,{still}"></details>'
            )
        return (
            f'<div style="resize:vertical;overflow:hidden;height:{self.height}px;min-height:240px">'
            f'<iframe title="{name}" sandbox="{SANDBOX}" style="width:100%;height:100%;border:0" '
            f'srcdoc="{html.escape(self.html)}"></iframe></div>{below}'
        )

    def _repr_svg_(self) -> str | None:
        """For places that show no frames: a notebook keeps both. None without the engine that draws it."""
        with suppress(ExtraMissing):
            return self._still(brings_font=False)
        return None
