"""All steps of `model.generate` as one trace, against one pass over the text that it wrote."""

from functools import partial
from typing import Any

import pytest
import torch

import attnviz as av
from attnviz.models.capture import Trace
from tests.models.tiny import VOCAB, llama, padded, t5, tokens
from tests.models.tiny_streams import made

STEPS = 5
SHORT_SIGHTED = partial(made, "mistral", sliding_window=4)  #: its cache drops what lies further back
GREEDY: dict[str, Any] = {"max_new_tokens": STEPS, "do_sample": False, "eos_token_id": None, "pad_token_id": 0}


def same(joined: Trace, whole: Trace, atol: float = 1e-5) -> None:
    """Every layer's vectors, weights and lengths."""
    assert len(joined) == len(whole)
    for mine, theirs in zip(joined, whole, strict=True):
        assert (mine.place, mine.shape, mine.name) == (theirs.place, theirs.shape, theirs.name)
        rows = torch.ones(theirs.shape[0], 1, theirs.shape[2], dtype=torch.bool)
        real = theirs.real_queries if theirs.real_queries is not None else rows
        for ours, other in ((mine.weights(), theirs.weights()), (mine.head_outputs(), theirs.head_outputs())):
            torch.testing.assert_close(ours * real[..., None], other * real[..., None], atol=atol, rtol=1e-4)
        if theirs.norms is not None:
            torch.testing.assert_close(mine.value_norms(), theirs.value_norms(), atol=1e-4, rtol=1e-4)


GPT_OSS = partial(made, "gpt_oss", num_local_experts=2, num_experts_per_tok=1, sliding_window=3)
STATIC = {"cache_implementation": "static"}


@pytest.mark.parametrize(
    "build, how",
    [
        *((build, {}) for build in (llama, SHORT_SIGHTED, GPT_OSS)),
        *((partial(made, kind), {}) for kind in ("gpt_neox", "gpt2", "opt", "gemma2")),
        *((build, STATIC) for build in (llama, SHORT_SIGHTED)),
        (llama, {"use_cache": False}),
    ],
)
def test_the_steps_joined_are_one_pass_over_the_text(build: Any, how: dict[str, Any]) -> None:
    model, ids = build(), tokens(2, 6)
    trace = av.capture(model.generate, input_ids=ids, logits="all", **GREEDY, **how)
    written = trace.inputs["sequences"]
    assert torch.equal(written, model.generate(ids, **GREEDY))
    assert torch.equal(trace.inputs["input_ids"], written[:, :-1])
    whole = av.capture(model, input_ids=written[:, :-1], logits="all")
    same(trace, whole, 5e-5)
    assert trace.logits.shape == (2, STEPS, VOCAB)
    torch.testing.assert_close(trace.logits, whole.logits[:, 5:], atol=1e-4, rtol=1e-4)


def test_sentences_of_different_lengths_keep_their_padding_hidden() -> None:
    model, ids, mask = llama(), tokens(2, 7), padded("left")
    trace = av.capture(model.generate, ids, attention_mask=mask, **GREEDY)
    written = trace.inputs["sequences"]
    assert torch.equal(trace.inputs["attention_mask"], torch.cat([mask, torch.ones(2, STEPS - 1, dtype=torch.long)], 1))
    positions = (trace.inputs["attention_mask"].cumsum(-1) - 1).clamp_min(0)
    whole = av.capture(
        model, written[:, :-1], attention_mask=trace.inputs["attention_mask"], position_ids=positions, logits="all"
    )
    same(trace, whole)
    assert not trace[0].weights()[0, :, 3:, :3].any()
    assert trace[0].padding.tolist()[0] == [[[False] * 3 + [True] * (4 + STEPS - 1)]]
    torch.testing.assert_close(trace.logits, whole.logits[:, -1], atol=1e-4, rtol=1e-4)


def test_an_encoder_runs_once_and_its_decoder_s_steps_are_joined() -> None:
    model, ids = t5(), tokens(2, 6)
    mask = padded("right", 2, 6, 2)
    trace = av.capture(model.generate, input_ids=ids, attention_mask=mask, **GREEDY)
    decoded = trace.inputs["decoder_input_ids"]
    assert decoded.shape == (2, STEPS)
    whole = av.capture(model, input_ids=ids, attention_mask=mask, decoder_input_ids=decoded)
    by_place = {layer.place: layer for layer in trace}
    assert set(by_place) == {layer.place for layer in whole}
    for layer in whole:
        torch.testing.assert_close(by_place[layer.place].weights(), layer.weights(), atol=1e-5, rtol=1e-4)
