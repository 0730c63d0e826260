import numpy as np
import pytest
import torch
from torch.testing import assert_close

from attnviz.models.capture import RecordedLayer, all_heads, make_yardstick, sweep_layer
from attnviz.models.capture.run import capture
from tests.models.capture.test_yardstick import measure, measures
from tests.models.tiny import llama, padded, t5, tokens


def test_padding_of_both_sentences_is_left_out_of_cross_attention():
    model = t5()
    inputs = {"input_ids": tokens(), "decoder_input_ids": tokens(length=5)}
    masks = {"attention_mask": padded("right"), "decoder_attention_mask": padded("right", length=5, missing=2)}
    whole = capture(model, **inputs, **masks)
    short = capture(model, input_ids=tokens()[:1, :4], decoder_input_ids=tokens(length=5)[:1, :3])
    for one, other in zip(whole.layers, short.layers, strict=True):
        for name in ("entropy", "entropy_share", "largest_weight", "first_token"):
            found, expected = (measures(layer)[name][0] for layer in (one, other))
            assert_close(found, expected, atol=1e-4, rtol=1e-4)


def of_blocks(weights, hidden, edges_q, edges_k):
    """The largest of each block and whether all of it is hidden, in loops."""
    found = np.empty((*weights.shape[:2], len(edges_q) - 1, len(edges_k) - 1))
    for b, h, i, j in np.ndindex(found.shape):
        part = (b, h, slice(edges_q[i], edges_q[i + 1]), slice(edges_k[j], edges_k[j + 1]))
        found[b, h, i, j] = -1 if hidden[part].all() else np.where(hidden[part], -1, weights[part]).max()
    return found


def alike(found, expected):
    for name in expected:
        ours, theirs = found[name], expected[name]
        assert_close(ours, theirs, atol=1e-6, rtol=1e-6, equal_nan=True, msg=name)


@pytest.mark.parametrize("side", [32, 5, 3, 1])
@pytest.mark.parametrize("chunk", [all_heads.CHUNK, 1])
@pytest.mark.parametrize("given", ["whole", "left", "right"])
def test_a_sweep_in_parts_finds_what_all_at_once_has(monkeypatch, side, chunk, given):
    monkeypatch.setattr(all_heads.block_edges, "__defaults__", (side,))
    monkeypatch.setattr(all_heads, "FEWEST_ROWS", 2)
    monkeypatch.setattr(all_heads, "CHUNK", chunk)
    ids = tokens(length=13)
    more = {} if given == "whole" else {"attention_mask": padded(given, length=13)}
    for layer in capture(llama(sliding_window=None), input_ids=ids, **more).layers:
        found = sweep_layer(layer, make_yardstick(layer, ids))
        weights, hidden = layer.weights().numpy(), (~layer.mask).expand(layer.shape).numpy()
        expected = of_blocks(weights, hidden, all_heads.block_edges(13), all_heads.block_edges(13))
        np.testing.assert_allclose(found.largest.numpy(), expected, atol=1e-6)
        np.testing.assert_array_equal(sweep_layer(layer).largest.numpy(), found.largest.numpy())
        keys = None if layer.padding is None else layer.padding[..., 0, :]
        whole = measure(layer.weights(), layer.mask, ids[:, None], layer.real_queries, keys)
        alike(found.measures, whole)
        assert found.measures["entropy"].shape == (2, 6)
        alike(measures(layer, ids[0]), measures(layer, ids[:1].expand(2, -1)))  # one sentence of ids will do


def test_a_row_that_sees_nothing_is_masked_in_the_picture_and_in_no_mean():
    mask = torch.ones(6, 6).tril().bool()
    mask[2] = False
    q = torch.randn(1, 1, 6, 4, generator=torch.Generator().manual_seed(1))
    layer = RecordedLayer("decoder", "self", 0, "x", 0.5, q, q, q, allowed=mask[None, None])
    found = sweep_layer(layer, make_yardstick(layer))
    assert (found.largest[0, 0, 2] == -1).all()
    kept = [0, 1, 3, 4, 5]
    assert_close(found.measures["same_token"][0, 0], layer.weights()[0, 0].diagonal()[kept].mean())
