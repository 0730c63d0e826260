"""What `av.show` puts into a notebook that was run and saved as a page: live and still, with the network cut."""

import re

import pytest
from nbconvert import HTMLExporter
from playwright.sync_api import expect

from scripts import notebooks
from tests.browser.canvas_places import inside_tile

pytestmark = pytest.mark.xdist_group("notebook")

SOURCE = """# %% [markdown]
# # A head

# %%
import attnviz as av
from tests.models.tiny import llama, tokens

trace = av.capture(llama(), input_ids=tokens(1))
av.show(trace, ["The", "cat", "<b>", "sat", "on", "the", "mat"], layer=1, head=4)
"""


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """The page that `jupyter nbconvert` makes of the notebook after it ran in a kernel."""
    folder = tmp_path_factory.mktemp("notebook")
    source = folder / "head.py"
    source.write_text(SOURCE, "utf-8")
    page = folder / "head.html"
    page.write_text(HTMLExporter().from_notebook_node(notebooks.run(source))[0], "utf-8")
    return page


def test_the_head_moves_without_a_kernel_or_a_network_and_cannot_read_the_notebook(browser, saved):
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.context.set_offline(True)
    faults = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(saved.as_uri(), wait_until="domcontentloaded")
    frame, inside = page.locator("iframe"), page.frame_locator("iframe")
    expect(inside.locator(".av-title").first).to_have_text("Layer 1, head 4")
    size = frame.bounding_box()
    assert size["width"] > 700, "the cell's"
    assert abs(size["height"] - 640) <= 2, "its own"
    stage = inside.get_by_test_id("overview")
    expect(stage).to_have_attribute("data-tiles", re.compile(r"\["))
    stage.click(position=inside_tile(stage, 2))  # of layer 0, head 2
    expect(inside.locator(".av-title").first).to_have_text("Layer 0, head 2")
    with pytest.raises(Exception, match=r"Blocked a frame|cross-origin|SecurityError"):
        page.frames[1].evaluate("parent.document.body.textContent")
    page.context.close()
    # the notebook's own fonts and scripts are elsewhere; what ours do may not fail
    assert not [fault for fault in faults if not re.search("MathJax|require|mermaid", fault)], faults
