"""Every page under axe-core, in both themes: nothing serious or critical, in the page or inside a canvas component.

What is looked at follows the declarations: a page, a section or a lesson's picture that is added is looked at, too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from attnviz.ui.building import building_choices
from attnviz.ui.compare import compare_choices
from attnviz.ui.decoding import decoding_choices
from attnviz.ui.explorer import explorer_choices
from attnviz.ui.lessons import all_lessons
from attnviz.ui.masks import mask_choices
from attnviz.ui.pictures import pictures_choices
from attnviz.ui.positions import positions_choices
from attnviz.ui.scaling import scaling_choices
from attnviz.ui.shared import Choice
from attnviz.ui.sharing import sharing_choices
from attnviz.ui.web import navigation
from tests.browser.conftest import ROOT, answered, listening

AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
SEVERE = ("serious", "critical")
#: A page's sections, whose content differs.
SECTIONS: dict[str, tuple[Choice[str], ...]] = {
    "build": (building_choices.QUESTION,),
    "compare": (compare_choices.SECTION,),
    "decoding": (decoding_choices.VIEW,),
    "masks": (mask_choices.VIEW,),
    "pictures": (pictures_choices.SOURCE, pictures_choices.STACK),
    "positions": (positions_choices.SECTION,),
    "scaling": (scaling_choices.SECTION,),
    "sharing": (sharing_choices.VIEW,),
}
#: What no choice of a section shows: all panels of a head, a step in the middle, a page that is presented.
BESIDES = (
    "explore?" + "&".join(f"{choice.name}=true" for choice in explorer_choices.OPEN.values()),
    "build?b_step=softmax&b_kind=cross&b_mask=causal",
    "lessons?lesson=heads&step=3&l_notes=true",
    "lessons?lesson=row&step=2&present=1",
    "?present=1",
    "heads?present=1",
)
#: What a closed box holds is neither shown nor read out; Streamlit draws it, and axe takes its buttons for nameless.
CLOSED = "[data-testid=stExpanderDetails]"
GROUND = {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 22, 28)"}
#: Answers when the page wears its ground, no script runs, nothing fades, and nothing has changed for half a second.
STILL = """(ground) => new Promise((done, fail) => {
    const app = document.querySelector("[data-testid=stApp]");
    let [changed, began] = [performance.now(), performance.now()];
    const watcher = new MutationObserver(() => { changed = performance.now() });
    watcher.observe(document.body, {subtree: true, childList: true, attributes: true, characterData: true});
    const fading = () => document.getAnimations().some((each) => each.playState === "running" &&
        each.effect.getComputedTiming().endTime !== Infinity);
    const timer = setInterval(() => {
        const now = performance.now();
        if (getComputedStyle(app).backgroundColor !== ground || app.dataset.testScriptState !== "notRunning" ||
            fading()) changed = now;
        if (now - changed < 500 && now - began < 60_000) return;
        clearInterval(timer);
        watcher.disconnect();
        if (now - changed < 500) fail(new Error("the page never stood still")); else done();
    }, 50);
})"""
RUN = """async (box) => (await axe.run({
    include: [document],
    exclude: [...document.querySelectorAll(box)].filter((one) => !one.checkVisibility({visibilityProperty: true})),
}, {resultTypes: ["violations"]})).violations.flatMap(
    ({id, impact, nodes}) => nodes.map((node) => ({
        id, impact, target: node.target.flat().join(" "), html: node.html,
        why: [...node.any, ...node.all, ...node.none].map(({message}) => message).join(" "),
    })))"""


def views() -> Iterator[str]:
    """Links to every page, every section of one, and the first step of the lessons for each kind of picture."""
    for row in navigation.ROWS:
        if row.name == "lessons":
            continue
        name = "" if row.is_home else row.name
        yield name
        for choice in SECTIONS.get(row.name, ()):
            yield from (f"{name}?{choice.name}={id}" for id in choice.ids if id != choice.default)
    kinds = set()
    for lesson in all_lessons.LESSONS.values():
        for number, step in enumerate(lesson.steps, 1):
            if step.picture.kind not in kinds:
                kinds.add(step.picture.kind)
                yield f"lessons?lesson={lesson.id}&step={number}"
    yield from BESIDES


def severe(page):
    """The violations that count, as lines of text."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text("utf-8"))
    found = [each for each in page.evaluate(RUN, CLOSED) if each["impact"] in SEVERE]
    return [f"{each['id']}: {each['target'][-160:]} {each['html'][:200]} {each['why'][:160]}" for each in found]


def darken(page):
    """The same page in dark, as the switch of the presentation makes it: without loading it again."""
    page.evaluate("dispatchEvent(new CustomEvent('attnviz-theme', {detail: 'dark'}))")


@pytest.mark.parametrize("view", list(views()))
def test_nothing_serious_is_left_in_either_theme(server_url, new_page, view):
    page = new_page(width=1280, height=720)
    page.goto(f"{server_url}/{view}")
    page.locator("h1, h2, h3").first.wait_for(state="attached", timeout=60_000)
    listening(page)
    answered(page)
    page.evaluate(STILL, GROUND["light"])
    assert severe(page) == [], "light"
    darken(page)
    page.evaluate(STILL, GROUND["dark"])
    assert severe(page) == [], "dark"


def test_every_page_is_looked_at():
    seen = {view.split("?")[0] for view in views()}
    assert seen >= {"" if row.is_home else row.name for row in navigation.ROWS}


def test_axe_is_the_version_that_is_pinned_and_finds_what_is_wrong(new_page):
    pinned = json.loads(Path(ROOT / "package.json").read_text("utf-8"))["devDependencies"]["axe-core"]
    assert json.loads((AXE.parent / "package.json").read_text("utf-8"))["version"] == pinned
    page = new_page()
    page.set_content("<html lang=en><title>x</title><main><h1>x</h1><button></button></main></html>")
    assert [line.split(":")[0] for line in severe(page)] == ["button-name"]
