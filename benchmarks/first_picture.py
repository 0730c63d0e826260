"""When a page can be read, and when its first picture stands: with an empty cache, and turned to by the menu.

python -m benchmarks.first_picture                     every page, three times
python -m benchmarks.first_picture --beside ../before  another checkout in turn with this one, page by page
python -m benchmarks.first_picture --pages build heads

Turned to by the menu is what most visitors meet: the browser has read Streamlit's scripts and is connected. The page
before is one of words alone, so that Plotly's script, where a page needs it, is read in that time as well.
"""

import argparse
import os
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from attnviz.app.page_entry import Page
from attnviz.serve import page_table
from benchmarks.driving import chromium
from benchmarks.first_paint import one_paint, turned_to
from benchmarks.measuring import machine
from benchmarks.tables import median, ms, table
from tests.browser.conftest import ROOT, Server

Taken = dict[str, list[dict[str, float]]]
PARTS = {
    "title": "title, sent ahead",
    "words": "heading",
    "picture": "first picture",
    "all": "all of it",
    "turned": "turned to by the menu",
}


def measured(browser: Any, urls: dict[str, str], row: Page, times: int) -> Taken:
    """What one page takes, so many times at each address in turn, after once that does not count."""
    taken: Taken = {side: [] for side in urls}
    for number in range(times + 1):
        for side, url in urls.items():
            seen = one_paint(browser, url if row.is_home else f"{url}/{row.name}")
            if not row.is_home and (turned := turned_to(browser, url, row.name)) is not None:
                seen["turned"] = turned
            taken[side] += [seen] * (number > 0)
    return taken


def bare(browser: Any, folder: Path, times: int) -> list[str]:
    """The row of a Streamlit script of one heading, on a server of its own: below that no page can come."""
    script = folder / "bare.py"
    script.write_text('import streamlit as st\nst.title("Attention")\n')
    server = Server(script, folder / "bare.txt")
    try:
        seen = [one_paint(browser, server.url) for _ in range(times + 1)][1:]
    finally:
        server.stop()
    return ["a heading alone, without this app", *cells(seen), f"{os.getloadavg()[0]:.1f}"]


def cells(seen: list[dict[str, float]]) -> list[str]:
    """The medians of what was seen each time; a page without a picture has none."""
    return [ms(median(each[part] for each in seen)) if all(part in each for each in seen) else "" for part in PARTS]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--times", type=int, default=3, help="how often each page is opened")
    parser.add_argument("--pages", nargs="+", default=[row.name for row in page_table.PAGES], help="names in addresses")
    parser.add_argument("--beside", type=Path, help="another checkout, measured in turn with this one")
    asked = parser.parse_args()
    checkouts = {"before": asked.beside.resolve()} if asked.beside else {}
    checkouts["now" if checkouts else ""] = ROOT
    print(machine(), flush=True)
    servers: dict[str, Server] = {}
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright, chromium(playwright) as browser:
        try:
            for side, checkout in checkouts.items():
                servers[side] = Server(checkout / "app.py", Path(folder) / f"{side}.txt", packages=checkout)
            urls = {side: server.url for side, server in servers.items()}
            rows = [bare(browser, Path(folder), asked.times)]
            for row in (row for row in page_table.PAGES if row.name in asked.pages):
                for side, seen in measured(browser, urls, row, asked.times).items():
                    rows.append([f"{row.name} {side}".strip(), *cells(seen), f"{os.getloadavg()[0]:.1f}"])
                    print("\t".join(rows[-1]), flush=True)
            print("\n" + table(["page", *PARTS.values(), "load"], rows))
        finally:
            for server in servers.values():
                server.stop()


if __name__ == "__main__":
    main()
