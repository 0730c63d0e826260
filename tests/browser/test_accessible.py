"""Every page under axe-core, in both themes: nothing serious or critical, in the page or inside a canvas component.

What is looked at follows the declarations: a page, a section or a lesson's picture that is added is looked at, too.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from attnviz.serve import page_table
from tests.browser.conftest import ROOT
from tests.browser.every_view import GROUND, STILL, opened, page_of, views

AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
SEVERE = ("serious", "critical")
#: What a closed box holds is neither shown nor read out; Streamlit draws it, and axe takes its buttons for nameless.
CLOSED = "[data-testid=stExpanderDetails]"
RUN = """async (box) => (await axe.run({
    include: [document],
    exclude: [...document.querySelectorAll(box)].filter((one) => !one.checkVisibility({visibilityProperty: true})),
}, {resultTypes: ["violations"]})).violations.flatMap(
    ({id, impact, nodes}) => nodes.map((node) => ({
        id, impact, target: node.target.flat().join(" "), html: node.html,
        why: [...node.any, ...node.all, ...node.none].map(({message}) => message).join(" "),
    })))"""


def severe(page):
    """The violations that count, as lines of text."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text("utf-8"))
    found = [each for each in page.evaluate(RUN, CLOSED) if each["impact"] in SEVERE]
    return [f"{each['id']}: {each['target'][-160:]} {each['html'][:200]} {each['why'][:160]}" for each in found]


def darken(page):
    """The same page in dark, as the system asks for it: without loading it again."""
    page.emulate_media(color_scheme="dark")


@pytest.mark.parametrize("view", list(views()))
def test_nothing_serious_is_left_in_either_theme(server_url, new_page, view):
    page = new_page(width=1280, height=720)
    opened(page, server_url, view)
    assert severe(page) == [], "light"
    darken(page)
    page.evaluate(STILL, GROUND["dark"])
    assert severe(page) == [], "dark"


def test_every_page_is_looked_at():
    seen = {page_of(view) for view in views()}
    assert seen >= {"" if row.is_home else row.name for row in page_table.PAGES}


def test_axe_is_the_version_that_is_pinned_and_finds_what_is_wrong(new_page):
    pinned = json.loads(Path(ROOT / "package.json").read_text("utf-8"))["devDependencies"]["axe-core"]
    assert json.loads((AXE.parent / "package.json").read_text("utf-8"))["version"] == pinned
    page = new_page()
    page.set_content("<html lang=en><title>x</title><main><h1>x</h1><button></button></main></html>")
    assert [line.split(":")[0] for line in severe(page)] == ["button-name"]
