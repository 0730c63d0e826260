"""The explorer without a server: a folder of files, a model in the browser, and no network after the first visit."""

import csv
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest

import attnviz as av
from tests.models.conftest import smollm2
from tests.waiting import until

__all__ = ["smollm2"]
SENTENCE = "The capital of Spain is"
STATUS = ".site-status [role=status]"  #: where the page says how things stand


@pytest.fixture(scope="module")
def address(tmp_path_factory) -> Iterator[str]:
    """A site in a folder of a plain server of files."""
    root = tmp_path_factory.mktemp("served")
    command = [sys.executable, "-m", "attnviz", "site", root / "some" / "folder", "--language", "en", "zh"]
    subprocess.run(command, check=True, capture_output=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen(
        [sys.executable, "-m", "http.server", str(port), "--bind", "127.0.0.1", "--directory", root],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield f"http://127.0.0.1:{port}/some/folder/"
    finally:
        server.kill()
        server.wait()


@pytest.fixture
def page(browser: Any, address: str) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    page = context.new_page()
    troubles: list[str] = []
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("console", lambda said: troubles.append(said.text) if said.type == "error" else None)
    page.on(
        "request",
        lambda asked: None if asked.url.startswith((address, "data:", "blob:")) else troubles.append(asked.url),
    )
    page.troubles = troubles
    yield page
    context.close()


def opened(page: Any, address: str) -> None:
    """Wait for the server, then for the first picture."""

    def there() -> bool:
        try:
            page.goto(address)
        except Exception:  # it has not begun to listen
            return False
        return True

    until(there)
    page.wait_for_selector("#attnviz canvas")


def said(page: Any, words: str) -> str:
    """The line of where things stand, once it has these words."""
    there = "([where, words]) => document.querySelector(where)?.textContent.includes(words)"
    page.wait_for_function(there, arg=[STATUS, words])
    return str(page.locator(STATUS).inner_text())


def next_tokens(page: Any) -> dict[str, str]:
    labels, shares = (page.locator(f".site-next {each}").all_inner_texts() for each in (".site-token", ".site-share"))
    return dict(zip(labels, shares, strict=True))


def read(page: Any, sentence: str, tokens: int) -> None:
    page.fill(".site-text", sentence)
    page.press(".site-text", "Enter")
    said(page, f"{tokens} tokens, read in")


def test_a_sentence_is_read_changed_and_written_on_without_a_network(page, address, smollm2):
    opened(page, address)
    assert page.locator(".live-head").get_by_text("Layer 13, head 8").first.is_visible(), "before any model is here"
    said(page, "13 tokens, read in")
    page.evaluate("navigator.serviceWorker.ready")
    page.context.set_offline(True)
    page.reload()
    said(page, "13 tokens, read in")
    read(page, SENTENCE, 5)

    likeliest = av.capture(smollm2, SENTENCE).logits[0].softmax(-1)
    found = next_tokens(page)
    assert next(iter(found)) == "Madrid"
    assert found["Madrid"] == f"{100 * float(likeliest.max()):.1f}%"

    page.goto(f"{address}#model=smollm2-135m&text={quote(SENTENCE)}&at=23.4")
    page.reload()
    said(page, "5 tokens, read in")
    page.check(".site-silence input")
    page.wait_for_function("() => document.querySelector('.site-next h2').textContent.includes('change')")
    silenced = av.intervene(smollm2, av.silence(23, 4), SENTENCE).logits[0].softmax(-1)
    top = np.sort(silenced.numpy())[::-1]
    shares = [text.split("%")[0] for text in page.locator(".site-share").all_inner_texts()]
    assert shares == [f"{100 * each:.1f}" for each in top[:10]]
    assert f"was {found['Madrid']}" in next_tokens(page)["Madrid"]
    moved = page.locator(".site-moved li").all_inner_texts()
    plain, changed = (av.capture(smollm2, SENTENCE), av.intervene(smollm2, av.silence(23, 4), SENTENCE))
    movements = {
        f"Layer {layer}, head {head}": float((new[head] - old[head]).abs().sum(-1).mean() / 2)
        for layer, (before, after) in enumerate(zip(plain, changed, strict=True))
        for old, new in [(before.weights()[0], after.weights()[0])]
        for head in range(9)
    }
    most = sorted(movements, key=lambda name: -movements[name])[:8]
    assert [each.split("\n")[0] for each in moved] == most
    assert moved[0].endswith(f"{100 * movements[most[0]]:.1f}%")
    page.locator(".site-moved .site-token").first.click()
    assert not page.is_checked(".site-silence input"), "that head itself is as it was"
    assert page.locator(".live-head").get_by_text(most[0]).first.is_visible()

    with page.expect_download() as saved:
        page.get_by_role("button", name="CSV").click()
    kept = list(csv.DictReader(saved.value.path().read_text("utf-8").splitlines()))
    layer, head = (int(number) for number in re.findall(r"\d+", most[0]))
    weights = plain[layer].weights(head)[0, 0].numpy()
    assert [row["key_token"] for row in kept[:5]] == ["The", "capital", "of", "Spain", "is"]
    np.testing.assert_allclose([float(row["weight"]) for row in kept], weights.flatten(), atol=1e-5)
    for kind, begins in (("SVG", b"<svg "), ("PNG", b"\x89PNG")):
        with page.expect_download() as saved:
            page.get_by_role("button", name=kind).click()
        assert saved.value.path().read_bytes().startswith(begins)

    page.locator(".site-next .site-token").first.click()
    said(page, "6 tokens, read in")
    assert page.input_value(".site-text").startswith(f"{SENTENCE} ")
    assert page.troubles == []


def test_the_other_model_comes_when_it_is_chosen_and_long_sentences_are_refused(page, address):
    opened(page, f"{address}?embed=true")
    assert page.locator(STATUS).inner_text() == "", "inside another page no model comes before somebody types"
    page.select_option(".site-model", "minilm-l6")
    said(page, "16 tokens, read in")
    assert not page.locator(".site-next").is_visible(), "it predicts no tokens"
    page.locator(".live-head").get_by_text("[CLS]").first.wait_for(state="attached")
    page.fill(".site-text", "word " * 300)
    page.press(".site-text", "Enter")
    assert said(page, "up to 200") == "That sentence has 302 tokens; up to 200 are read here."
    read(page, "A cat.", 5)
    assert page.troubles == []


def test_a_download_is_stopped_and_begun_again(page, address):
    opened(page, address)
    page.get_by_role("button", name="Stop").click()
    said(page, "Stopped.")
    page.get_by_role("button", name="Load the model").click()
    said(page, "13 tokens, read in")


HEARD = """(() => {
    globalThis.heard = [];
    const Own = Worker;
    globalThis.Worker = class extends Own {
        constructor(...given) {
            super(...given);
            this.addEventListener("message", ({ data }) => data.kind === "ready" && heard.push(data.name));
        }
    };
})()"""


def test_of_two_models_the_one_chosen_last_answers(page, address):
    page.add_init_script(HEARD)
    opened(page, address)
    page.select_option(".site-model", "minilm-l6")  # while the other is on its way
    said(page, "16 tokens, read in")
    page.select_option(".site-model", "smollm2-135m")
    page.select_option(".site-model", "minilm-l6")
    page.wait_for_function("() => heard.filter((name) => name === 'minilm-l6').length === 2")
    read(page, "A cat.", 5)
    page.wait_for_load_state("networkidle")
    assert page.evaluate("heard") == ["minilm-l6"] * 2, "a model that was replaced is not waited for"
    assert page.troubles == []


def test_prepared_examples_need_no_model(page, address):
    opened(page, f"{address}?embed=true")
    page.select_option(".site-examples", label="( a [ b { c } d ] e )")
    page.get_by_text("Each closing bracket looks at the bracket that it closes.").wait_for()
    page.locator(".live-head").get_by_text("Layer 8, head 4").first.wait_for()
    assert "at=8.4" in page.url
    assert "read in" not in page.locator(STATUS).inner_text(), "the model is still on its way"
    page.wait_for_function("() => document.querySelector('.live-head').textContent.includes('{')")
    said(page, "11 tokens, read in")
    assert page.locator(".live-head").get_by_text("Layer 8, head 4").first.is_visible()
    assert page.troubles == []


def test_a_phone_and_chinese(browser, address):
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = context.new_page()
    opened(page, f"{address}index.zh.html")
    said(page, "个词元")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    context.close()
