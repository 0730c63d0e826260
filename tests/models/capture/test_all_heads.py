import pytest
import torch
from torch.testing import assert_close

from attnviz.core.masks import causal
from attnviz.core.measures import measure
from attnviz.core.message import Problem
from attnviz.models.capture.all_heads import pooled, survey, thumbnails
from attnviz.models.capture.run import capture
from tests.models.tiny import llama, padded, tokens


def test_a_short_sentence_is_shown_as_it_is():
    trace = capture(llama(), input_ids=tokens())
    for small, layer in zip(thumbnails(trace, 32), trace.layers, strict=True):
        assert torch.equal(small, layer.weights())


def test_pooling_takes_the_largest_or_the_mean_of_each_patch():
    weights = torch.rand(2, 3, 8, 8)
    patches = weights.unflatten(-1, (4, 2)).unflatten(-3, (4, 2))
    assert_close(pooled(weights, 4, "max"), patches.amax((-1, -3)))
    assert_close(pooled(weights, 4, "mean"), patches.mean((-1, -3)))


def test_every_head_s_measures_come_in_one_pass():
    ids = tokens()
    trace = capture(llama(), input_ids=ids)
    for entry in survey(trace, tokens=ids):
        expected = measure(entry.layer.weights(), entry.layer.mask, ids[:, None])
        for name in expected.__dataclass_fields__:
            assert_close(getattr(entry.measures, name), getattr(expected, name), equal_nan=True)
            assert getattr(entry.measures, name).shape == (2, 6)


def test_padding_tokens_do_not_count_in_measures():
    ids = tokens()
    trace = capture(llama(), input_ids=ids, attention_mask=padded("right"))
    alone = capture(llama(), input_ids=ids[:1, :4])
    for whole, short in zip(survey(trace), survey(alone), strict=True):
        assert_close(whole.measures.entropy[:1], short.measures.entropy, atol=1e-5, rtol=1e-5)
        assert_close(whole.measures.mean_distance[:1], short.measures.mean_distance, atol=1e-5, rtol=1e-5)


def test_long_sentences_go_a_few_heads_at_a_time(monkeypatch):
    ids = tokens(length=12)
    trace = capture(llama(), input_ids=ids)
    mask = torch.rand(6, 12, 12) > 0.4
    whole, small = list(survey(trace, 4, "mean", ids, mask)), thumbnails(trace, 4, mask=mask)
    monkeypatch.setattr("attnviz.models.capture.all_heads.CHUNK", 1)
    for one, other in zip(whole, survey(trace, 4, "mean", ids, mask), strict=True):
        assert_close(one.thumbnails, other.thumbnails)
        assert_close(one.measures.induction, other.measures.induction, equal_nan=True)
    for before, after in zip(small, thumbnails(trace, 4, mask=mask), strict=True):
        assert_close(before, after)


def test_thumbnails_of_another_mask_and_scale():
    trace = capture(llama(), input_ids=tokens())
    flat = thumbnails(trace, scale=0.0, mask=causal(7))[0]
    assert_close(flat[0, 0], causal(7).float() / torch.arange(1, 8)[:, None])


@pytest.mark.parametrize("n, pool, sentence", [(0, "max", "n=0 must be"), (4, "sum", "pool='sum' must be")])
def test_what_cannot_be_pooled_is_said(n, pool, sentence):
    with pytest.raises(Problem, match=sentence):
        pooled(torch.rand(1, 1, 8, 8), n, pool)
