"""A Plotly chart as SVG. Only plotly.js can draw it, so this needs Chromium or a related browser on the machine."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from urllib.parse import unquote

from attnviz.base.message import Problem
from attnviz.figures.export import PLOTLY_JS
from attnviz.figures.picture import CHART

#: what browsers are called, the first found is taken; ATTNVIZ_CHROMIUM names another
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge", "microsoft-edge")
PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "C:/Program Files/Google/Chrome/Application/chrome.exe",
    "C:/Program Files (x86)/Microsoft/Edge/Application/msedge.exe",
)
SECONDS = 120

_PAGE = """<!doctype html><meta charset="utf-8"><pre id="out"></pre><script src="{plotly}"></script><script>
const figure = {figure}, {{ width, height }} = figure.layout;
Plotly.toImage(figure, {{ format: "svg", width, height }}).then(
  (drawn) => {{ document.getElementById("out").textContent = drawn; }},
  (problem) => {{ document.getElementById("out").textContent = "failed: " + problem; }});
</script>"""


def completed(svg: str, chart: str) -> str:
    """The SVG with the chart in its place, as the app's page puts it there."""
    browser = found()
    if browser is None:
        raise Problem(
            "This figure is a Plotly chart, which only a browser draws as SVG or PNG, and no Chromium was found: "
            "install one, name it in ATTNVIZ_CHROMIUM, or save the figure as HTML or CSV."
        )
    with tempfile.TemporaryDirectory(prefix="attnviz-chart-") as folder:
        page = Path(folder, "chart.html")
        inert = json.dumps(json.loads(chart), ensure_ascii=True).replace("<", "\\u003c")
        page.write_text(_PAGE.format(plotly=PLOTLY_JS.as_uri(), figure=inert), "utf-8")
        drawn = _drawn(browser, page, Path(folder, "profile"))
    return svg.replace(CHART, unquote(drawn.partition(",")[2]))


def found() -> str | None:
    """The browser to draw with."""
    named = os.environ.get("ATTNVIZ_CHROMIUM")
    if named:
        return shutil.which(named)
    on_the_path = (shutil.which(name) for name in NAMES)
    return next((path for path in (*on_the_path, *(p for p in PLACES if Path(p).exists())) if path), None)


def _drawn(browser: str, page: Path, profile: Path) -> str:
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
        why = re.search(r'<pre id="out">(failed[^<]*)</pre>', done.stdout)
        said = why[1] if why else (done.stderr.strip().splitlines() or ["no answer"])[-1][:200]
        raise Problem("{browser} could not draw this chart: {why}", browser=browser, why=said)
    return match[1]
