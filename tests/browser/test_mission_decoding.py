"""What a visitor reads about decoding, beside transformers.

As in `test_mission.py` every number is computed a second time; this comes after it, in `make check-all`.
"""

import re
from typing import Any

import pytest
import torch

from attnviz.models.architecture import Architecture
from tests.browser.conftest import answered
from tests.browser.test_mission import csv_of
from tests.models.conftest import smollm2
from tests.models.tiny import eager

__all__ = ["smollm2"]

PROMPT = "The capital of France is Paris. The capital of Italy is"
STEPS, LAYER, HEAD = 4, 17, 5
PATIENCE = 240_000  # ms; the model is loaded and writes


def written_by_transformers(model: Any, ids: list[int]) -> tuple[list[int], list[torch.Tensor], Any]:
    """Greedy tokens, the logits of each step without a cache, and transformers' own cache after the last step."""
    logits, cache, new = [], None, ids
    for _step in range(STEPS):
        out = model(torch.tensor([new]), past_key_values=cache, use_cache=True)
        cache = out.past_key_values
        logits.append(model(torch.tensor([ids]), use_cache=False).logits[0, -1])
        new = [int(logits[-1].argmax())]
        ids = ids + new
    return ids, logits, cache


def after(page: Any, words: str) -> Any:
    """The sentence with these words, once the page has drawn all."""
    sentence = page.get_by_text(re.compile(words)).first
    sentence.wait_for(timeout=PATIENCE)
    answered(page)
    return sentence


def numbers(rows: list[dict[str, str]], name: str) -> list[float]:
    return [float(row[name]) for row in rows]


def test_a_decoder_with_its_cache_writes_what_transformers_writes_without_one(new_page, server_url, smollm2):
    page = new_page()
    page.goto(f"{server_url}/decoding?d_model=smollm2-135m&d_prompt={PROMPT.replace(' ', '+')}&d_steps={STEPS}")
    sentence = after(page, f"Layer {LAYER}, head {HEAD} of 9, which reads K/V head 1 of 3")
    model, tokenizer = smollm2.model, smollm2.tokenizer
    with torch.no_grad():
        ids, logits, cache = written_by_transformers(model, tokenizer(PROMPT).input_ids)
    weights = eager(model, input_ids=torch.tensor([ids[:-1]])).attentions[LAYER][0, HEAD]
    shown = [token.get_attribute("aria-label").strip() for token in page.locator(".sp-tokens button").all()]
    assert shown == [tokenizer.decode([each]).strip() for each in ids]
    of_last_step = numbers(csv_of(page, sentence), "weight")  # of the board on show
    assert of_last_step == pytest.approx(weights[-1].tolist(), abs=2e-5)
    chances = logits[-1].softmax(-1).topk(6).values
    said = page.locator(".sp-side canvas").get_attribute("aria-label").partition("tokens, this step")[0]
    assert [float(each) for each in re.findall(r" <?([\d.]+)%", said)] == pytest.approx(
        (100 * chances).tolist(), abs=0.06
    )
    rounding = re.search(r"([\d.e-]+) of the largest \|logit\|", after(page, "Both compute the same sums").inner_text())
    assert rounding
    assert float(rounding[1]) < 1e-5
    bricks = csv_of(page, after(page, "Without it"))
    assert numbers(bricks, "tokens computed without")[-1] == sum(len(ids) - 1 - n for n in range(STEPS))
    held = [sum(getattr(layer, kind).nbytes for kind in ("keys", "values")) for layer in cache.layers]
    assert numbers(bricks, "bytes of the cache")[-1] == sum(held)
    assert f"= {held[0]:,} B" in after(page, "The whole cache").inner_text()
    assert sum(held) == Architecture.from_config(model.config).kv_cache_bytes(len(ids) - 1, dtype="float32")
