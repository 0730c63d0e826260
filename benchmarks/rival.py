"""Make bertviz's pages of the same attention, and open them with limits on time and memory."""

import subprocess
import tarfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import psutil
from playwright.sync_api import TimeoutError as PlaywrightTimeout
from torch import Tensor

from benchmarks.driving import WINDOW_READY, click

View = Literal["model_view", "head_view"]
MOST_SECONDS = 60
MOST_BYTES = 4 * 10**9  # of memory per renderer; one that exceeds it is ended

# The scripts that bertviz's pages load from here: their places there, and the packages that hold them. jquery 2.0.0 was
# never published as one.
FROM = "https://cdnjs.cloudflare.com/ajax/libs/"
SCRIPTS = {
    "require.js/2.3.6/require.min.js": ("requirejs@2.3.6", "package/require.js"),
    "d3/5.7.0/d3.min.js": ("d3@5.7.0", "package/dist/d3.min.js"),
    "jquery/2.0.0/jquery.min.js": ("jquery@2.1.0", "package/dist/jquery.min.js"),
}

# bertviz draws in one task, so a picture that exists at an animation frame is complete; it is painted one frame later.
WATCH = """
window.drawn = null;
const look = () => {
  if (document.querySelector('#vis svg')) requestAnimationFrame(() => { drawn = performance.now(); });
  else requestAnimationFrame(look);
};
requestAnimationFrame(look);
"""

# The time of a real click: bertviz draws in the handler, so the second frame after the event is the one to wait for.
LISTEN = """
window.chosen = [];
for (const kind of ['click', 'dblclick']) addEventListener(kind, (event) => {
  requestAnimationFrame(() => requestAnimationFrame(() => chosen.push([kind, performance.now() - event.timeStamp])));
}, true);
"""
# In model_view a click on a thumbnail enlarges it; in head_view a double click on a colour shows only that head.
TARGETS: dict[View, tuple[str, str]] = {
    "model_view": ("#vis svg > g > rect:last-child", "click"),
    "head_view": ("#vis svg > g:last-child > rect", "dblclick"),
}


@dataclass(frozen=True)
class Shown:
    """The measurements of one of bertviz's pages. None could not be measured, for the reason in `why`."""

    nbytes: int
    painted: float | None = None  #: milliseconds from navigation until painted
    picks: tuple[float, ...] = ()
    why: str = ""


def scripts(folder: Path) -> None:
    """Download the three scripts from their npm packages into `folder`, each to its place."""
    for place, (package, inside) in SCRIPTS.items():
        command = ["npm", "pack", "--silent", package]
        packed = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
        (folder / place).parent.mkdir(parents=True)
        with tarfile.open(folder / packed.stdout.split()[-1]) as archive:
            content = archive.extractfile(inside)
            assert content is not None
            (folder / place).write_bytes(content.read())


def localised(html: str) -> str:
    """The page, changed to load every external script from its own folder; its data, hundreds of megabytes, is left."""
    head, marker, data = html.partition("const params =")
    return head.replace(FROM, "") + marker + data


def write(view: View, attentions: Sequence[Tensor], tokens: list[str], path: Path) -> int:
    """Write bertviz's page to a file; returns its size in bytes."""
    import bertviz

    made = getattr(bertviz, view)(list(attentions), tokens, html_action="return")
    page = f'<!doctype html><meta charset="utf-8"><body>{localised(made.data)}</body>'
    return path.write_bytes(page.encode())


def opened(browser: Any, path: Path, view: View, picks: Sequence[int]) -> Shown:
    """Open one page in a fresh context and click heads in it; ended if it takes too much time or memory."""
    nbytes = path.stat().st_size
    page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
    page.add_init_script(WATCH + LISTEN)
    page.wait_for_timeout(1000 * WINDOW_READY)
    try:
        page.goto(path.as_uri(), wait_until="commit")
        painted = _painted(page)
        return Shown(nbytes, painted, tuple(_chosen(page, *TARGETS[view], index) for index in picks))
    except Exception as problem:  # a page that crashed or never loaded is a result too
        return Shown(nbytes, why=str(problem).splitlines()[0])


def _painted(page: Any) -> float:
    """Milliseconds until the page is painted; a renderer that takes too much until then is ended."""
    end = time.monotonic() + MOST_SECONDS
    while time.monotonic() < end:
        for renderer in renderers():
            if (size := renderer.memory_info().rss) > MOST_BYTES:
                renderer.kill()
                raise MemoryError(f"ended at {size / 1e9:.1f} GB")
        with suppress(PlaywrightTimeout):
            page.wait_for_function("window.drawn", timeout=250)
            return float(page.evaluate("window.drawn"))
    raise TimeoutError(f"not drawn after {MOST_SECONDS} s")


def _chosen(page: Any, selector: str, kind: str, index: int) -> float:
    """Milliseconds from a real click (a double click's second) until the second frame after it."""
    page.evaluate("chosen.length = 0")
    target = page.locator(selector).nth(index)
    target.scroll_into_view_if_needed()
    box = target.bounding_box()
    at = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    click(page, at, times=1 if kind == "click" else 2)
    page.wait_for_function(f"chosen.some((one) => one[0] === '{kind}')")
    return float(page.evaluate(f"chosen.find((one) => one[0] === '{kind}')[1]"))


def renderers() -> Iterator[psutil.Process]:
    """The browser's renderer processes that were started by this process."""
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):  # it has ended meanwhile
            if "--type=renderer" in process.cmdline():
                yield process
