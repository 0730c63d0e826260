"""When a page can be read, and when its first picture stands: with an empty cache, and turned to by the menu.

python -m benchmarks.first_picture                     every page, three times
python -m benchmarks.first_picture --pages build heads --times 2

Turned to by the menu is what most visitors meet: the browser has read Streamlit's scripts and is connected. The page
before is one of words alone, so that Plotly's script, where a page needs it, is read in that time as well.
"""

import argparse
import os
import tempfile
from pathlib import Path
from typing import Any

from attnviz.app.page_entry import Page
from attnviz.serve import page_table
from benchmarks.first_paint import one_paint, turned_to
from benchmarks.measuring import machine
from benchmarks.serving import chromium, served
from benchmarks.tables import median, ms, table

PARTS = {"words": "heading", "picture": "first picture", "all": "all of it", "turned": "turned to by the menu"}


def seen(browser: Any, url: str, page: Page) -> dict[str, float]:
    """What one page takes, once."""
    if page.is_home:
        return one_paint(browser, url)
    taken = one_paint(browser, f"{url}/{page.name}")
    turned = turned_to(browser, url, page.name)
    return taken if turned is None else taken | {"turned": turned}


def bare(browser: Any, times: int) -> dict[str, str]:
    """The row of a Streamlit script of one heading, on a server of its own: below that no page can come."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "bare.py")
        script.write_text('import streamlit as st\nst.title("Attention")\n')
        with served(script) as server:
            return row("a heading alone, without this app", [one_paint(browser, server.url) for _ in range(times + 1)])


def row(name: str, seen: list[dict[str, float]]) -> dict[str, str]:
    """The medians of what was seen each time but the first; a page without a picture has none."""
    _, *counted = seen
    said = {"page": name}
    for part, heading in PARTS.items():
        said[heading] = ms(median(each[part] for each in counted)) if all(part in each for each in counted) else ""
    return said | {"load": f"{os.getloadavg()[0]:.1f}"}


def main() -> None:
    names = [page.name for page in page_table.PAGES]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--times", type=int, default=3, help="how often each page is opened")
    parser.add_argument("--pages", nargs="+", default=names, help="names in addresses")
    asked = parser.parse_args()
    print(machine(), flush=True)
    with served() as server, chromium() as browser:
        rows = [bare(browser, asked.times)]
        for page in (page for page in page_table.PAGES if page.name in asked.pages):
            rows.append(row(page.name, [seen(browser, server.url, page) for _ in range(asked.times + 1)]))
            print("\t".join(rows[-1].values()), flush=True)
    print("\n" + table(rows))


if __name__ == "__main__":
    main()
