import pytest
import torch
from torch.testing import assert_close
from torch.utils.flop_counter import FlopCounterMode

from attnviz.base.message import Problem
from attnviz.models.capture.cached_pass import pass_with_cache
from attnviz.models.capture.run import capture
from tests.models.tiny import bert, llama, tokens


def test_passes_with_a_cache_end_in_the_logits_of_transformers_own_passes():
    model, ids = llama(), tokens(1, 9)
    mine, theirs, new = None, None, ids[:, :5]
    for n in range(5, 10):
        made = pass_with_cache(model, new, mine)
        with torch.no_grad():
            own = model(new, past_key_values=theirs, use_cache=True)
        assert_close(made.logits, own.logits[0, -1], atol=1e-5, rtol=0)
        mine, theirs, new = made.cache, own.past_key_values, ids[:, n : n + 1]
        for layer, held in zip(made.layers, mine.layers, strict=True):
            assert layer.shape == (1, 6, 1 if n > 5 else 5, n)
            assert torch.equal(layer.k, held.keys)
            assert torch.equal(layer.v, held.values)


def test_without_keeping_there_is_no_cache_all_logits_can_be_had_and_recording_adds_no_work():
    model, ids = llama(), tokens(1, 6)
    made = pass_with_cache(model, ids, keep=False, logits="all")
    assert made.cache is None
    assert_close(made.logits, capture(model, logits="all", input_ids=ids).logits[0], atol=1e-5, rtol=0)
    with FlopCounterMode(display=False) as mine:
        pass_with_cache(model, ids, keep=False)
    with FlopCounterMode(display=False) as theirs, torch.no_grad():
        model(ids, use_cache=False, logits_to_keep=1)
    assert mine.get_total_flops() == theirs.get_total_flops()
    with pytest.raises(Problem, match="predicts no tokens"):
        pass_with_cache(bert().bert, tokens(1, 4), keep=False)
