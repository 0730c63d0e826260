"""Take the README's picture of a notebook: `python -m scripts.notebook_picture` (needs requirements-dev.txt, Chromium).

Runs the cells below in a kernel, saves the notebook as `jupyter nbconvert` does, and opens that page with the network
cut: what is seen is what whoever is sent the notebook sees.
"""

import tempfile
from pathlib import Path

from nbconvert import HTMLExporter
from playwright.sync_api import sync_playwright

from scripts import notebooks
from scripts.screenshots import IMAGES
from tests.browser.conftest import CHROMIUM, QUIET

NAME = "notebook.png"
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


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "attention.py"
        source.write_text(CELLS, "utf-8")
        page, _ = HTMLExporter().from_notebook_node(notebooks.run(source))
        saved = source.with_suffix(".html")
        saved.write_text(page, "utf-8")
        take(saved)
    print(f"{NAME}: {(IMAGES / NAME).stat().st_size // 1024} KB")


def take(saved: Path) -> None:
    """The page from its first cell to the end of its picture."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        context = browser.new_context(viewport={"width": 1180, "height": 960}, offline=True)
        opened = context.new_page()
        opened.goto(saved.as_uri(), wait_until="domcontentloaded")
        inside = opened.frame_locator("iframe")
        inside.locator(".av-title").first.wait_for(timeout=30_000)
        opened.wait_for_timeout(1_000)
        opened.screenshot(path=IMAGES / NAME)
        browser.close()


if __name__ == "__main__":
    main()
