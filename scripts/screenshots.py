"""Take the README's pictures: `python -m scripts.screenshots [NAME.png …]` (needs requirements-dev.txt and Chromium).

Starts the app on a port of its own, opens each page as a visitor would and writes docs/images/: all pictures, or those
that are named.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]

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
    """Take every screenshot whose page exists, or those of these names."""
    unknown = set(names) - set(SHOTS)
    if unknown:
        raise SystemExit(f"no such picture: {', '.join(sorted(unknown))}; there are {', '.join(SHOTS)}")
    IMAGES.mkdir(parents=True, exist_ok=True)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
    server = subprocess.Popen(command, cwd=ROOT, env=os.environ | {"OMP_NUM_THREADS": "1"})
    try:
        wait_for(f"http://127.0.0.1:{port}/_stcore/health")
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
            for name, shot in SHOTS.items():
                if names and name not in names:
                    continue
                take(browser, f"http://127.0.0.1:{port}", name, *shot)
            browser.close()
    finally:
        server.terminate()
        server.wait()


def chromium() -> str:
    """Where the browser is."""
    return shutil.which("chromium") or os.environ["ATTNVIZ_CHROMIUM"]


def take(browser: Any, root: str, name: str, where: str, dark: bool, width: int, height: int, text: str | None) -> None:
    """Take one screenshot once the page has finished running."""
    page_file = ROOT / "pages" / f"{where.split('?')[0].strip('/') or 'home'}.py"
    if not page_file.exists():
        print(f"{name}: no such page, left out")
        return
    context = browser.new_context(
        bypass_csp=True, viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light"
    )
    page = context.new_page()
    page.goto(root + where)
    if text:
        page.get_by_text(text).first.wait_for(timeout=60_000)
    page.wait_for_timeout(1500)
    page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for(timeout=60_000)
    page.wait_for_timeout(1500)
    page.screenshot(path=IMAGES / name)
    context.close()
    print(f"{name}: {(IMAGES / name).stat().st_size // 1024} KB")


def wait_for(address: str) -> None:
    """Wait until the server answers."""
    for _ in range(300):
        try:
            if urllib.request.urlopen(address, timeout=1).status == 200:
                return
        except OSError:
            time.sleep(0.2)
    raise RuntimeError(f"nothing answers at {address}")


if __name__ == "__main__":
    main(*sys.argv[1:])
