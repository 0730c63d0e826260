"""What axe-core finds serious or critical on a page, or inside a canvas component."""

from typing import Any

from tests.browser.conftest import ROOT

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


def of_code(found: dict[str, str]) -> bool:
    """Streamlit's own: a program that is wider than its place is scrolled there, and no key reaches it."""
    return found["id"] == "scrollable-region-focusable" and found["html"].startswith("<pre")


def severe(page: Any) -> list[str]:
    """The violations that count, as lines of text."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text("utf-8"))
    found = [each for each in page.evaluate(RUN, CLOSED) if each["impact"] in SEVERE and not of_code(each)]
    return [f"{each['id']}: {each['target'][-160:]} {each['html'][:200]} {each['why'][:160]}" for each in found]
