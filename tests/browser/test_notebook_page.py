"""A notebook that was run and saved as a page, in a real Chromium with the network cut: its picture is still live."""

import re
from pathlib import Path
from typing import Any

import pytest
from nbconvert import HTMLExporter
from playwright.sync_api import expect

from scripts import notebooks
from tests.browser.canvas_places import inside_tile

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("notebook")]

SOURCE = """# %% [markdown]
# # A head

# %%
import attnviz as av
from tests.models.tiny import llama, tokens

trace = av.capture(llama(), input_ids=tokens(1))
av.show(trace, ["The", "cat", "<b>", "sat", "on", "the", "mat"], layer=1, head=4)
"""


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page that `jupyter nbconvert` makes of the notebook after it ran in a kernel."""
    folder = tmp_path_factory.mktemp("notebook")
    source = folder / "head.py"
    source.write_text(SOURCE, "utf-8")
    page, _ = HTMLExporter().from_notebook_node(notebooks.run(source))
    file = folder / "head.html"
    file.write_text(page, "utf-8")
    return file


@pytest.fixture
def page(browser: Any, saved: Path) -> Any:
    context = browser.new_context(viewport={"width": 1280, "height": 900}, offline=True)
    opened = context.new_page()
    opened.goto(saved.as_uri(), wait_until="domcontentloaded")
    yield opened
    context.close()


def test_the_head_moves_without_a_kernel_or_a_network(page: Any) -> None:
    inside = page.frame_locator("iframe")
    expect(inside.locator(".av-title").first).to_have_text("Layer 1, head 4")
    stage = inside.get_by_test_id("overview")
    expect(stage).to_have_attribute("data-tiles", re.compile(r"\["))
    stage.click(position=inside_tile(stage, 2))  # of layer 0, head 2
    expect(inside.locator(".av-title").first).to_have_text("Layer 0, head 2")


def test_the_frame_has_the_cell_s_width_and_its_own_height(page: Any) -> None:
    frame = page.locator("iframe")
    expect(frame).to_be_visible()
    size = frame.bounding_box()
    assert size["width"] > 700
    assert abs(size["height"] - 640) <= 2


def test_what_is_kept_of_it_draws_the_still_picture(browser: Any, saved: Path, tmp_path: Path) -> None:
    light = notebooks.lighten(notebooks.run(saved.with_suffix(".py")))
    file = tmp_path / "light.html"
    file.write_text(HTMLExporter().from_notebook_node(light)[0], "utf-8")
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.goto(file.as_uri(), wait_until="domcontentloaded")
    assert page.locator("iframe").count() == 0
    still = page.locator(".jp-OutputArea svg, .jp-OutputArea img").first
    expect(still).to_be_visible()
    assert still.bounding_box()["width"] > 200
    context.close()
