"""The yardstick that measures all heads at once, against loops over rows."""

import math
from collections import defaultdict

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attnviz.core.measures import count_allowed_keys, mean_over_rows
from attnviz.models.capture import Yardstick, make_yardstick, sweep_layer
from tests.core.test_measures import close, random_weights, sizes


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


@pytest.mark.parametrize("shape", [(2, 5), (2, 1, 5)])
def test_ids_have_the_batch_first_even_where_there_are_as_many_heads(shape):
    weights = random_weights(2, 2, 5, 1)  # here: batch of 2, 2 heads
    tokens = torch.tensor([[1, 2, 1, 2, 1], [3, 3, 3, 4, 4]])
    found = measure(weights, tokens=tokens.reshape(shape))
    for b in range(2):
        for head in range(2):
            expected = by_loop(weights[b, head].tolist(), tokens[b].tolist(), True)
            close(found["induction"][b, head], expected["induction"])
            close(found["duplicate_token"][b, head], expected["duplicate_token"])
