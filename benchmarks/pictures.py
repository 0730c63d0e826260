"""Bytes and times of the page about pictures in a real browser: python -m benchmarks.pictures

A ViT of the shape of ViT-B (12 layers of 12 heads, 64 numbers a head, 196 patches and a class token) with random
weights looks at a photograph. Bytes are what comes over the web socket; paint is until the second animation frame after
the heads are drawn; a patch's time is what the main thread works for each one that is pointed at. A head is drawn from
its small map at once; its time is until its own numbers are drawn, which are sent when it is chosen.
"""

import tempfile
from pathlib import Path
from typing import Any

import torch
from transformers import ViTConfig, ViTModel

from benchmarks.driving import Tab
from benchmarks.measuring import machine
from benchmarks.serving import chromium, served
from benchmarks.tables import late, median

PATCHES = 14  #: along a side
PICKS = 60
HEADS = ("0.7", "3.2", "6.11", "9.5", "11.1")  #: chosen one after another
SETTLED = 1500  #: ms after which a chosen head has long been drawn


def vit_b(folder: Path) -> None:
    """Write the model; its MLPs are small, because only attention is looked at."""
    torch.manual_seed(0)
    model = ViTModel(ViTConfig(intermediate_size=64), add_pooling_layer=False)
    model.save_pretrained(folder)


def painted(page: Any) -> None:
    page.wait_for_function("performance.getEntriesByName('av-patches', 'mark').length > 0", timeout=120_000)


def opened(tab: Tab, url: str) -> tuple[int, float]:
    """Bytes that one of the heads' pictures takes, and milliseconds from the click to the paint, the model loaded."""
    page = tab.page
    page.goto(url)
    page.get_by_role("button", name="Load it").click(timeout=120_000)
    page.get_by_test_id("picture").wait_for(timeout=300_000)
    painted(page)
    page.wait_for_timeout(1500)
    tab.frames.clear()
    page.evaluate("performance.clearMarks('av-patches'); window.began = performance.now()")
    page.get_by_text("A temple").click()
    painted(page)
    took = page.evaluate("performance.getEntriesByName('av-patches', 'mark')[0].startTime - window.began")
    page.wait_for_timeout(800)
    return sum(map(len, tab.frames)), float(took)


def chosen(tab: Tab) -> tuple[float, float]:
    """Bytes of a head that is chosen, and milliseconds until its numbers are drawn, at the median."""
    page, sizes, times = tab.page, [], []
    for head in HEADS:
        tab.frames.clear()
        tile = page.locator(f".pv-tile[data-head='{head}']")
        tile.scroll_into_view_if_needed()
        page.evaluate("window.began = performance.now()")
        tile.click()
        page.wait_for_timeout(SETTLED)
        times.append(page.evaluate("performance.getEntriesByName('av-patches', 'mark')[0].startTime - window.began"))
        sizes.append(sum(map(len, tab.frames)))
    return median(sizes), median(times)


def pointed(page: Any) -> list[float]:
    """Milliseconds of work on the main thread for each of some patches."""
    picture = page.get_by_test_id("picture")
    picture.scroll_into_view_if_needed()
    box = picture.bounding_box()
    times = []
    for pick in range(PICKS):
        row, column = divmod(pick * 37 % PATCHES**2, PATCHES)
        x, y = box["x"] + (column + 0.5) * box["width"] / PATCHES, box["y"] + (row + 0.5) * box["height"] / PATCHES
        page.mouse.move(x, y)
        page.wait_for_timeout(60)
        times.append(page.evaluate("performance.getEntriesByName('av-patches', 'measure').at(-1)?.duration ?? 0"))
    return times


def main() -> None:
    print(machine(), flush=True)
    with tempfile.TemporaryDirectory() as folder, served() as server, chromium() as browser:
        vit_b(Path(folder))
        tab = Tab(browser)
        size, paint = opened(tab, f"{server.url}/pictures?pic_model=another&pic_hub={folder}&pic_from=photo")
        head_size, head_time = chosen(tab)
        times = pointed(tab.page)
    print(f"another picture, 144 heads: {size / 1024:.0f} KiB, {paint:.0f} ms to the paint, the model's pass included")
    print(f"a head chosen: {head_size / 1024:.0f} KiB, {head_time:.0f} ms until its numbers are drawn, at the median")
    print(f"a patch pointed at: {median(times):.1f} ms at the median, {late(times):.1f} ms at the 95th percentile")


if __name__ == "__main__":
    main()
