"""The explorer without a server: a folder of files, a model in the browser, and no network after the first visit.

In Chromium, and in Debian's Firefox.
"""

import csv
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree

import numpy as np
import pytest

import attnviz as av
from deploy.class_server import free_port
from tests.browser import firefox
from tests.browser.canvas_places import numbers
from tests.models.conftest import smollm2
from tests.waiting import until

__all__ = ["smollm2"]

pytestmark = pytest.mark.xdist_group("site")  # it takes half a minute of a processor to write one

SENTENCE = "The capital of Spain is"
FOLDER = Path("some") / "folder"
STATUS = ".site-status [role=status]"  #: where the page says how things stand
MATRICES = "stages => stages.map((stage) => stage.matrix())"
CHANGED = "() => document.querySelector('.site-next h2').textContent.includes('change')"


@pytest.fixture(scope="module")
def root(tmp_path_factory) -> Path:
    """A folder with a site of both models in a folder below it."""
    root = tmp_path_factory.mktemp("served")
    command = [sys.executable, "-m", "attnviz", "site", root / FOLDER, "--app", "https://app.example/"]
    subprocess.run(command, check=True, capture_output=True)
    return root


@contextmanager
def served(root: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """The site behind a plain server of files: its address, and the server."""
    port, quiet = free_port(), subprocess.DEVNULL
    command = [sys.executable, "-m", "http.server", str(port), "--bind", "127.0.0.1", "--directory", root]
    server = subprocess.Popen(command, stdout=quiet, stderr=quiet)
    try:
        yield f"http://127.0.0.1:{port}/{FOLDER.as_posix()}/", server
    finally:
        server.kill()
        server.wait()


@pytest.fixture(scope="module")
def address(root) -> Iterator[str]:
    with served(root) as (address, _server):
        yield address


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
    page.troubles, page.asked = troubles, []
    page.on("request", lambda asked: page.asked.append(asked.url))
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
    page.wait_for_selector(".live-head canvas")


def said(page: Any, words: str) -> str:
    """The line of where things stand, once it has these words."""
    there = "([where, words]) => ` ${document.querySelector(where)?.textContent}`.includes(` ${words}`)"
    page.wait_for_function(there, arg=[STATUS, words])
    return str(page.locator(STATUS).inner_text())


def next_tokens(page: Any) -> dict[str, str]:
    labels, shares = (page.locator(f".site-next {each}").all_inner_texts() for each in (".site-token", ".site-share"))
    return dict(zip(labels, shares, strict=True))


def read(page: Any, sentence: str, tokens: int) -> None:
    page.fill(".site-text", sentence)
    page.press(".site-text", "Enter")
    said(page, f"Tokens: {tokens}, read in")


def test_a_sentence_is_read_changed_saved_and_written_on_without_a_network(browser, page, address, smollm2, tmp_path):
    opened(page, address)
    assert page.locator(".live-head").get_by_text("Layer 13, head 8").first.is_visible(), "before any model is here"
    said(page, "Tokens: 13, read in")
    page.evaluate("navigator.serviceWorker.ready")
    page.context.set_offline(True)
    page.reload()
    said(page, "Tokens: 13, read in")
    read(page, SENTENCE, 5)

    likeliest = av.capture(smollm2, SENTENCE).logits[0].softmax(-1)
    found = next_tokens(page)
    assert next(iter(found)) == "Madrid"
    assert found["Madrid"] == f"{100 * float(likeliest.max()):.1f}%"

    page.goto(f"{address}#model=smollm2-135m&text={quote(SENTENCE)}&at=23.4")  # another link is opened anew
    page.locator(".live-head").get_by_text("Layer 23, head 4").first.wait_for()
    said(page, "Tokens: 5, read in")
    page.check(".site-silence input")
    page.wait_for_function(CHANGED)
    silenced = av.intervene(smollm2, av.ablate(23, 4), SENTENCE).logits[0].softmax(-1)
    top = np.sort(silenced.numpy())[::-1]
    shares = [text.split("%")[0] for text in page.locator(".site-next .site-share").all_inner_texts()]
    assert shares == [f"{100 * each:.1f}" for each in top[:10]]
    assert f"was {found['Madrid']}" in next_tokens(page)["Madrid"]
    moved = page.locator(".site-moved li").all_inner_texts()
    plain, changed = (av.capture(smollm2, SENTENCE), av.intervene(smollm2, av.ablate(23, 4), SENTENCE))
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
    page.locator(".site-looked").get_by_role("heading", name=most[0]).wait_for()
    layer, head = (int(number) for number in re.findall(r"\d+", most[0]))
    weights, after = (each[layer].weights(head)[0, 0].numpy() for each in (plain, changed))
    drawn = [numbers(each) for each in page.locator(".site-pictures [data-testid=heatmap]").evaluate_all(MATRICES)]
    for picture, wanted in zip(drawn, (weights, after, after - weights), strict=True):
        np.testing.assert_allclose(picture, wanted, atol=2e-4)
    assert page.locator(".live-head").get_by_text("Layer 23, head 4").first.is_visible(), "what is changed stays chosen"

    with page.expect_download() as saved:
        page.get_by_role("button", name="CSV").click()
    kept = list(csv.DictReader(saved.value.path().read_text("utf-8").splitlines()))
    weights = plain[23].weights(4)[0, 0].numpy()
    assert [row["key_token"] for row in kept[:5]] == ["The", "capital", "of", "Spain", "is"]
    np.testing.assert_allclose([float(row["weight"]) for row in kept], weights.flatten(), atol=1e-5)
    for kind, begins in (("SVG", b"<svg "), ("PNG", b"\x89PNG")):
        with page.expect_download() as saved:
            page.get_by_role("button", name=kind).click()
        content = saved.value.path().read_bytes()
        assert content.startswith(begins)
        if kind == "SVG":  # drawn as the app's own files are
            texts = [node.text for node in ElementTree.fromstring(content).iter("{http://www.w3.org/2000/svg}text")]
            assert {"Queries", "Keys", f"{weights[4, 0]:.2f}"} <= set(texts)

    page.locator(".site-next .site-token").first.click()
    said(page, "Tokens: 6, read in")
    assert page.input_value(".site-text").startswith(f"{SENTENCE} ")
    page.goto(f"{address}#model=smollm2-135m&text={quote(SENTENCE)}&at=23.4&mask=none&seen=after")
    said(page, "Tokens: 5, read in")
    until(lambda: edit_of(page)[0] == "none")
    for name in ("Live HTML: this head", "Live HTML: all heads"):
        with page.expect_download() as saved:
            page.get_by_role("button", name=name).click()
        saved.value.save_as(tmp_path / "live.html")
        alone = browser.new_context(offline=True).new_page()
        alone.on("pageerror", lambda error: page.troubles.append(str(error)))
        alone.goto((tmp_path / "live.html").as_uri())
        alone.get_by_test_id("heatmap").wait_for()
        picture = numbers(alone.get_by_test_id("heatmap").evaluate("stage => stage.matrix()"))
        np.testing.assert_allclose(picture, plain[23].weights(4, mask=None)[0, 0].numpy(), atol=1e-4)
        assert alone.get_by_test_id("overview").count() == int("all" in name)
        alone.context.close()
    assert page.troubles == []


def edit_of(page: Any) -> list[Any]:
    """Mask, window, hidden keys, scale, factor and what is seen, as the head's controls have them."""
    return json.loads(page.get_by_test_id("controls").first.get_attribute("data-edit"))


def test_one_figure_alone_loads_no_model(page, address):
    where = f"model=smollm2-135m&text={quote('( a [ b { c } d ] e )')}&at=8.4&mask=window&window=3&seen=after"
    opened(page, f"{address}?embed=true&figure=head-out#{where}")
    page.locator(".live-head").get_by_text("Layer 8, head 4").first.wait_for()
    assert edit_of(page) == ["window", 3, [], "model", 1, "after"]
    for hidden in (".site-form", ".live-overview", ".site-save", "h1", ".site-again"):
        assert not page.locator(hidden).first.is_visible()
    until(lambda: "mask=window" in page.get_by_role("link", name="Open the whole page").get_attribute("href"))
    # a link is followed just before the page notes a change in its address; it is of the page's own sentence, whose
    # other heads are not in it
    page.get_by_test_id("mask").first.evaluate("""list => {
        list.value = "none";
        list.dispatchEvent(new Event("change", { bubbles: true }));
        setTimeout(() => (location.hash = "at=5.3"), 0);
        for (const end = performance.now() + 200; performance.now() < end; ); // a slow machine: the note is due too
    }""")
    page.locator(".live-head").get_by_text("Layer 5, head 3").first.wait_for()
    assert not [each for each in page.asked if "models/" in each or "worker" in each]

    page.goto(f"{address}?embed=true&figure=head-out#model=minilm-l6&text=A%20cat.&at=1.2")
    page.get_by_text("This sentence was not read before.").wait_for()
    assert not page.locator(".live-head").is_visible(), "another sentence's head"
    page.get_by_role("button", name="Load the model").click()
    said(page, "Tokens: 5, read in")
    assert page.locator(".live-head").get_by_text("Layer 1, head 2").first.is_visible()
    page.goto(f"{address}?embed=true&figure=foo")
    page.get_by_text("This page shows no figure called foo; just now it has: head-out.").wait_for()
    assert page.troubles == []


SAID = "document.querySelector('.site-status [role=status]')?.textContent"
DRAWN = "document.querySelector('.live-head [data-testid=heatmap]').matrix()"
KEPT = "navigator.serviceWorker.controller !== null"


@pytest.mark.skipif(not firefox.FIREFOX and not os.environ.get("CI"), reason="no Firefox on this machine")
def test_in_firefox_a_sentence_is_answered_and_its_head_drawn_with_a_server_and_without(root, tmp_path, smollm2):
    trace = av.capture(smollm2, SENTENCE)
    likeliest = float(trace.logits[0].softmax(-1).max())
    with served(root) as (address, server), firefox.opened(tmp_path) as tab:
        for served_now in (True, False):
            tab.goto(f"{address}#model=smollm2-135m&text={quote(SENTENCE)}&at=23.4")
            until(lambda: (tab.evaluate(SAID) or "").startswith("Tokens: 5, read in"))
            np.testing.assert_allclose(numbers(tab.evaluate(DRAWN)), trace[23].weights(4)[0, 0].numpy(), atol=1e-5)
            first = "document.querySelector('.site-next li').innerText.split(/\\s+/)"
            assert tab.evaluate(first) == ["Madrid", f"{100 * likeliest:.1f}%"]
            until(lambda: tab.evaluate(KEPT))
            if served_now:
                server.kill()
                server.wait()
