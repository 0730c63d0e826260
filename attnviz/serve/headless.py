"""A page's figures as files, without a server: its own script runs as Streamlit's testing runs it.

Only plotly.js can draw a Plotly chart, so as SVG or PNG that needs Chromium or a related browser on the machine.
"""

import base64
import json
import logging
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import streamlit as st
from streamlit.testing.v1 import AppTest

from attnviz.app.exports import GATHERING, ExportOffer, FigureCollector, LiveFile, to_csv
from attnviz.app.links import link_state
from attnviz.app.links.choices import follow_move
from attnviz.app.page_entry import page_file
from attnviz.app.text import strip_markdown
from attnviz.app.workarounds.streamlit_adapter import SESSION, WARNS_OF_NO_BROWSER
from attnviz.base.message import MessageList, Problem
from attnviz.base.rasterised import render_png
from attnviz.base.words import translate_message, use_language
from attnviz.figures.export import PLOTLY_JS, prepare_figure
from attnviz.live.chart_frame import CHART, ChartFrame
from attnviz.live.scene_figure import FileOptions, FrameOptions, SceneFigure, film_bytes
from attnviz.serve.page_table import MAIN, NAMES

LONGEST = 3600.0  # seconds that a page may take: a model may have to be prepared first
ALL_HEADS = "-all-live"  #: how the name of a live file of every head ends


@dataclass(frozen=True)
class AppLink:
    """A page and its parameters; `address` is the app's own of that page, where the link has one."""

    page: str
    parameters: dict[str, str]
    address: str | None = None


def app_link(text: str) -> AppLink:
    """Parse a link: a whole one, as the app shares it, or its end, as in explore?at=13.8."""
    parts = urlsplit(text.strip())
    page = parts.path.rsplit("/", 1)[-1] or "home"
    if page not in NAMES:
        raise Problem(
            "The link opens {page}, which is not a page; the pages are {known}.", page=page, known=MessageList(NAMES)
        )
    there, parameters = follow_move(page, dict(parse_qsl(parts.query, keep_blank_values=True)))
    path = parts.path if there == page else parts.path.removesuffix(page) + there
    address = f"{parts.scheme}://{parts.netloc}{path}" if parts.scheme in ("http", "https") else None
    return AppLink(there, parameters, address)


def run_page(link: AppLink, figure_name: str | None = None) -> FigureCollector:
    """Run the page of `link` and collect its offers; `figure_name` is the figure to prepare, None prepares none.

    "" is the figure that the page is about: its first, but for an overview.
    """
    logging.getLogger(WARNS_OF_NO_BROWSER).setLevel(logging.ERROR)
    collector = FigureCollector(figure_name)
    app = AppTest.from_file(MAIN, default_timeout=LONGEST)
    app.session_state[GATHERING] = collector
    if link.page != "home":
        app.switch_page(os.path.relpath(page_file(link.page), MAIN.parent))
    if link.address:
        app.context["url"] = link.address
    for name, value in link.parameters.items():
        app.query_params[name] = value
    app.run()
    if app.exception:
        raise Problem("The page failed: {why}", why=app.exception[0].value)
    collector.warnings = [strip_markdown(element.value) for element in (*app.error, *app.warning)]
    session = app.session_state[SESSION]
    noted = [session.get(name, {}) for name in (link_state.REFUSED, link_state.INSTEAD)]
    collector.refused = [translate_message(message) for messages in noted for message in messages.values()]
    return collector


@dataclass(frozen=True)
class FileRequest(FrameOptions):
    """Options of any file that a command writes."""

    scale: float = 2.0  #: pixels of a PNG for each of the picture's own
    all_heads: bool = False  #: in a live file


def figure_file(figure: ExportOffer, kind: str, request: FileRequest) -> bytes:
    """The figure as "svg", "png", "gif", "webp", "html" or "csv". A Problem where the figure has no such format."""
    with use_language(figure.language):  # the page's, which ended with its run
        return _write_figure(figure, kind, request)


def _write_figure(figure: ExportOffer, kind: str, request: FileRequest) -> bytes:
    if kind == "csv":
        if figure.table is None:
            raise Problem("This figure has no table of numbers: it can be had as SVG and PNG.")
        return to_csv(figure.table).encode()
    if kind in ("gif", "webp"):
        if not isinstance(figure.fig, SceneFigure):
            raise Problem("This picture does not move: it can be had as SVG and PNG.")
        return film_bytes(figure.fig, kind, request)  # what is said of it holds for one moment: only what is asked for
    options = figure.file_options(request)
    if kind == "html":
        return _select_live_file(figure.live_files(options), request.all_heads).page().encode()
    svg = _svg(figure.fig, options)
    return render_png(svg, request.scale) if kind == "png" else svg.encode()


def _svg(fig: Any, options: FileOptions) -> str:
    """The figure as the menu saves it: a picture by its own JavaScript, a chart by a browser."""
    chart = None if isinstance(fig, SceneFigure) else prepare_figure(fig, options.background, options.bar)
    around = fig if chart is None else SceneFigure((ChartFrame(chart.layout.width, chart.layout.height),))
    svg: str = around.to_svg(
        background=options.background,
        title=options.title,
        caption=options.caption,
        credit=options.credit or "",
        colorbar=options.bar,
    )
    return svg if chart is None else insert_chart(svg, chart.to_json(remove_uids=False))


def _select_live_file(files: Sequence[LiveFile], all_heads: bool) -> LiveFile:
    fitting = [file for file in files if not all_heads or file.suffix == ALL_HEADS]
    if not fitting and all_heads:
        raise Problem("This figure has no live file of all heads: one of all heads is offered by Explore's head.")
    if not fitting:
        raise Problem("This figure has no live file: it can be had as SVG, PNG and, where it has numbers, CSV.")
    return fitting[0]


#: what browsers are called, the first found is taken; ATTNVIZ_CHROMIUM names another
BROWSERS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "msedge",
    "microsoft-edge",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "C:/Program Files/Google/Chrome/Application/chrome.exe",
    "C:/Program Files (x86)/Microsoft/Edge/Application/msedge.exe",
)
SECONDS = 120

#: the font of the app's pages, by which Plotly measures labels there
_FONT = next((Path(st.__file__).parent / "static/static/media").glob("SourceSansVF-Upright*.woff2"), None)
_PAGE = """<!doctype html><meta charset="utf-8"><style>{font}</style><pre id="out"></pre>
<script src="{plotly}"></script><script>
const figure = {figure}, {{ width, height }} = figure.layout;
document.fonts.load("14px 'Source Sans'").then(() => Plotly.toImage(figure, {{ format: "svg", width, height }})).then(
  (drawn) => {{ document.getElementById("out").textContent = drawn; }},
  (problem) => {{ document.getElementById("out").textContent = "failed: " + problem; }});
</script>"""


def _page_font_style() -> str:
    """The style that loads the pages' font; nothing where Streamlit keeps it elsewhere."""
    if _FONT is None:
        return ""
    data = base64.b64encode(_FONT.read_bytes()).decode()
    return f"@font-face{{font-family:'Source Sans';font-weight:200 900;src:url(data:font/woff2;base64,{data})}}"


def insert_chart(svg: str, chart: str) -> str:
    """The SVG with the Plotly chart in its place, as the app's page puts it there."""
    named = os.environ.get("ATTNVIZ_CHROMIUM")
    browser = next(filter(None, map(shutil.which, [named] if named else BROWSERS)), None)
    if browser is None:
        raise Problem(
            "This figure is a Plotly chart, which only a browser draws as SVG or PNG, and no Chromium was found: "
            "install one, name it in ATTNVIZ_CHROMIUM, or save the figure as HTML or CSV."
        )
    with tempfile.TemporaryDirectory(prefix="attnviz-chart-") as folder:
        page = Path(folder, "chart.html")
        inert = json.dumps(json.loads(chart), ensure_ascii=True).replace("<", "\\u003c")
        page.write_text(_PAGE.format(plotly=PLOTLY_JS.as_uri(), figure=inert, font=_page_font_style()), "utf-8")
        data_url = _render_chart(browser, page, Path(folder, "profile"))
    return svg.replace(CHART, unquote(data_url.partition(",")[2]))


def _render_chart(browser: str, page: Path, profile: Path) -> str:
    """The chart as plotly.js hands it over: an address that holds the SVG."""
    as_root = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    options = ["--headless", "--disable-gpu", "--no-first-run", "--disable-background-networking", *as_root]
    command = [browser, *options, f"--user-data-dir={profile}", "--virtual-time-budget=20000", "--dump-dom"]
    try:
        done = subprocess.run(
            [*command, page.as_uri()],
            capture_output=True,
            encoding="utf-8",  # whatever this machine's locale says
            errors="replace",
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise Problem("{browser} took more than {n} seconds to draw this chart.", browser=browser, n=SECONDS) from None
    match = re.search(r'<pre id="out">(data:image/svg\+xml[^<]*)</pre>', done.stdout)
    if match is None:
        failure = re.search(r'<pre id="out">(failed[^<]*)</pre>', done.stdout)
        why = failure[1] if failure else (done.stderr.strip().splitlines() or ["no answer"])[-1][:200]
        raise Problem("{browser} could not draw this chart: {why}", browser=browser, why=why)
    return match[1]
