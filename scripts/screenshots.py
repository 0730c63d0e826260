"""Take the README's pictures: `python -m scripts.screenshots [NAME.png …]` (needs requirements-dev.txt and Chromium).

Starts the app on a port of its own, opens each page as a visitor would and writes docs/images/: all pictures, or those
that are named.
"""

import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from tests.browser.conftest import CHROMIUM, QUIET, ROOT, Server, answered

IMAGES = ROOT / "docs" / "images"

#: file -> (where, dark?, width, height, a text that is there once the page has drawn)
SHOTS = {
    "start.png": ("/", False, 1440, 900, "gives 75%"),
    "explore.png": ("/explore?c=&at=13.8", False, 1440, 1000, "gives 75%"),
    "explore-dark.png": ("/explore?open_what_if=true&mask=none", True, 1440, 1750, "After:"),
    "scaling.png": ("/scaling", False, 1440, 1000, None),
    "sharing.png": ("/sharing", False, 1440, 1000, None),
    "build.png": ("/build", False, 1440, 1000, None),
    "masks.png": ("/masks", True, 1440, 1000, None),
    "pictures.png": (
        "/pictures?pic_model=digit-reader&pic_digits=374&pic_layer=1&pic_head=3&pic_view=1eNqrVipQsoo2jK0FAA2gAtA",
        False, 1440, 900, "From “seven”",
    ),
    "decoding.png": ("/decoding", False, 1440, 1000, "alone is processed"),
    "positions.png": ("/positions?p_section=circle", False, 1440, 1000, None),
    "compare.png": ("/compare", False, 1440, 1000, None),
    "lessons.png": ("/lessons?lesson=scaling&step=2", False, 1440, 1000, None),
    "phone.png": ("/", True, 390, 844, "gives 75%"),
}  # fmt: skip


def main(*names: str) -> None:
    """Take every screenshot, or those of these names."""
    unknown = set(names) - set(SHOTS)
    if unknown:
        raise SystemExit(f"no such picture: {', '.join(sorted(unknown))}; there are {', '.join(SHOTS)}")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        server = Server(ROOT / "app.py", Path(folder) / "log.txt")
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        try:
            for name in names or SHOTS:
                take(browser, server.url, name, *SHOTS[name])
        finally:
            browser.close()
            server.stop()


def take(browser: Any, root: str, name: str, where: str, dark: bool, width: int, height: int, text: str | None) -> None:
    """Take one screenshot once the page has finished running."""
    context = browser.new_context(
        bypass_csp=True, viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light"
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
    print(f"{name}: {(IMAGES / name).stat().st_size // 1024} KB")


if __name__ == "__main__":
    main(*sys.argv[1:])
