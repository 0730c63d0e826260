"""Links to every page and to each of its sections, by declaration: what is added to the app is walked, too."""

from collections.abc import Iterator
from typing import Any

from attnviz.app.links.choices import Choice
from attnviz.pages.build import choices
from attnviz.pages.compare import choices as compare_choices
from attnviz.pages.decoding import choices as decoding_choices
from attnviz.pages.explore import choices as explorer_choices
from attnviz.pages.lessons.panels import all_lessons
from attnviz.pages.masks import choices as mask_choices
from attnviz.pages.pictures import choices as pictures_choices
from attnviz.pages.positions import choices as positions_choices
from attnviz.pages.scaling import choices as scaling_choices
from attnviz.pages.sharing import choices as sharing_choices
from attnviz.serve import page_table
from tests.browser.conftest import answered, listening

#: A page's sections, whose content differs.
SECTIONS: dict[str, tuple[Choice[str], ...]] = {
    "build": (choices.QUESTION,),
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


def views() -> Iterator[str]:
    """Links to every page, every section of one, and the first step of the lessons for each kind of picture."""
    for row in page_table.PAGES:
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


def page_of(view: str) -> str:
    """The name of the page that a link opens; the start page has none."""
    return view.split("?")[0]


def opened(page: Any, server_url: str, view: str, **more: str) -> None:
    """Open a view with further parameters, and wait until nothing moves."""
    added = "&".join(f"{name}={value}" for name, value in more.items())
    page.goto(f"{server_url}/{view}" + (("&" if "?" in view else "?") + added if added else ""))
    page.locator("h1, h2, h3").first.wait_for(state="attached", timeout=60_000)
    listening(page)
    answered(page)
    page.evaluate(STILL, GROUND["light"])
