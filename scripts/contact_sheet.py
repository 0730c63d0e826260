"""Photograph every page: `python -m scripts.contact_sheet OUT` (needs requirements-dev.txt and Chromium).

For each page and screen size, in light and dark, it takes what a visitor sees first and, with `--whole`, the page from
top to bottom with its panels open; `--language zh-CN` asks for them as a Chinese browser does. `OUT` then holds the
single pictures, one sheet for each screen size and theme, and `sheet.png`: all of them, a row for each page.
"""

from __future__ import annotations

import argparse
import math
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw
from playwright.sync_api import Error, sync_playwright

from scripts.screenshots import FLAGS, ROOT, wait_for

SIZES = {"projector": (1280, 720), "laptop": (1440, 900), "wide": (1920, 1080), "phone": (390, 844)}
TALLEST = 9000  # pixels of a whole page that are photographed
SETTLED = "[data-testid=stApp][data-test-script-state=notRunning]"


def main() -> None:
    """Take the pictures that the command line asks for and lay them out."""
    options = _options()
    options.out.mkdir(parents=True, exist_ok=True)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    server = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT)
    try:
        wait_for(f"http://127.0.0.1:{port}/_stcore/health")
        with sync_playwright() as playwright:
            chromium = os.environ.get("ATTNVIZ_CHROMIUM") or shutil.which("chromium")
            browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
            ways = [(size, theme) for size in options.sizes for theme in options.themes]
            taken = [_sheet(browser, f"http://127.0.0.1:{port}", options, *way) for way in ways]
            browser.close()
        if not options.whole:
            _lay_all_out(ways, taken, options.pages, options.out / "sheet.png")
    finally:
        server.terminate()
        server.wait()


def _options() -> argparse.Namespace:
    everywhere = sorted(file.stem for file in (ROOT / "pages").glob("*.py"))
    parser = argparse.ArgumentParser(description="Photograph every page.")
    parser.add_argument("out", type=Path)
    parser.add_argument(
        "--pages", nargs="*", default=everywhere, help="names of pages, or addresses such as build?b_step=2"
    )
    parser.add_argument("--sizes", nargs="*", default=list(SIZES), choices=list(SIZES))
    parser.add_argument("--themes", nargs="*", default=["light", "dark"], choices=["light", "dark"])
    parser.add_argument("--language", default="en-GB", help="of the browser, such as zh-CN")
    parser.add_argument("--whole", action="store_true", help="from top to bottom, with panels open")
    return parser.parse_args()


def _sheet(browser: Any, root: str, options: argparse.Namespace, size: str, theme: str) -> list[tuple[str, Path]]:
    """Photograph the pages at one size and theme, lay the pictures side by side, and return them by page."""
    width, height = SIZES[size]
    shots = []
    for where in options.pages:
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme=theme,
            bypass_csp=True,
            has_touch=size == "phone",
            locale=options.language,
        )
        page = context.new_page()
        file = options.out / f"{size}-{theme}-{_file_name(where)}.png"
        try:
            page.goto(f"{root}/{'' if where == 'home' else where}")
            _settle(page)
            if options.whole:
                _unfold(page, width)
            page.screenshot(path=file)
            shots.append((where, file))
        except Error as error:
            print(f"{where} at {size}, {theme}: {error.message.splitlines()[0]}")
        context.close()
    _lay_out(shots, options.out / f"sheet-{size}-{theme}{'-whole' if options.whole else ''}.png")
    return shots


def _file_name(where: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in where)[:80]


def _settle(page: Any) -> None:
    """Wait until the script has ended and nothing is a placeholder any more.

    Twice, because a fragment may start when a canvas has told its width.
    """
    page.locator("[data-testid=stMain] h1").first.wait_for(timeout=60_000)
    for _ in range(2):
        page.wait_for_timeout(1000)
        page.locator(SETTLED).wait_for(timeout=90_000)
        page.wait_for_function("!document.querySelector('[data-testid=stSkeleton]')", timeout=60_000)


def _unfold(page: Any, width: int) -> None:
    """Open every closed panel, then make the window as tall as the page."""
    for _ in range(40):
        closed = page.locator("[data-testid=stExpander] details:not([open]) > summary")
        if closed.count() == 0:
            break
        closed.first.click()
        page.wait_for_timeout(150)
    _settle(page)
    tall = page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight")
    page.set_viewport_size({"width": width, "height": min(TALLEST, max(400, int(tall) + 20))})
    _settle(page)


def _lay_out(shots: list[tuple[str, Path]], file: Path, column_width: int = 640) -> None:
    """Put pictures in rows with their names over them, each `column_width` wide or less."""
    if not shots:
        return
    pictures = []
    for name, path in shots:
        picture = Image.open(path).convert("RGB")
        ratio = min(1, column_width / picture.width)
        pictures.append((name, picture.resize((int(picture.width * ratio), int(picture.height * ratio)))))
    columns = min(3 if pictures[0][1].width > 400 else 6, len(pictures))
    rows = math.ceil(len(pictures) / columns)
    cell = (max(picture.width for _, picture in pictures) + 12, max(picture.height for _, picture in pictures) + 26)
    sheet = Image.new("RGB", (cell[0] * columns, cell[1] * rows), "#808080")
    draw = ImageDraw.Draw(sheet)
    for place, (name, picture) in enumerate(pictures):
        left, top = cell[0] * (place % columns) + 6, cell[1] * (place // columns) + 20
        draw.text((left, top - 15), name, fill="white")
        sheet.paste(picture, (left, top))
    sheet.save(file)
    print(file)


def _lay_all_out(
    ways: list[tuple[str, str]], taken: list[list[tuple[str, Path]]], pages: list[str], file: Path, height: int = 200
) -> None:
    """One sheet of everything: pages down, sizes and themes across, each picture `height` high."""
    widths = [round(SIZES[size][0] * height / SIZES[size][1]) for size, _theme in ways]
    sheet = Image.new("RGB", (sum(widths) + 8 * (len(ways) + 1), (height + 22) * len(pages) + 24), "#808080")
    draw = ImageDraw.Draw(sheet)
    left = 8
    for (size, theme), wide, shots in zip(ways, widths, taken, strict=True):
        draw.text((left, 6), f"{size} {theme}", fill="white")
        for where, path in shots:
            top = 24 + (height + 22) * pages.index(where)
            draw.text((left, top), where, fill="white")
            sheet.paste(Image.open(path).convert("RGB").resize((wide, height)), (left, top + 14))
        left += wide + 8
    sheet.save(file)
    print(file)


if __name__ == "__main__":
    main()
