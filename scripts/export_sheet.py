"""Every export of every page on one sheet, to be looked at: `python -m scripts.export_sheet [FOLDER [VIEW]]`.

Needs Chromium. Starts the app on a port of its own, opens each view as a visitor would, saves what each export menu
offers as SVG, and writes sheet.html and sheet.png into the folder. Fails where a picture holds Markdown, an address of
this machine or a formula's source, or is larger than it may be.
"""

from __future__ import annotations

import html
import os
import re
import shutil
import socket
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import sync_playwright

from attnviz.pages.build import choices
from attnviz.pages.compare import choices as compare_choices
from attnviz.pages.decoding import choices as decoding_choices
from attnviz.pages.lessons import choices as lesson_choices
from attnviz.pages.masks import choices as mask_choices
from attnviz.pages.positions import choices as positions_choices
from attnviz.pages.scaling import choices as scaling_choices
from attnviz.pages.sharing import choices as sharing_choices
from scripts.screenshots import FLAGS, ROOT, wait_for

LARGEST = 200  # KB of a picture of at most thirty tokens
#: what no sentence in a picture may hold: Markdown, LaTeX, an address that opens nothing elsewhere
WRONG = re.compile(r"\*\*|\$\\|\\frac|\\sqrt|localhost|127\.0\.0\.1|&amp;#\d+;")

#: exports that every view of a page has: saved once
ON_EVERY_VIEW = ("head-out", "lines-out", "mosaic", "b_edited", "m-grid-save", "m-before-save", "m-after-save")

#: page -> the choice that turns its views over
TURNING = {
    "scaling": scaling_choices.SECTION,
    "positions": positions_choices.SECTION,
    "build": choices.QUESTION,
    "masks": mask_choices.VIEW,
    "decoding": decoding_choices.VIEW,
    "sharing": sharing_choices.VIEW,
    "compare": compare_choices.SECTION,
}
STEPS = ("embed", "project", "split", "scores", "softmax", "sum", "merge", "output")
VIEWS = (
    "",
    "explore?c=&at=13.8",
    "explore?open_place=true",
    "explore?open_stages=true",
    "explore?open_what_if=true&mask=none",
    "explore?open_next=true",
    "explore?open_average=true&combine=rollout",
    "explore?open_beside=true",
    *(f"build?b_step={step}" for step in STEPS),
    "heads",
    "pictures",
    *(f"lessons?lesson={lesson}" for lesson in lesson_choices.IDS),
    *(f"{page}?{choice.name}={each}" for page, choice in TURNING.items() for each in choice.ids),
)


@dataclass
class Saved:
    """One picture, where it came from, and what is wrong with it."""

    view: str
    file: Path
    wrong: list[str]


def main(folder: Path, only: str = "") -> int:
    """Save the pictures of all views, or of those that `only` names, and the sheet; how many are wrong or missing."""
    failed: list[str] = []
    folder.mkdir(parents=True, exist_ok=True)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
    server = subprocess.Popen(command, cwd=ROOT, env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)})
    try:
        wait_for(f"http://127.0.0.1:{port}/_stcore/health")
        with sync_playwright() as playwright:
            chromium = shutil.which("chromium") or os.environ["ATTNVIZ_CHROMIUM"]
            browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
            root, seen = f"http://127.0.0.1:{port}/", set[str | None]()
            saved = []
            for view in [each for each in VIEWS if only in each]:
                try:
                    saved += exports(browser, root, view, folder, seen)
                except PlaywrightError as problem:
                    failed.append(f"{view}: {str(problem).splitlines()[0]}")
            sheet(browser, saved, folder)
            browser.close()
    finally:
        server.terminate()
        server.wait()
    for one in saved:
        print(f"{one.file.stat().st_size // 1024:5d} KB  {one.file.name}  {'; '.join(one.wrong)}")
    print(*failed, sep="\n")
    return sum(bool(one.wrong) for one in saved) + len(failed)


def exports(browser: Any, root: str, view: str, folder: Path, seen: set[str | None]) -> list[Saved]:
    """What the export menus of one view save as SVG."""
    context = browser.new_context(
        bypass_csp=True, accept_downloads=True, viewport={"width": 1440, "height": 1100}, color_scheme="light"
    )
    page = context.new_page()
    page.goto(root + view)
    settled(page)
    if view.startswith("sharing"):  # the explorer's panels are views of their own
        for title in ("Head by head",):
            for closed in page.locator("details:not([open]) > summary", has_text=title).all():
                closed.click()
                settled(page)
    menus = page.locator("[class*='st-key-'][class*='-export'] button")
    found = []
    for number in range(menus.count()):
        menu = menus.nth(number)
        if not menu.is_visible():
            continue
        name = menu.evaluate("(node) => node.closest('[class*=-export]').className")
        page_name = next((f"{view.split('?')[0]} {one}" for one in ON_EVERY_VIEW if one in name), None)
        if page_name in seen:
            continue
        seen |= {page_name} - {None}
        file = saved_from(page, menu, folder, re.sub(r"\W+", "-", view) or "start")
        found.append(Saved(view, file, faults(file)))
        settled(page)
    context.close()
    print(f"{view or 'start'}: {len(found)}", flush=True)
    return found


def saved_from(page: Any, menu: Any, folder: Path, prefix: str) -> Path:
    """Open one export menu, save its SVG, and close it again."""
    menu.evaluate("(node) => node.scrollIntoView({ block: 'center' })")
    menu.click()
    button = page.locator("button[data-kind=svg]")
    button.wait_for(timeout=60_000)
    with page.expect_download(timeout=60_000) as download:
        button.click()
    file = folder / f"{prefix}--{download.value.suggested_filename}"
    download.value.save_as(file)
    page.keyboard.press("Escape")
    button.wait_for(state="detached", timeout=20_000)
    return file


def settled(page: Any) -> None:
    """Wait until the page has drawn and no script runs."""
    page.wait_for_timeout(700)
    page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for(timeout=120_000)
    page.wait_for_timeout(700)


def faults(file: Path) -> list[str]:
    """What is wrong with a picture, in words."""
    text = file.read_text(encoding="utf-8")
    said = " ".join(re.findall(r">([^<]+)</(?:text|tspan)>", text))
    found = [f"holds {match}" for match in sorted(set(WRONG.findall(said)))]
    size = len(text) // 1024
    return found + ([f"{size} KB is more than {LARGEST}"] if size > LARGEST else [])


def sheet(browser: Any, saved: list[Saved], folder: Path) -> None:
    """All pictures with their names on one page, and a picture of that page."""
    names = [html.escape(one.file.name) for one in saved]
    boxes = "".join(f'<figure><img src="{name}"><figcaption>{name}</figcaption></figure>' for name in names)
    style = (
        "body{background:#777;font:13px sans-serif;margin:8px;display:flex;flex-wrap:wrap;gap:10px}"
        "figure{margin:0;width:580px;align-self:flex-start;background:#999}img{width:100%;display:block}figcaption{padding:3px}"
    )
    (folder / "sheet.html").write_text(f"<style>{style}</style>{boxes}", encoding="utf-8")
    page = browser.new_page(viewport={"width": 2400, "height": 1200})
    page.goto((folder / "sheet.html").as_uri())
    page.wait_for_timeout(1000)
    page.screenshot(path=folder / "sheet.png", full_page=True)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else "/tmp/attnviz-exports"), *sys.argv[2:3]))
