"""What is wrong with where things stand on a page: wider than the window, cut off, or one over the other.

Buttons of a choice are whole, round and framed also where their row wraps; an export ends its line or begins one.
"""

from typing import Any

from tests.browser.conftest import widest

_FAULTS = """(quiet) => {
    const shown = [], cut = [], out = [], formulas = [];
    const rects = (text) => {
        const range = document.createRange();
        range.selectNodeContents(text);
        return [...range.getClientRects()].filter(({width, height}) => width > 1 && height > 1);
    };
    const up = (node) => node.parentElement ?? node.getRootNode().host ?? null;
    const clip = (node, {left, right}) => {
        for (let box = node; box; box = up(box)) {
            const {overflowX, position} = getComputedStyle(box);
            if (overflowX === "auto" || overflowX === "scroll" || box.dataset?.testid === "stMain") return null;
            if (overflowX === "visible") continue;
            const place = box.getBoundingClientRect();
            if (left < place.left - 2 || right > place.right + 2) return box;
        }
        return null;
    };
    const scrolled = (node) => {
        for (let box = up(node); box && box.dataset?.testid !== "stMain"; box = up(box))
            if (["auto", "scroll"].includes(getComputedStyle(box).overflowX)) return true;
        return false;
    };
    const whole = (node) => {
        const {left, right, width} = node.getBoundingClientRect();
        if (node.matches(".katex-display") && node.scrollWidth > node.clientWidth + 1)
            formulas.push(node.innerText.replace(/\\s+/g, "").slice(0, 80));
        const beyond = width && (left < -1 || right > innerWidth + 1);
        if (beyond && node.matches(".js-plotly-plot, canvas") && !scrolled(node))
            out.push(`${node.className || node.tagName} ends at ${Math.round(right)}`);
    };
    const look = (node) => {
        if (node.nodeType === Node.TEXT_NODE) {
            if (!node.data.trim()) return;
            const box = node.parentElement ?? node.getRootNode().host;
            const found = rects(node).filter(({left, right}) => right > 0 && left < innerWidth + 400);
            if (!found.length) return;
            if (found.some((rect) => clip(box, rect))) cut.push(node.data.trim().slice(0, 80));
            else for (const rect of found) shown.push({rect, text: node.data.trim().slice(0, 60), box});
            return;
        }
        if (node.nodeType === Node.ELEMENT_NODE) {
            if (node.matches(quiet) || !node.checkVisibility({visibilityProperty: true, opacityProperty: true})) return;
            whole(node);
            if (node.shadowRoot) look(node.shadowRoot);
        }
        node.childNodes.forEach(look);
    };
    look(document.querySelector("[data-testid=stMain]"));
    for (const text of document.querySelectorAll(".js-plotly-plot svg.main-svg text:not(.nums, .name)")) {
        const [place, chart] = [text, text.closest("svg.main-svg")].map((each) => each.getBoundingClientRect());
        if (!place.width || !text.textContent.trim()) continue;
        const beyond = [chart.left - place.left, chart.top - place.top, place.right - chart.right,
            place.bottom - chart.bottom];
        if (Math.max(...beyond) > 3) cut.push(text.textContent.trim().slice(0, 80));
    }
    shown.sort((a, b) => a.rect.top - b.rect.top);
    const over = new Set();
    shown.forEach((one, at) => {
        for (const other of shown.slice(at + 1)) {
            const tall = Math.min(one.rect.height, other.rect.height);
            if (other.rect.top > one.rect.bottom - 0.35 * tall) {
                if (other.rect.top > one.rect.bottom) break;
                continue;
            }
            const wide = Math.min(one.rect.right, other.rect.right) - Math.max(one.rect.left, other.rect.left);
            if (wide > 3 && one.box !== other.box) over.add(`${one.text} | ${other.text}`);
        }
    });
    const buttons = [...document.querySelectorAll("[data-testid=stMain] [data-testid=stButtonGroup] button")]
        .filter((button) => button.checkVisibility({visibilityProperty: true}));
    const wrong = (holds) => buttons.filter(holds).map((button) => button.innerText);
    const edge = (one) => one.closest("[data-testid=stColumn], body").getBoundingClientRect().right + 1;
    const clear = (colour) => colour.endsWith(", 0)");
    const apart = [];
    for (const line of document.querySelectorAll('.stHorizontalBlock[class*="-under"]')) {
        const whole = line.getBoundingClientRect();
        const exports = [...line.querySelectorAll("[data-testid=stPopover]")].map((one) => one.getBoundingClientRect())
            .filter(({width}) => width);
        if (!exports.length) continue;
        const ends = Math.abs(exports.at(-1).right - whole.right) < 2;
        if (!ends && Math.abs(exports[0].left - whole.left) >= 2) apart.push(line.className.slice(-60));
        exports.slice(1).forEach(({left, top}, at) => {
            const gap = left - exports[at].right;
            if (top === exports[at].top && !(gap > 0 && gap < 40)) apart.push(`${gap} between two exports`);
        });
    }
    const lines = (kind, found) => [...new Set(found)].map((text) => `${kind}: ${text}`);
    return [...lines("out", out), ...lines("formula", formulas), ...lines("cut", cut), ...lines("over", over),
        ...lines("cut button", wrong((one) => one.scrollWidth > one.clientWidth + 1)),
        ...lines("button out of its column", wrong((one) => one.getBoundingClientRect().right > edge(one))),
        ...lines("square button", wrong((one) => parseFloat(getComputedStyle(one).borderTopRightRadius) < 4)),
        ...lines("bare button", wrong((one) => clear(getComputedStyle(one).borderLeftColor) ||
            clear(getComputedStyle(one).borderRightColor))),
        ...lines("export apart", apart)];
}"""
#: What lies over others on purpose, is read out alone, or scrolls inside itself.
_QUIET = ".av-sr, script, style, .katex, [data-testid=stDataFrame], [class*=st-key-presenter], pre, .sr-only, "
_QUIET += ".st-key-l-below, "
#: Slanted words of an axis: their boxes lie over each other, they do not.
_QUIET += "text[transform*='rotate(']:not([transform*='rotate(0'])"


def layout_faults(page: Any) -> list[str]:
    """A line for each fault of the page at its present size."""
    found: list[str] = page.evaluate(_FAULTS, _QUIET)
    wide, there = widest(page), page.viewport_size["width"]
    return ([f"wide: {wide} of {there}"] if wide > there else []) + found
