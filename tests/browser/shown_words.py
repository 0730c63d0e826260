"""All that a page says: to the eye, to a screen reader, and what its canvases draw; less what is code."""

from typing import Any

#: Run before a page's own scripts: keeps what canvases write.
DRAWN = """(() => {
    globalThis.drawnWords = new Set();
    for (const kind of [CanvasRenderingContext2D, OffscreenCanvasRenderingContext2D]) {
        for (const name of ["fillText", "strokeText"]) {
            const draw = kind.prototype[name];
            kind.prototype[name] = function (text, ...rest) {
                globalThis.drawnWords.add(String(text));
                return draw.call(this, text, ...rest);
            };
        }
    }
})()"""

#: Texts, and the attributes that are read out or shown on pointing, of everything that is rendered; into shadow trees.
_SAID = """(quiet) => {
    const said = new Set([document.title, ...globalThis.drawnWords ?? []]);
    const attributes = ["aria-label", "title", "alt", "placeholder", "aria-description", "aria-roledescription",
        "aria-valuetext"];
    const look = (node) => {
        if (node.nodeType === Node.TEXT_NODE) { said.add(node.data); return; }
        if (node.nodeType === Node.ELEMENT_NODE) {
            if (node.matches(quiet) || !node.checkVisibility({visibilityProperty: true})) return;
            for (const name of attributes) if (node.hasAttribute(name)) said.add(node.getAttribute(name));
            if (node.shadowRoot) look(node.shadowRoot);
        }
        node.childNodes.forEach(look);
    };
    look(document.body);
    globalThis.drawnWords?.clear();
    return [...said].map((text) => text.trim()).filter(Boolean);
}"""

#: What is no sentence of anybody's: code, formulas, and signs that a font draws for their name.
QUIET = ", ".join(
    (
        *("script", "style", "noscript", "template", "pre", "code", ".katex"),
        *("[data-testid^=stIcon]", "[data-testid$=Icon]", "[role=img][translate=no]"),
    )
)


def said_on(page: Any) -> set[str]:
    """The texts of the page as it is now; what canvases drew since it was asked last."""
    return set(page.evaluate(_SAID, QUIET))


def unfolded(page: Any) -> None:
    """Open every folded panel, also those inside of others."""
    closed = page.locator("[data-testid=stExpander] details:not([open]) > summary:visible")
    for _ in range(60):
        if not closed.count():
            return
        panel = closed.first.element_handle()
        panel.click()
        page.wait_for_function("(one) => !one.isConnected || one.parentElement.open", arg=panel)
    raise AssertionError("a panel does not open")
