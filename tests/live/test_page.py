"""The live file: what stands in it, read back without a browser."""

import base64
import json
import subprocess
import sys
import zlib
from html.parser import HTMLParser

import numpy as np

from attnviz.analysis.head_matrix import raw_heads
from attnviz.analysis.model_run import Request, run_model
from attnviz.base.head_record import HeadData, HeadGrid, HeadView
from attnviz.base.packed import unpack_blob
from attnviz.live import BUNDLE, LiveView, live_page
from tests.js.browser_cases import decoded
from tests.models.conftest import smollm2

__all__ = ["smollm2"]

HOSTILE = ["</script><script>alert(1)</script>", "<!--", "&amp;", "\u2028", "'\"`${x}", "猫"]


class Elements(HTMLParser):
    """Every element of a page with its attributes and its text."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=False)
        self.found: list[tuple[str, dict[str, str | None], str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs), ""))

    def handle_data(self, data: str) -> None:
        if self.found:
            tag, attrs, text = self.found[-1]
            self.found[-1] = (tag, attrs, text + data)

    def text_of(self, name: str) -> str:
        return next(text for _tag, attrs, text in self.found if attrs.get("id") == name)


def heads(n: int, tokens: int, seed: int = 0) -> list[HeadData]:
    rng = np.random.default_rng(seed)
    mask = np.tri(tokens, dtype=bool)
    scores = [rng.normal(0, 8, (tokens, tokens)).astype(np.float32) for _ in range(n)]
    return [HeadData(one, mask, 0.125, 64, tokens_q=HOSTILE[:tokens]) for one in scores]


def view(**more: object) -> LiveView:
    given = {"heads": heads(4, 6), "grid": HeadGrid.of([2, 2], [1, 1])} | more
    return LiveView(**given)  # type: ignore[arg-type]


def scores_in(text: str) -> tuple[dict[str, object], np.ndarray]:
    header, payload = unpack_blob(zlib.decompress(base64.b64decode(Elements(text).text_of("attnviz-heads"))))
    return header, decoded(header["raw"], payload)


def softmax(scores: np.ndarray, mask: np.ndarray, scale: float) -> np.ndarray:
    logits = np.where(mask, scores.astype(np.float64) * scale, -np.inf)
    weights = np.exp(logits - logits.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


def test_what_a_visitor_typed_never_becomes_markup():
    text = live_page(view(title=HOSTILE[0], note=HOSTILE[1], first=HeadView(HOSTILE[2])))
    elements = Elements(text)
    scripts = [attrs for tag, attrs, _text in elements.found if tag == "script"]
    assert [attrs.get("id") for attrs in scripts] == ["attnviz-view", "attnviz-heads", "attnviz-script", None]
    said = json.loads(elements.text_of("attnviz-view"))
    assert said["head"]["q"] == said["overview"]["q"] == HOSTILE
    assert (said["title"], said["note"], said["head"]["title"]) == (HOSTILE[0], HOSTILE[1], HOSTILE[2])
    assert "alert(1)" in text
    assert "<script>alert" not in text


def test_nothing_is_asked_of_any_server_and_no_bundle_ends_its_own_element():
    elements = Elements(live_page(view(link="https://attention.example/explore?at=1.1")))
    assert not [attrs for _tag, attrs, _text in elements.found if "src" in attrs or "href" in attrs]
    policy = next(attrs["content"] for _tag, attrs, _text in elements.found if "http-equiv" in attrs)
    assert policy is not None
    assert policy.startswith("default-src 'none'")
    for name in ("live", "canvas_file"):
        assert "</script" not in (BUNDLE / f"{name}.js").read_text(encoding="utf-8").lower()
        assert "</style" not in (BUNDLE / f"{name}.css").read_text(encoding="utf-8").lower()


def test_two_hundred_and_seventy_heads_on_twenty_tokens_take_at_most_500_kilobytes(smollm2):
    text = "The animal didn't cross the street because it was too tired, and so it sat down again."
    stack = run_model(Request("smollm2-135m", text), smollm2).stacks[0]
    assert len(stack.queries) == 20
    made = live_page(LiveView(raw_heads(stack.layers, stack.queries.labels), stack.grid, HeadView(tile=(13, 8))))
    assert sum(stack.grid.heads) == 270
    assert len(made.encode()) <= 500_000
    _header, found = scores_in(made)
    place = 0
    for layer in stack.layers:
        assert layer.mask is not None
        wanted = layer.weights()[0].double().numpy()
        for head in range(layer.n_heads):
            off = softmax(found[place], layer.mask[0, 0].numpy(), layer.scale_of(head)) - wanted[head]
            assert np.abs(off).max() <= 2e-4
            place += 1


def test_making_a_file_needs_neither_torch_nor_streamlit():
    code = "import sys, attnviz.live; print([m for m in ('torch', 'streamlit', 'transformers') if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
