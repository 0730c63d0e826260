"""Charts that come at once are drawn in turn; one that has stood is drawn again at once, and not without end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.browser.conftest import answered

Open = Callable[..., Any]
STILL = 45  #: frames one after the other in which nothing is drawn
#: Counts the changes within charts, and the frames since the last one.
WATCH_CHARTS = """(() => {
    globalThis.still = 0;
    new MutationObserver((changes) => {
        if (changes.some(({target}) => target.closest?.("[data-testid=stPlotlyChart]"))) globalThis.still = 0;
    }).observe(document, {childList: true, subtree: true});
    const frame = () => { globalThis.still += 1; requestAnimationFrame(frame); };
    requestAnimationFrame(frame);
})()"""
AS_WIDE = """() => [...document.querySelectorAll("[data-testid=stPlotlyChart]")].every((chart) => {
    const drawn = chart.querySelector(".main-svg")?.getBoundingClientRect().width;
    return drawn && Math.abs(drawn - chart.getBoundingClientRect().width) < 2;
})"""

ALL_DRAWN = """() => {
    const [charts, drawn] = ["[data-testid=stPlotlyChart]", ".js-plotly-plot"].map((s) => document.querySelectorAll(s));
    return charts.length > 0 && charts.length === drawn.length && [...drawn].every((each) => each._fullLayout?._size);
}"""


def test_charts_come_to_rest_after_the_window_has_changed_its_size(server_url: str, new_page: Open) -> None:
    page = new_page(width=1440, height=900)
    page.add_init_script(WATCH_CHARTS)
    page.goto(f"{server_url}/compare")
    page.get_by_test_id("stPlotlyChart").locator(".main-svg").first.wait_for(timeout=90_000)
    answered(page)
    page.wait_for_function(f"still > {STILL}", timeout=60_000)
    for width in (900, 1300, 1000, 1200, 800):
        page.set_viewport_size({"width": width, "height": 900})
    page.wait_for_function(AS_WIDE, timeout=60_000)
    page.wait_for_function(f"still > {STILL}", timeout=60_000)


def test_only_the_first_drawing_of_a_chart_waits_for_its_turn(server_url: str, new_page: Open) -> None:
    page = new_page()
    page.goto(f"{server_url}/glossary")
    answered(page)
    waited = page.evaluate("""async () => {
        const [one, other] = [document.createElement("div"), document.createElement("div")];
        document.body.append(one, other);
        const waits = [one, other, one].map((place) => globalThis.attnvizChartsTurn(place));
        const before = waits.map((wait) => wait instanceof Promise);
        await Promise.all(waits);
        const after = [one, other, null].map((place) => globalThis.attnvizChartsTurn(place) instanceof Promise);
        return {before, after};
    }""")
    assert waited["before"][:2] == [True, True], "both have nothing to show yet"
    assert waited["after"] == [False, False, False], "both have stood; and a chart that is gone has no turn"


#: How far labels of axes reach beyond the margins that their chart was sent with, where that had it drawn again.
GROWN = """() => [...document.querySelectorAll(".js-plotly-plot")].flatMap((chart) => {
    const sent = chart.layout.margin;
    return Object.entries(chart._fullLayout._pushmargin).flatMap(([what, sides]) => Object.entries(sides)
        .filter(([side, {val}]) => what.endsWith(".automargin") && ("lb".includes(side) ? val < 0.01 : val > 0.99))
        .map(([side, {size}]) => [chart.closest("[class*=st-key-]").className, side, size - (sent[side] ?? 0)])
        .filter(([, , more]) => more > 1));
})"""


@pytest.mark.parametrize(
    "view",
    ["positions", "positions?p_section=scores", "compare", "decoding", "decoding?d_view=policies", "masks", "scaling"],
)
def test_labels_have_room_from_the_beginning_so_that_no_chart_is_drawn_twice(
    server_url: str, new_page: Open, view: str
) -> None:
    page = new_page(width=1440, height=900)
    page.goto(f"{server_url}/{view}")
    page.locator(".js-plotly-plot .main-svg").first.wait_for(timeout=90_000)
    answered(page)
    page.wait_for_function(ALL_DRAWN, timeout=60_000)
    assert page.evaluate(GROWN) == []
