"""What axe-core finds serious or critical on a page, or inside a canvas component, in both themes."""

from typing import Any

from tests.browser.conftest import ROOT
from tests.browser.every_view import GROUND, STILL

AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
SEVERE = ("serious", "critical")
#: What a closed box holds is neither shown nor read out; Streamlit draws it, and axe takes its buttons for nameless.
CLOSED = "[data-testid=stExpanderDetails]"
#: What axe draws on a canvas of its own, to know icons from words, is no word of the page (shown_words.py).
RUN = """async (box) => {
    const drawn = globalThis.drawnWords;
    globalThis.drawnWords = new Set();
    const {violations} = await axe.run({
        include: [document],
        exclude: [...document.querySelectorAll(box)].filter((one) => !one.checkVisibility({visibilityProperty: true})),
    }, {resultTypes: ["violations"]});
    globalThis.drawnWords = drawn;
    return violations.flatMap(({id, impact, nodes}) => nodes.map((node) => ({
        id, impact, target: node.target.flat().join(" "), html: node.html,
        why: [...node.any, ...node.all, ...node.none].map(({message}) => message).join(" "),
    })));
}"""


def severe(page: Any) -> list[str]:
    """The violations that count, as lines of text."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text("utf-8"))
    found = [each for each in page.evaluate(RUN, CLOSED) if each["impact"] in SEVERE]
    return [f"{each['id']}: {each['target'][-160:]} {each['html'][:200]} {each['why'][:160]}" for each in found]


def severe_in_both_themes(page: Any) -> list[str]:
    """The same of a light page, light and dark; it is light again afterwards."""
    lines = [f"light: {line}" for line in severe(page)]
    wear(page, "dark")
    lines += [f"dark: {line}" for line in severe(page)]
    wear(page, "light")
    return lines


def wear(page: Any, theme: str) -> None:
    """Another theme without loading the page again, as the system asks for it."""
    page.emulate_media(color_scheme=theme)
    page.evaluate(STILL, GROUND[theme])
