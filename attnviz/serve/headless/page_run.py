"""Run a page's script for a link, as Streamlit's own testing runs it: no server, no browser, the same code."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from streamlit.testing.v1 import AppTest

from attnviz.app.exports import Gathering, MadeFigure, WrittenFigure, gather, to_csv
from attnviz.app.page_entry import file_of
from attnviz.base.message import Problem, Several
from attnviz.base.rasterised import png
from attnviz.figures.svg import Background
from attnviz.serve import server
from attnviz.serve.headless import chart_browser
from attnviz.serve.page_table import PAGES

LONGEST = 3600.0  # seconds that a page may take: a model may have to be prepared first
#: warns in each run that the script runs without a browser
QUIET = "streamlit.runtime.scriptrunner_utils.script_run_context"


@dataclass(frozen=True)
class PageAnswer:
    """What the page offers to save, by file name; the figure that was wanted; and the sentences it would warn with."""

    names: tuple[str, ...]
    figure: MadeFigure | None
    file_name: str
    said: tuple[str, ...]


def run_page(link: AppLink, wanted: str | None = None) -> PageAnswer:
    """The page of `link`, with the figure called `wanted`; None makes none.

    "" is the figure that the page is about: its first, but for an overview.
    """
    logging.getLogger(QUIET).setLevel(logging.ERROR)
    gathering = Gathering(wanted)
    app = AppTest.from_file(server.MAIN, default_timeout=LONGEST)
    gather(app.session_state, gathering)
    if link.page != "home":
        app.switch_page(os.path.relpath(file_of(link.page), server.MAIN.parent))
    if link.address:
        app.context["url"] = link.address
    for name, value in link.parameters.items():
        app.query_params[name] = value
    app.run()
    if app.exception:
        raise Problem("The page failed: {why}", why=app.exception[0].value)
    said = [each.value for each in (*app.error, *app.warning)]
    names = tuple(offer.file_name for offer in gathering.offers)
    return PageAnswer(names, gathering.found, gathering.found_name, tuple(dict.fromkeys(said)))


@dataclass(frozen=True)
class AppLink:
    """A page and its parameters; `address` is the app's own of that page, where the link has one."""

    page: str
    parameters: dict[str, str]
    address: str | None = None


def app_link(text: str) -> AppLink:
    """What a link asks for: a whole one, as the app shares it, or its end, as in explore?at=13.8."""
    parts = urlsplit(text.strip())
    names = [page.name for page in PAGES]
    last = parts.path.rsplit("/", 1)[-1]
    if last and last not in names:
        raise Problem("The link opens {page}, which is no page; pages are {known}.", page=last, known=Several(names))
    address = f"{parts.scheme}://{parts.netloc}{parts.path}" if parts.scheme in ("http", "https") else None
    return AppLink(last or "home", dict(parse_qsl(parts.query, keep_blank_values=True)), address)


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
