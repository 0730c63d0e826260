"""What a visitor reads about decoding, positions and recurrence, beside transformers, torch and complex numbers.

As in `test_mission.py` every number is computed a second time; these come after it, in `make check-all`.
"""

import math
import re
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

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


def test_rope_is_a_product_of_complex_numbers_and_its_scaling_is_that_of_transformers(new_page, server_url):
    from transformers import LlamaConfig
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

    page = new_page()
    n, width = 24, 32
    page.goto(f"{server_url}/positions?p_section=scores&p_encoding=rope-half&p_n={n}&p_width={width}")
    found = csv_of(page, after(page, f"over {n} × {n} pairs of positions"))
    angles = 10_000.0 ** -(np.arange(0, width, 2) / width)
    turned = (1 + 1j) * np.exp(1j * np.arange(n)[:, None] * angles)  # each pair of a vector of ones, at each position
    expected = (turned @ turned.conj().T).real / math.sqrt(width)
    assert np.reshape(numbers(found, "score"), (n, n)) == pytest.approx(expected, abs=2e-5)
    assert page.get_by_text("only distances count").is_visible()

    page.goto(f"{server_url}/positions?p_section=longer&p_method=yarn&p_factor=4&p_width=64")
    waves = csv_of(page, after(page, "the fastest pair turns once in"))
    for kind in ("linear", "yarn"):
        config = LlamaConfig(
            hidden_size=128,
            num_attention_heads=2,
            max_position_embeddings=4096,
            rope_parameters={
                "rope_type": kind,
                "rope_theta": 10_000.0,
                "factor": 4.0,
                "original_max_position_embeddings": 4096,
            },
        )
        turns, _length = ROPE_INIT_FUNCTIONS[kind](config, None)
        assert numbers(waves, kind) == pytest.approx((2 * math.pi / turns).tolist(), rel=1e-4)


def test_attention_and_an_lstm_cost_what_torch_counts_and_meet_where_the_curves_cross(new_page, server_url):
    page = new_page()
    d, heads = 256, 8
    page.goto(f"{server_url}/compare?c_d={d}")
    sentence = after(page, "self-attention takes")
    rows = csv_of(page, sentence)
    layer = nn.MultiheadAttention(d, heads, batch_first=True, device="meta")
    lengths = [int(float(row["n"])) for row in rows if float(row["n"]).is_integer()][::7]
    assert len(lengths) > 3
    for n in lengths:
        row = next(row for row in rows if float(row["n"]) == n)
        x = torch.empty(1, n, d, device="meta")
        with FlopCounterMode(display=False) as counter:
            layer(x, x, x, need_weights=True)
        assert float(row["attention"]) == pytest.approx(counter.get_total_flops(), rel=1e-6)
        assert float(row["lstm"]) == pytest.approx(n * 2 * 4 * d * (d + d), rel=1e-6)  # four gates of input and state
    said = re.search(r"LSTM at n = ([\d,]+)", sentence.inner_text())
    assert said
    assert int(said[1].replace(",", "")) == 2 * d  # 8 n d² + 4 n² d = 16 n d²
