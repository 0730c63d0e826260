"""One figure of a page as a file, with the bytes that the page's own export menu saves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from attnviz.core.message import Problem
from attnviz.figures.svg import Background
from attnviz.rasterised import png
from attnviz.ui.headless import chart_browser
from attnviz.ui.shared import MadeFigure, WrittenFigure, to_csv

ALL_HEADS = "-all-live"  #: how the name of a live file of every head ends


@dataclass(frozen=True)
class Looks:
    """What the export menu asks before it saves. `title` and `caption` None: the figure's own; empty: none."""

    background: Background = "white"
    title: str | None = None
    caption: str | None = None
    bar: bool = True
    scale: float = 2.0  #: pixels of a PNG for each of the picture's own
    all_heads: bool = False  #: in a live file


def figure_file(figure: MadeFigure, kind: str, looks: Looks) -> bytes:
    """The figure as "svg", "png", "html" or "csv". A Problem where the figure has no such format."""
    return FORMATS[kind](figure, looks)


def _written(figure: MadeFigure, looks: Looks) -> WrittenFigure:
    title = figure.title if looks.title is None else looks.title
    caption = figure.caption if looks.caption is None else looks.caption
    return figure.written(looks.background, title, caption, looks.bar)


def _svg(figure: MadeFigure, looks: Looks) -> bytes:
    return _whole_svg(figure, looks).encode()


def _whole_svg(figure: MadeFigure, looks: Looks) -> str:
    written = _written(figure, looks)
    return written.svg if written.chart is None else chart_browser.completed(written.svg, written.chart)


def _png(figure: MadeFigure, looks: Looks) -> bytes:
    return png(_whole_svg(figure, looks), looks.scale)


def _html(figure: MadeFigure, looks: Looks) -> bytes:
    pages = _written(figure, looks).pages
    found = [page for page in pages if not looks.all_heads or page.suffix == ALL_HEADS]
    if not found and looks.all_heads:
        raise Problem("This figure has no live file of all heads: one of all heads is offered by Explore's head.")
    if not found:
        raise Problem("This figure has no live file: it can be had as SVG, PNG and, where it has numbers, CSV.")
    return found[0].page().encode()


def _csv(figure: MadeFigure, looks: Looks) -> bytes:
    if figure.table is None:
        raise Problem("This figure has no table of numbers: it can be had as SVG and PNG.")
    return to_csv(figure.table).encode()


FORMATS: Final[dict[str, Callable[[MadeFigure, Looks], bytes]]] = {
    "svg": _svg,
    "png": _png,
    "html": _html,
    "csv": _csv,
}
