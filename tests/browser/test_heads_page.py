"""The page about heads in a real Chromium: a point clicked, a link opened again, a picture saved, a head explored."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit
from xml.etree import ElementTree

import pytest

from tests.browser.conftest import answered, opens
from tests.browser.every_view import GROUND, STILL
from tests.browser.layout_faults import layout_faults
from tests.browser.saving import saved

Open = Callable[..., Any]
PLOT = ".st-key-hd_map .js-plotly-plot"
#: where on the screen a head's square is
PLACE = """(plot, [layer, head]) => {
    const { xaxis, yaxis } = plot._fullLayout, box = plot.getBoundingClientRect();
    return [box.x + xaxis._offset + xaxis.l2p(layer), box.y + yaxis._offset + yaxis.l2p(head)];
}"""


open_heads = opens("heads", f"{PLOT} .main-svg", ".st-key-hd_explore button")


@pytest.mark.every_commit
def test_a_clicked_head_is_shown_kept_in_the_link_and_found_again(open_heads: Open, server_url: str) -> None:
    page = open_heads("?hd_model=minilm-l6&hd_text=books&hd_by=previous_token")
    x, y = page.locator(PLOT).evaluate(PLACE, [2, 7])
    page.mouse.click(x, y)
    page.wait_for_url(re.compile(r"hd_at=2\.7"))
    page.get_by_text("layer 2, head 7", exact=False).first.wait_for()
    page.get_by_role("button", name="Open layer 2, head 7").wait_for()
    answered(page)
    again = open_heads("?" + urlsplit(page.url).query)
    again.get_by_role("button", name="Open layer 2, head 7").wait_for()
    sentence = again.locator("blockquote").inner_text()
    again.get_by_role("button", name="Open layer 2, head 7").click()
    again.wait_for_url(re.compile(r"/explore\?"))
    link = parse_qs(urlsplit(again.url).query)
    assert link["at"] == ["2.7"]
    assert link["model"] == ["minilm-l6"]
    assert link["text"][0].split() == sentence.split()


def test_the_map_is_saved_as_a_picture_and_as_numbers(open_heads: Open, tmp_path: Path) -> None:
    page = open_heads("?hd_model=minilm-l6&hd_text=books")
    page.locator(".st-key-hd_map-export button").first.click()
    for name, suffix in (("SVG", ".svg"), ("PNG 2x", ".png"), ("CSV, the numbers", ".csv")):
        download = saved(page, page.get_by_role("button", name=name))
        file = tmp_path / f"saved{suffix}"
        download.save_as(file)
        assert download.suggested_filename.endswith(suffix)
        assert file.stat().st_size > 1000
    ElementTree.parse(tmp_path / "saved.svg")
    rows = (tmp_path / "saved.csv").read_text("utf-8").strip().splitlines()
    assert len(rows) == 1 + 72
    assert (tmp_path / "saved.png").read_bytes()[:4] == b"\x89PNG"


def test_two_models_beside_each_other_stay_on_the_screen(open_heads: Open) -> None:
    page = open_heads("?hd_other=minilm-l6", dark=True)
    for width, height in ((1280, 720), (390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        page.evaluate(STILL, GROUND["dark"])
        assert layout_faults(page) == []
