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
    """The pages that `jupyter nbconvert` makes of the notebook after it ran in a kernel: as it is, and made light."""
    folder = tmp_path_factory.mktemp("notebook")
    source = folder / "head.py"
    source.write_text(SOURCE, "utf-8")
    ran = notebooks.run(source)
    (folder / "head.html").write_text(HTMLExporter().from_notebook_node(ran)[0], "utf-8")
    (folder / "light.html").write_text(HTMLExporter().from_notebook_node(notebooks.lighten(ran))[0], "utf-8")
    return folder


@pytest.fixture
def offline(browser, saved):
    """`offline("head")`: one of the pages; its own fonts and scripts are elsewhere, what ours do may not fail."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, offline=True)
    faults = []

    def opened(name):
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.goto((saved / f"{name}.html").as_uri(), wait_until="domcontentloaded")
        return page

    yield opened
    context.close()
    assert not [fault for fault in faults if not re.search("MathJax|require|mermaid", fault)], faults


def test_the_head_moves_without_a_kernel_or_a_network_and_cannot_read_the_notebook(offline):
    page = offline("head")
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
