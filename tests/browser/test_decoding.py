"""The page about decoding in a browser: the film plays, pauses, steps back; the link and the bytes follow."""

import pytest

from tests.browser.conftest import answered, until

LINK = "/decoding?d_model=core&d_prompt=hello+cache&d_steps=6"


def opened(page, server_url, more=""):
    page.goto(server_url + LINK + more)
    page.locator(".sp-canvas").wait_for(timeout=200_000)
    until(lambda: step(page) == (5 if "d_at" not in more else int(more[-1])), 200)
    answered(page)


def step(page):
    held = page.locator(".av-root[data-step]").first
    return int(held.get_attribute("data-step")) if held.count() else -1


def test_the_film_plays_pauses_and_steps_back_without_asking_the_server(new_page, server_url):
    page = new_page(stranger=True)  # in a context with a clock of its own
    page.clock.install()
    opened(page, server_url)
    page.get_by_role("button", name="First step").click()
    until(lambda: step(page) == 0)
    answered(page)
    assert "prefill" in page.locator(".sp-said").inner_text()
    sent = []
    page.on("websocket", lambda _socket: sent.append("socket"))
    page.get_by_role("button", name="Play", exact=True).click()
    until(lambda: step(page) == 2, 30)
    page.get_by_role("button", name="Pause").click()
    stood = step(page)
    page.clock.run_for(5_000)
    assert step(page) == stood
    page.get_by_role("button", name="Step back").click()
    until(lambda: step(page) == stood - 1)
    assert f"Step {stood} of 6" in page.locator(".sp-said").inner_text()
    page.wait_for_url(f"**d_at={stood - 1}*", timeout=60_000)
    assert not sent


@pytest.mark.every_commit
def test_keys_and_tokens_choose_a_step_and_rows_are_read_out(page, server_url):
    opened(page, server_url, "&d_at=3")
    page.get_by_role("button", name="Next step").focus()
    page.keyboard.press("ArrowLeft")
    until(lambda: step(page) == 2)
    page.keyboard.press("End")
    until(lambda: step(page) == 5)
    page.locator(".sp-token").first.click()
    until(lambda: step(page) == 0)
    box = page.locator(".sp-canvas").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 52)
    until(lambda: "of its attention" in page.locator(".sp-readout").inner_text())


def test_the_counters_are_those_of_the_step_on_show(page, server_url):
    opened(page, server_url, "&d_at=4")
    rows = page.locator(".sp-work tr").all_inner_texts()
    assert rows[1].split()[-2:] == ["1", "15"]
    assert "Cache:" in page.locator(".sp-side").inner_text()
    page.get_by_role("button", name="First step").click()
    until(lambda: page.locator(".sp-work tr").nth(1).inner_text().split()[-2:] == ["11", "11"])


def test_caches_grow_in_the_browser_and_the_link_follows_on_release(page, server_url):
    page.goto(server_url + "/decoding?d_view=bytes&d_model=core")
    page.locator(".cg-range").wait_for(timeout=200_000)
    answered(page)
    assert "4 GiB" in page.locator(".cg-group").nth(1).inner_text()
    page.locator(".cg-range").focus()
    page.keyboard.press("Home")
    until(lambda: "0 tokens in the cache" in page.locator(".cg-said").inner_text())
    assert "4 GiB" not in page.locator(".cg-group").nth(1).inner_text()
    page.wait_for_url("**d_grown=0*", timeout=60_000)
    page.get_by_role("button", name="Play").click()
    until(lambda: "8,192 tokens" in page.locator(".cg-said").inner_text(), 30)
    page.wait_for_url(lambda url: "d_grown" not in url, timeout=60_000)
