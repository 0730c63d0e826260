"""What opens a page, under a hand: Compare’s race, heads that share, a cache’s bricks, the Glossary’s wall."""

import json
import re

from playwright.sync_api import expect

from attnviz.canvas.signal_race import MOST
from attnviz.pages.compare.maths.layer_costs import race_steps
from attnviz.pages.positions.maths import turning_words
from tests.browser.conftest import answered, still, until

#: What sliders say, one after the other, and when: whoever asks from outside may come too late for a film.
HEARD = """(() => {
    [globalThis.heard, globalThis.heardAt] = [[], []];
    const set = Element.prototype.setAttribute;
    Element.prototype.setAttribute = function (name, text) {
        if (name === "aria-valuetext") heardAt.push(performance.now()), heard.push(text);
        return set.call(this, name, text);
    };
})()"""


def race_of(page):
    return json.loads(page.locator(".av-root[data-race]").get_attribute("data-race"))


def counted(page, distance, kernel, dilated=False):
    """Whether the sentence under the race says how many steps Python counts."""
    steps = race_steps(distance, kernel, dilated)
    said = page.locator(".sr-said").text_content()
    return f"takes {steps['recurrence']} step" in said and f"recurrence, {steps['convolution']} in" in said


def test_a_race_plays_on_arrival_and_its_distance_is_dragged_on_the_picture(new_page, server_url):
    page = new_page(width=1280, height=720)
    page.add_init_script(HEARD)
    page.goto(f"{server_url}/compare")
    page.locator(".av-root[data-race]").wait_for(state="attached")
    until(lambda: race_of(page)["at"] == 400)
    steps = re.findall(r"step (\d+) of 20", " ".join(page.evaluate("heard")))
    assert any(0 < int(step) < 20 for step in steps), "it was on its way"
    still(page)
    assert counted(page, 20, 3)
    goal, stage = page.locator(".sr-goal").bounding_box(), page.locator(".sr-canvas").bounding_box()
    pitch = (goal["x"] + 16 - stage["x"] - 172) / 20
    page.mouse.move(goal["x"] + 16, stage["y"] + 80)
    page.mouse.down()
    page.mouse.move(goal["x"] + 16 - 7 * pitch, stage["y"] + 90, steps=4)
    assert race_of(page)["distance"] == 13
    assert "c_distance" not in page.url, "nothing is sent before the hand lets go"
    page.mouse.up()
    expect(page).to_have_url(re.compile("c_distance=13"))
    assert counted(page, 13, 3)
    page.get_by_role("button", name="Larger kernel").click()
    expect(page).to_have_url(re.compile("c_k=4"))
    assert counted(page, 13, 4)
    page.get_by_role("button", name="dilated").click()
    expect(page).to_have_url(re.compile("c_dilated=true"))
    assert counted(page, 13, 4, True)
    page.locator(".sr-goal").focus()
    page.keyboard.press("End")
    expect(page).to_have_url(re.compile(f"c_distance={MOST}"))
    expect(page.locator(".sr-goal")).to_have_attribute("aria-valuenow", str(MOST))
    answered(page)
    page.emulate_media(reduced_motion="reduce")
    page.reload()
    page.locator(".av-root[data-race]").wait_for(state="attached")
    assert race_of(page)["at"] == 20 * MOST, "who asked for less motion finds it run"


def test_what_is_typed_while_a_picture_plays_on_arrival_stays_and_d_k_is_dragged_on_the_picture(new_page, server_url):
    page = new_page(width=1280, height=720)
    page.goto(f"{server_url}/scaling?s_dk=4096")
    reached = page.locator(".st-key-s_walk .av-root[data-reached]")
    box = page.get_by_role("spinbutton", name="d_k")
    box.fill("16")
    assert int(reached.get_attribute("data-reached")) < 4096, "typed while it plays"
    box.press("Enter")
    expect(reached).to_have_attribute("data-reached", "16")
    expect(page).to_have_url(re.compile("s_dk=16"))
    still(page)  # as long as it would play
    expect(reached).to_have_attribute("data-reached", "16")
    place = page.locator(".sw-canvas").bounding_box()
    page.mouse.move(place["x"] + 0.2 * place["width"], place["y"] + 120)
    page.mouse.down()
    page.mouse.move(place["x"] + 0.9 * place["width"], place["y"] + 120, steps=6)
    expect(reached).to_have_attribute("data-reached", "4096")
    assert "s_dk=16" in page.url, "Python hears of it when the hand lets go"
    page.mouse.up()
    page.wait_for_url("**s_dk=4096*")
    page.get_by_text("At d_k = 4096 the raw row").wait_for()


def test_heads_come_together_on_arrival_and_a_hand_on_the_picture_moves_them_to_one(new_page, server_url):
    page = new_page(width=1280, height=720)
    page.add_init_script(HEARD)
    page.goto(f"{server_url}/sharing")
    reached, canvas = page.locator(".av-root[data-reached]"), page.locator(".sc-canvas")
    expect(reached).to_have_attribute("data-reached", "8")
    still(page)
    kept = [re.search(r"[\d.]+ [KMG]iB", text)[0] for text in page.evaluate("heard")]
    assert kept[:2] == ["1 GiB", "4 GiB"], "it stands at 8 K/V heads, and plays from 32 up to them"
    assert kept[-1] == "1 GiB"
    assert "h_shared" not in page.url, "a film that has played tells nothing"
    box = canvas.bounding_box()
    page.mouse.move(box["x"] + 0.4 * box["width"], box["y"] + 60)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 2, box["y"] + 60, steps=4)
    expect(reached).to_have_attribute("data-reached", "1")
    page.mouse.up()
    expect(page).to_have_url(re.compile("h_shared=1"))
    expect(page.get_by_text("With 1 K/V head, llama-3.1-8b keeps 128 MiB")).to_be_visible()


def test_a_hand_on_a_brick_goes_to_its_step_and_the_head_below_follows(opened):
    page = opened("decoding?d_model=core&d_prompt=hello&d_steps=4", ".cg-bars", reduced_motion="reduce")
    still(page)
    reached = page.locator(".av-root[data-reached]")
    expect(reached).to_have_attribute("data-reached", "3")
    box = page.locator(".cg-bars").bounding_box()
    brick = (box["width"] - 168) / 8
    page.mouse.move(box["x"] + 168 + 7.5 * brick, box["y"] + 60)
    page.mouse.down()
    page.mouse.move(box["x"] + 168 + 5.5 * brick, box["y"] + 60, steps=3)
    expect(reached).to_have_attribute("data-reached", "1")
    page.mouse.up()
    expect(page).to_have_url(re.compile("d_at=1"))
    expect(page.locator(".av-root[data-step]")).to_have_attribute("data-step", "1")
    expect(page.get_by_text("of 6 tokens are computed, once each")).to_be_visible()


def test_a_wall_says_a_word_that_is_pointed_at_and_opens_the_page_that_shows_it(opened):
    page = opened("glossary", ".gw-canvas", width=1280, height=720)
    page.locator("[data-term=softmax]").hover()
    expect(page.locator(".gw-card")).to_be_visible()
    expect(page.locator(".gw-first")).to_contain_text("sum to 1")
    page.keyboard.press("Escape")
    page.mouse.move(5, 5)
    expect(page.locator(".gw-card")).to_be_hidden()
    page.locator("input[type=text]").first.fill("cache")
    expect(page.locator(".gw-said")).to_have_text(re.compile(r"stand first: \d+ of \d+"))
    expect(page.locator("[data-term]").first).to_have_attribute("data-term", "kv_cache")
    page.locator(".gw-ask").click()
    expect(page.locator("[data-term=key]")).to_have_attribute("aria-label", "Picture 5")
    page.locator("[data-term=softmax]").click()  # it is none of those that are asked about
    page.locator("[data-term=query]").click()
    expect(page.locator(".gw-said")).to_have_text("You took “query”. The framed picture shows “key”.")
    expect(page.locator(".gw-name")).to_have_text("key")
    expect(page).to_have_url(re.compile("w_ask=key&w_guess=query"))
    page.reload()
    expect(page.locator(".gw-said")).to_have_text("You took “query”. The framed picture shows “key”.")
    page.locator(".gw-ask").click()
    page.locator("[data-term=saturation]").click()
    expect(page.locator(".gw-said")).to_have_text("Yes, this one shows “saturation”.")
    page.locator(".gw-end").click()
    page.locator("[data-term=gqa]").click()
    expect(page).to_have_url(re.compile("/sharing"))


def test_a_finger_reads_a_word_first_and_opens_its_page_by_a_second_touch(opened):
    page = opened("glossary", ".gw-canvas", width=390, height=844, has_touch=True)
    page.locator("[data-term=score]").tap()
    expect(page.locator(".gw-first")).to_contain_text("dot product")
    assert "/glossary" in page.url
    page.locator("[data-term=score]").tap()
    expect(page).to_have_url(re.compile("/build"))


def test_words_turn_on_arrival_and_one_that_is_dragged_takes_the_weight_with_it(new_page, server_url):
    page = new_page()
    page.add_init_script(HEARD)
    page.goto(f"{server_url}/positions")
    dial = page.locator(".av-root[data-dial]")
    dial.wait_for(state="attached")

    def state():
        return json.loads(dial.get_attribute("data-dial"))

    until(lambda: state()["at"] == 100)
    shares = re.findall(r"(\d+)%", " ".join(page.evaluate("heard")))
    assert any(0 < int(share) < 60 for share in shares), "they were on their way"
    assert "p_" not in page.url, "nobody touched it"
    expect(page.locator(".wd-said")).to_have_text("“it” looks most at “because”, 1 place before it: 77% of its weight.")
    rows, typed = page.locator(".wd-row"), [*range(13)]
    start, end = (rows.nth(word).bounding_box() for word in (1, 7))
    page.mouse.move(start["x"] + 30, start["y"] + start["height"] / 2)
    page.mouse.down()
    page.mouse.move(end["x"] + 30, end["y"] + end["height"] / 2, steps=6)
    moved = [0, 2, 3, 4, 5, 6, 7, 1, *typed[8:]]
    until(lambda: state()["order"] == moved)
    weights = turning_words.read_prepared().weights(moved)[8]
    assert int(weights.argmax()) == 1
    said = f"“it” looks most at “animal”, 1 place before it: {weights[1]:.0%} of its weight."
    expect(page.locator(".wd-said")).to_contain_text(said)
    assert "p_" not in page.url, "Python hears of it when the hand lets go"
    page.mouse.up()
    page.wait_for_url("**p_words=0.2.3.4.5.6.7.1.8.9.10.11.12*")
    assert state()["row"] == 8, "what was dragged was not clicked"
    rows.nth(4).click()
    page.wait_for_url("**p_row=4*")
    page.reload()
    until(lambda: dial.count() and state()["at"] == 100)
    assert (state()["order"], state()["row"]) == (moved, 4)
    page.get_by_role("button", name="As typed").click()
    until(lambda: state()["order"] == typed)
