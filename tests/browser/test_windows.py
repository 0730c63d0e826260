"""The pages that tests are given: one context for all alike, and nothing of one visitor is there for the next."""

from typing import Any

from tests.browser.conftest import windows

KEEP = """() => {
    localStorage.setItem("kept", "by the first");
    document.cookie = "kept=first";
    return new Promise((done) => { indexedDB.open("kept").onsuccess = () => done(true); });
}"""
FOUND = """async () => [
    localStorage.length, document.cookie.includes("kept"), (await indexedDB.databases()).length,
]"""


def test_nothing_that_a_visitors_browser_keeps_is_there_for_the_next(server_url: str, browser: Any) -> None:
    somewhere = f"{server_url}/_stcore/health"
    with windows(browser) as make:
        first = make()
        first.goto(somewhere)
        assert first.evaluate(KEEP)
        assert first.evaluate(FOUND) == [1, True, 1]
        context = first.context
    with windows(browser) as make:
        second = make(width=390, height=844, dark=True)
        second.goto(somewhere)
        assert second.context == context
        assert second.evaluate(FOUND) == [0, False, 0]
        assert second.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
        assert second.evaluate("[innerWidth, innerHeight]") == [390, 844]
        assert make(stranger=True).context != context
        assert make(locale="en-GB").context != context
    assert first.is_closed()
    assert second.is_closed()


def test_who_wants_the_same_shares_a_context_and_gets_it(browser: Any) -> None:
    phone = {"locale": "zh-CN", "has_touch": True, "is_mobile": True, "reduced_motion": "reduce"}
    with windows(browser) as make:
        page = make(width=390, height=844, dark=True, **phone)
        page.set_content("<meta name=viewport content='width=device-width'>")
        asked = (
            "[innerWidth, navigator.language, navigator.maxTouchPoints > 0, matchMedia('(pointer: coarse)').matches]"
        )
        assert page.evaluate(asked) == [390, "zh-CN", True, True]
        for medium in ("prefers-reduced-motion: reduce", "prefers-color-scheme: dark"):
            assert page.evaluate(f"matchMedia('({medium})').matches"), medium
        assert make(**phone).context == page.context
        assert make(**phone | {"locale": "en-GB"}).context != page.context
        assert make(offline=True).context != make(offline=True).context
