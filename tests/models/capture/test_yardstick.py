"""The yardstick that measures all heads at once, against loops over rows, and layers that are swept in parts."""

import math
from collections import defaultdict

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

from attnviz.core.measures import count_allowed_keys, mean_over_rows
from attnviz.models.capture import RecordedLayer, Yardstick, all_heads, capture, make_yardstick, sweep_layer
from tests.core.test_measures import close, random_weights, sizes
from tests.models.tiny import llama, padded, t5
from tests.models.tiny import tokens as some_tokens


def measure(weights, mask=None, tokens=None, rows=None, keys=None):
    """Every measure of every matrix in weights (..., Q, K), with padding at the keys where `keys` is False."""
    if keys is not None:
        weights = weights.masked_fill(~keys.unsqueeze(-2), 0)
        mask = keys.unsqueeze(-2) if mask is None else mask & keys.unsqueeze(-2)
    held = Yardstick.for_weights(weights, tokens, keys)
    values = held.measure_rows(weights, count_allowed_keys(weights, mask))
    return {name: mean_over_rows(value, rows) for name, value in values.items()}


def measures(layer, tokens=None):
    """Every measure of every head of a layer, (B, H)."""
    return sweep_layer(layer, make_yardstick(layer, tokens)).measures


def by_loop(matrix, tokens, causal):
    rows = defaultdict(list)
    for i, row in enumerate(matrix):
        spread = -sum(w * math.log(w) for w in row if w > 0)
        allowed = i + 1 if causal else len(row)
        rows["entropy"].append(spread)
        if allowed > 1:
            rows["entropy_share"].append(spread / math.log(allowed))
        rows["effective_keys"].append(math.exp(spread))
        rows["largest_weight"].append(max(row))
        rows["mean_distance"].append(sum(w * abs(i - j) for j, w in enumerate(row)))
        rows["same_token"].append(row[i])
        rows["first_token"].append(row[0])
        if i > 0:
            rows["previous_token"].append(row[i - 1])
        if i + 1 < len(row):
            rows["next_token"].append(row[i + 1])
        earlier = [j for j in range(i) if tokens[j] == tokens[i]]
        if earlier:
            rows["duplicate_token"].append(sum(row[j] for j in earlier))
            rows["induction"].append(sum(row[j + 1] for j in earlier))
    return {name: sum(values) / len(values) if values else math.nan for name, values in rows.items()}


@given(sizes, st.booleans(), st.sampled_from([0, 3]), st.integers(0, 2**31))
@settings(max_examples=60, deadline=None)
def test_every_measure_equals_a_loop_over_the_rows_of_real_tokens(size, causal, padding, seed):
    """Also where their matrix is put among padding that even repeats a real id."""
    length, width = size[2], size[2] + padding
    alone = random_weights(*size, causal)
    source = torch.Generator().manual_seed(seed)
    ids = torch.randint(0, 3, (length,), generator=source)
    places = torch.randperm(width, generator=source)[:length].sort().values
    keys = torch.zeros(width, dtype=torch.bool)
    keys[places] = True
    weights = torch.rand(*size[:2], width, width, generator=source, dtype=torch.float64)
    weights[..., places[:, None], places] = alone
    mask = torch.ones(width, width).tril().bool() if causal else None
    tokens = torch.zeros(width, dtype=torch.long).scatter(0, places, ids)
    real = keys if padding else None
    found = measure(weights, mask, tokens, rows=real, keys=real)
    for layer in range(size[0]):
        for head in range(size[1]):
            for name, value in by_loop(alone[layer, head].tolist(), ids.tolist(), causal).items():
                close(found[name][layer, head], value)


def test_padding_of_both_sentences_is_left_out_of_cross_attention():
    model = t5()
    inputs = {"input_ids": some_tokens(), "decoder_input_ids": some_tokens(length=5)}
    masks = {"attention_mask": padded("right"), "decoder_attention_mask": padded("right", length=5, missing=2)}
    whole = capture(model, **inputs, **masks)
    short = capture(model, input_ids=some_tokens()[:1, :4], decoder_input_ids=some_tokens(length=5)[:1, :3])
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
    ids = some_tokens(length=13)
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
