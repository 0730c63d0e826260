"""Take the README's pictures: `python -m scripts.screenshots [NAME.png …]` (needs requirements-dev.txt and Chromium).

Starts the app on a port of its own, opens each page as a visitor would and writes docs/images/: all pictures, or those
that are named. The notebook's picture is of a notebook that was run and saved as `jupyter nbconvert` does, with the
network cut: what is seen is what whoever is sent the notebook sees.
"""

import sys
import tempfile
from pathlib import Path
from typing import Any

from nbconvert import HTMLExporter

from benchmarks.harness import chromium, served
from scripts import notebooks
from tests.browser.conftest import ROOT, answered

IMAGES = ROOT / "docs" / "images"

#: file -> (where, dark?, width, height, a text that is there once the page has drawn)
SHOTS = {
    "start.png": ("/", False, 1440, 900, None),
    "explore-dark.png": ("/explore?mask=none&seen=after", True, 1440, 1000, None),
    "scaling.png": ("/scaling", False, 1440, 1000, None),
    "sharing.png": ("/sharing", False, 1440, 1000, None),
    "build.png": ("/build", False, 1440, 1000, None),
    "masks.png": ("/masks", True, 1440, 1000, None),
    "pictures.png": (
        "/pictures?pic_model=digit-reader&pic_digits=374&pic_layer=1&pic_head=3&pic_view=1eNqrVipQsoo2jK0FAA2gAtA",
        False, 1440, 900, "From “seven”",
    ),
    "why.png": ("/why", False, 1440, 1000, "Madrid leads"),
    "born.png": ("/born?born_at=350", False, 1440, 1000, None),
    "fast.png": ("/fast", False, 1440, 1000, None),
    "decoding.png": ("/decoding", False, 1440, 1000, "alone is processed"),
    "positions.png": ("/positions?p_section=circle", False, 1440, 1000, None),
    "lessons.png": ("/lessons?step=5", False, 1440, 1000, None),
}  # fmt: skip
NOTEBOOK = "notebook.png"
CELLS = """# %%
import attnviz as av
from attnviz.models.tokens import encode

loaded = av.load("smollm2-135m")
tokens = encode(loaded, "The animal didn't cross the street because it was too tired.")
trace = av.capture(loaded, **tokens.inputs)
trace

# %%
av.show(trace, tokens.labels, layer=13, head=8, theme="light")
"""


def main(*names: str) -> None:
    """Take every screenshot, or those of these names."""
    with tempfile.TemporaryDirectory() as folder, served() as server, chromium() as browser:
        for name in names or (*SHOTS, NOTEBOOK):
            if name == NOTEBOOK:
                take_notebook(browser, Path(folder) / "attention.py")
            else:
                take(browser, server.url, name, *SHOTS[name])
            print(f"{name}: {(IMAGES / name).stat().st_size // 1024} KB")


def take(browser: Any, root: str, name: str, where: str, dark: bool, width: int, height: int, text: str | None) -> None:
    """Take one screenshot once the page has finished running."""
    context = browser.new_context(
        bypass_csp=True,
        viewport={"width": width, "height": height},
        color_scheme="dark" if dark else "light",
        reduced_motion="reduce",  # films that play on arrival stand at their end
    )
    page = context.new_page()
    page.goto(root + where)
    if text:
        page.get_by_text(text).first.wait_for(timeout=60_000)
    page.wait_for_timeout(1500)
    answered(page)
    page.wait_for_timeout(1500)
    page.screenshot(path=IMAGES / name)
    context.close()


def take_notebook(browser: Any, source: Path) -> None:
    """The saved notebook from its first cell to the end of its picture."""
    source.write_text(CELLS, "utf-8")
    html, _ = HTMLExporter().from_notebook_node(notebooks.run(source))
    saved = source.with_suffix(".html")
    saved.write_text(html, "utf-8")
    context = browser.new_context(viewport={"width": 1180, "height": 960}, offline=True)
    page = context.new_page()
    page.goto(saved.as_uri(), wait_until="domcontentloaded")
    page.frame_locator("iframe").locator(".av-title").first.wait_for(timeout=30_000)
    page.wait_for_timeout(1_000)
    page.screenshot(path=IMAGES / NOTEBOOK)
    context.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
