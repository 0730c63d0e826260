"""The page How a head is born in a browser: dragged, played, typed into, silenced by key, saved, linked."""

import re

import torch
from playwright.sync_api import expect

import attnviz as av
from attnviz.pages.born.maths import life
from tests.browser.conftest import answered, at_rest, still, until
from tests.browser.test_heroes import HEARD
from tests.models.tiny import llama, tokens

FILM = ".av-root:has(.bi-curves)"
PIXELS = "(canvas) => [...canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data].join()"
SAID = re.compile(r"Step ([\d,]+):")
STEPS = life.read(life.LIFE).steps.tolist()


def opened(new_page, url: str, link: str = "?born_at=103", **window):
    """The page, once the numbers of all steps are in the browser."""
    page = new_page(**window)
    page.add_init_script(HEARD)
    page.goto(f"{url}/born{link}")
    at_rest(page, FILM)
    until(lambda: page.locator(FILM).get_attribute("data-fetched"))
    return page, page.locator(FILM)


def step(film) -> int:
    return int(film.get_attribute("data-step"))


def test_the_handle_is_dragged_over_the_cliff_and_the_heads_and_the_table_of_one_follow(server_url, new_page):
    page, film = opened(new_page, server_url)
    assert step(film) == 103
    curves, head = film.locator(".bi-curves"), film.locator(".bi-right canvas")
    table = page.locator(".st-key-born-score canvas")  # of the induction head
    expect(page.get_by_text("Does head 1.2 look from “cat” to “saw”, and why?")).to_be_visible()
    before, small, box = head.evaluate(PIXELS), table.evaluate(PIXELS), curves.bounding_box()
    page.mouse.move(box["x"] + 0.4 * box["width"], box["y"] + 60)
    page.mouse.down()
    seen = set()
    for share in range(40, 96, 5):
        page.mouse.move(box["x"] + share / 100 * box["width"], box["y"] + 60)
        page.evaluate("() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
        seen.add(step(film))
    page.mouse.move(box["x"] + box["width"], box["y"] + 60)
    until(lambda: step(film) == STEPS[-1])
    assert len(seen) > 8, "heads are computed on the way, not after it"
    until(lambda: table.evaluate(PIXELS) != small)
    assert "born_at=103" in page.url, "Python hears of it when the hand lets go"
    page.mouse.up()
    page.wait_for_url(re.compile("born_at=1500"))
    until(lambda: head.evaluate(PIXELS) != before)
    expect(page.get_by_text("At step 1,500 it gives “saw” >99%")).to_be_visible()
    expect(film.locator(".bi-said")).to_have_text(re.compile("Step 1,500: 5 of 5 words"))
    expect(film.locator(".bi-chip", has_text="✓")).to_have_count(5)


def test_the_training_plays_on_arrival_slowly_through_the_moment_and_names_it(server_url, new_page):
    page, film = opened(new_page, server_url, "")

    def heard():
        """When it said what, and of which step, from the film's first picture."""
        said = page.evaluate("heard.map((text, n) => [heardAt[n], text])")
        steps = [(at, text, int(found[1].replace(",", ""))) for at, text in said if (found := SAID.match(text))]
        return steps[next((n for n, (_at, _text, step) in enumerate(steps) if step < 100), len(steps)) :]

    until(lambda: any(step == 1500 for _at, _text, step in heard()), 90)
    seen = heard()
    assert all(step >= 312 for _at, text, step in seen if "a head is born" in text), "nothing is named before it comes"
    slow = [at for at, _text, step in seen if 250 <= step <= 450]
    assert slow[-1] - slow[0] > 0.4 * (seen[-1][0] - seen[0][0]), "most of the time passes where the curves move"
    said = re.compile(r"Step 1,500: 5 of 5 .* Step 328, a head is born: 1\.1 gives half")
    expect(film.locator(".bi-said")).to_have_text(said)
    assert "born_" not in page.url, "nobody touched it"
    film.locator("button").first.click()
    until(lambda: 0 < step(film) < 500)
    film.locator("button").first.click()
    page.wait_for_url(re.compile("born_at="))
    stopped = step(film)
    still(page)  # as long as it would play
    assert step(film) == stopped


def test_ones_own_words_a_silenced_head_and_the_link_that_brings_both_back(server_url, new_page):
    page, film = opened(new_page, server_url, "?born_at=1500")
    box = page.get_by_label("Your words, which come twice")
    box.fill("seven blue whales sing below a cold sea")
    box.press("Enter")
    expect(film.locator(".bi-chip")).to_have_count(16)
    expect(film.locator(".bi-said")).to_have_text(re.compile("7 of 7 words"))
    first = film.locator(".bi-tile").first
    first.focus()
    page.keyboard.press("Enter")
    expect(first).to_have_attribute("aria-pressed", "true")
    expect(film.locator(".bi-chip", has_text="✓")).not_to_have_count(7)
    page.keyboard.press("ArrowUp")
    expect(film.locator(".bi-right .av-readout")).to_have_text(re.compile("Head 0.0: “cold” .15. gives “seven” .1."))
    expect(page.get_by_text("With 0.0 silenced")).to_be_visible(timeout=20_000)
    page.wait_for_url(re.compile("born_off=0.0"))
    answered(page)
    _again, other = opened(new_page, page.url.partition("/born")[0], "?" + page.url.partition("?")[2])
    expect(other.locator(".bi-tile").first).to_have_attribute("aria-pressed", "true")
    assert other.locator(".bi-chip b").all_inner_texts() == film.locator(".bi-chip b").all_inner_texts()
    assert step(other) == step(film) == 1500


def test_a_training_of_ones_own_is_opened_and_read_again_while_it_grows(server_url, new_page, tmp_path):
    model, path = llama(), tmp_path / "heads.jsonl"
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    with av.watch(model, tokens()[:1], every=1, path=path):
        page = new_page()
        page.goto(f"{server_url}/born?born_section=watched&born_watch={path}")
        expect(page.get_by_text("At step 0 the loss on the watched sentence")).to_be_visible()
        heads = page.locator(".st-key-born-watched-heads canvas").first
        until(lambda: heads.bounding_box())
        model(input_ids=tokens(), labels=tokens()).loss.backward()
        optimizer.step()
        expect(page.get_by_text("At step 1 the loss on the watched sentence")).to_be_visible()
    page.locator("input[type=file]").set_input_files(path)
    page.get_by_label("or its path on this machine").fill("")
    expect(page.get_by_text("At step 1 the loss on the watched sentence")).to_be_visible()
