"""The explorer in a real Chromium: a sentence read, heads chosen and laid over each other, links, exports."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

from attnviz.analysis.model_run import Request, stored_run
from attnviz.models.loading import EXAMPLES, load
from tests.browser.canvas_places import mask_door, name_on, numbers, shown, tokens, weights
from tests.browser.conftest import answered, resized, until

HEAD = "attnviz-head-painted"
LONG_TOKEN = 65 * "="
DRAWN = "[data-testid=heatmap]", "[data-testid=overview][data-tiles*='[']", "[data-testid=squares]"
#: Notes each thing on the page that fades while the page's script runs, and how: in steps, or anew in every frame.
FADING = """
window.fading = {};
const look = () => {
  for (const moving of document.getAnimations()) {
    const { target } = moving.effect;
    if (!moving.transitionProperty || !target.closest("[data-testid=stMain]")) continue;
    const easing = [moving.effect.getTiming(), ...moving.effect.getKeyframes()].map((each) => each.easing);
    const key = target.closest("[class*=st-key-]")?.className.match(/st-key-[\\w-]+/)?.[0];
    fading[`${target.localName} ${key} ${moving.transitionProperty}`] = easing.some((name) => name.startsWith("steps"));
  }
  requestAnimationFrame(look);
};
look();
"""
#: Notes the frame in which each picture was seen to be on screen.
FRAMES = """
window.frames_of = [];
const mark = performance.mark.bind(performance);
performance.mark = (name, options) => {
  frames_of.push([name, options?.detail, document.timeline.currentTime]);
  return mark(name, options);
};
"""


def type_sentence(page, text):
    area = page.get_by_label("Sentence", exact=True)
    area.fill(text)
    area.press("Control+Enter")
    until(lambda: set("".join(tokens(page))) - set("⏎⇥␣ ") == set(text) - {" "}, seconds=60)
    answered(page)


def test_a_sentence_is_read_as_one_leaves_it_its_heads_come_in_order_and_controls_stay(opened):
    page = opened("explore", *DRAWN)
    stage, area = page.get_by_test_id("heatmap").first, page.get_by_label("Sentence", exact=True)
    before = weights(page)
    area.click()
    area.press("End")
    page.keyboard.type(" Now")
    asked = page.get_by_text("Ctrl+Enter")
    asked.first.wait_for(state="attached")  # as Streamlit has it in the page once a text has changed
    expect(asked.filter(visible=True)).to_have_count(0)
    assert weights(page).shape == before.shape
    page.get_by_role("heading", level=1).first.click()
    until(lambda: len(weights(page)) == len(before) + 1, seconds=60)
    page.wait_for_url("**text=*Now*")
    answered(page)

    hide = page.get_by_test_id("hide").first
    mine = hide.element_handle()
    old = stage.evaluate("stage => stage.closest('[data-painted]').dataset.painted")
    page.evaluate(FADING)
    page.evaluate(FRAMES)
    type_sentence(page, "Six small birds sing near the old bridge while it rains over the river")
    # what fades anew in every frame takes the processor from the model on a machine that is both server and browser
    fading = page.evaluate("fading")
    assert any("st-key-heads" in name for name in fading), fading
    assert [name for name, in_steps in fading.items() if not in_steps and "button" not in name] == []
    until(lambda: any(name == HEAD and detail != old for name, detail, _ in page.evaluate("frames_of")))
    seen = page.evaluate("frames_of")
    tiles = next(frame for name, _, frame in seen if name == "attnviz-overview-painted")
    head = next(frame for name, detail, frame in seen if name == HEAD and detail != old)
    assert tiles < head, f"all heads are on screen before the large one is drawn: {seen}"
    until(lambda: any("birds" in name for name in hide.locator("option").all_text_contents()))
    assert mine.evaluate("node => node.isConnected"), "what a hand may be holding is not taken from it"
    assert hide.locator("option").count() == len(tokens(page)) + 1

    page.set_viewport_size({"width": 320, "height": 700})
    type_sentence(page, f"Rule {LONG_TOKEN} end")
    assert tokens(page)[1] == LONG_TOKEN
    assert page.evaluate("document.documentElement.scrollWidth") <= 320, "a token that is longer than a line is cut"


def test_back_undoes_only_the_last_change(opened):
    page = opened("explore?open_what_if=true", *DRAWN)
    mask_door(page).get_by_test_id("hide").select_option("1")
    hidden = page.get_by_text("No token may look at: animal (1).").first
    hidden.wait_for()
    page.get_by_role("button", name=re.compile("previous token")).first.click()
    shown(page, "Layer 16, head 0")
    page.wait_for_url("**at=16.0*")
    answered(page)
    page.go_back()
    shown(page, "Layer 13, head 8")
    hidden.wait_for()
    page.go_back()
    hidden.wait_for(state="detached")


def test_the_strip_shows_the_models_own_numbers_and_chooses_layers_and_heads(opened):
    page = opened("explore?open_place=true", "[data-testid=inside]", *DRAWN, width=1280, height=720)
    model = load("smollm2-135m").model
    total = sum(p.numel() for p in model.parameters())
    block = model.model.layers[13]
    inside, flow = page.get_by_test_id("inside"), page.locator(".ms-flow").first
    for part in (block.self_attn, block.mlp):
        count = sum(p.numel() for p in part.parameters())
        expect(inside).to_contain_text(f"{count:,} parameters, {count / total:.2%}")
    for name in ("q_proj", "k_proj"):
        rows, columns = getattr(block.self_attn, name).weight.shape
        expect(inside).to_contain_text(f"{name} {rows:,} × {columns:,}")
    expect(flow).to_contain_text(f"{model.get_input_embeddings().weight.numel():,} parameters")
    expect(page.locator(".ms-block[aria-pressed=true]")).to_have_attribute("data-layer", "13")
    expect(page.locator(".ms-head[aria-pressed=true]")).to_have_attribute("data-head", "8")
    for size in ((1280, 720), (1440, 900)):
        resized(page, *size)
        boxes = [box.bounding_box() for box in flow.locator("> .ms-box").all()]
        assert len(boxes) == 5
        assert {round(box["y"]) for box in boxes} == {round(boxes[0]["y"])}, "from tokens to the next token in one line"
        cut = "(flow) => [...flow.children].filter((b) => b.scrollWidth > b.clientWidth).length"
        assert flow.evaluate(cut) == 0
    page.locator(".ms-block[data-layer='4']").click()
    shown(page, "Layer 4, head 8")
    page.wait_for_url(re.compile(r"at=4\.8"))
    answered(page)
    page.locator(".ms-head[data-head='2']").click()
    shown(page, "Layer 4, head 2")
    page.wait_for_url(re.compile(r"at=4\.2"))
    answered(page)


LAYER, FIRST = 13, 8
#: Of 32 bits a score, where the trace may be of another processor (5e-6 apart at most in this layer), and of 16.
EXACT, COARSE = 1e-5, 2e-3


@pytest.fixture(scope="module")
def stack():
    """What the server shows."""
    return stored_run(Request("smollm2-135m", EXAMPLES[0].text)).stacks[0]


def weights_of(stack, head, **change):
    return stack.layers[LAYER].weights(head, **change)[0, 0].float().numpy()


def laid(page):
    """[head, colour] of the heads in the picture, the one on show first."""
    said = page.get_by_test_id("lines").first.get_attribute("data-heads") or ""
    return [part.split(":") for part in said.split()]


def heads(page):
    return [int(head) for head, _colour in laid(page)]


def drawn(page):
    return [numbers(rows) for rows in page.get_by_test_id("lines").first.evaluate("stage => stage.matrices()")]


def square(page, head):
    door = page.get_by_test_id("squares").first.locator("details")
    if door.get_attribute("open") is None:
        door.locator("summary").click()
    return door.locator(f"[data-head='{head}']")


def test_squares_lay_heads_over_each_other_that_follow_mask_and_scale_and_the_link_keeps_them(opened, stack):
    page = opened("explore", *DRAWN)
    until(lambda: laid(page) == [[str(FIRST), ""]])  # one head alone goes from Q's colour to K's
    for head in (2, 5):
        square(page, head).click()
    until(lambda: heads(page) == [8, 2, 5])
    assert len({colour for _head, colour in laid(page)}) == 3
    for head, found in zip(heads(page), drawn(page), strict=True):
        assert np.abs(found - weights_of(stack, head)).max() < (EXACT if head == FIRST else COARSE)
    legend = page.get_by_test_id("legend").first
    expect(legend).to_contain_text("head 5")
    row = int(weights_of(stack, 5)[8].argmax())
    page.mouse.move(*name_on(page.get_by_test_id("heatmap").first, 8, 13))
    expect(legend).to_contain_text(f"{weights_of(stack, 5)[8, row]:.2f}")
    expect(square(page, FIRST)).to_have_attribute("aria-disabled", "true")
    page.wait_for_url(re.compile("c="))
    answered(page)
    again = opened("explore?" + page.url.split("?")[1], *DRAWN)
    until(lambda: heads(again) == [8, 2, 5])  # the others come after the first picture
    square(again, 2).click()
    until(lambda: heads(again) == [8, 5])
    again.locator(".av-mark[data-mark=none]").first.click()
    until(lambda: np.abs(drawn(again)[0] - weights_of(stack, 8, scale=None)).max() < EXACT)
    assert np.abs(drawn(again)[1] - weights_of(stack, 5)).max() < COARSE, "the change is for one head"
    again.get_by_test_id("where").first.select_option("layer")
    until(lambda: np.abs(drawn(again)[1] - weights_of(stack, 5, scale=None)).max() < 10 * COARSE)
    again.get_by_role("button", name="Only the head on show").click()
    until(lambda: heads(again) == [FIRST])
    expect(again.get_by_test_id("legend").first).to_be_hidden()
    square(again, 0).focus()
    again.keyboard.press("ArrowRight")
    again.keyboard.press("Space")
    until(lambda: heads(again) == [8, 1])
    again.keyboard.press("End")
    again.keyboard.press("Space")
    assert heads(again) == [8, 1], "the head on show stays"
    again.keyboard.press("Home")
    again.keyboard.press("Enter")
    until(lambda: heads(again) == [8, 1, 0])
    expect(
        again.locator("[role=status]", has_text="Lines of head 0 added: 3 heads in the lines").first
    ).to_be_attached()
