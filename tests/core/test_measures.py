import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attnviz.base.message import Problem
from attnviz.core import measures, yardstick

EVEN = [1 / 3, 1 / 3, 1 / 3]
BY_HAND = torch.tensor([[1, 0, 0], [0.25, 0.75, 0], EVEN], dtype=torch.float64)
CAUSAL = torch.ones(3, 3).tril().bool()
sizes = st.tuples(*[st.integers(1, n) for n in (2, 3, 6)], st.integers(0, 2**31))


def random_weights(layers, heads, length, seed, causal=True):
    generator = torch.Generator().manual_seed(seed)
    scores = torch.randn(layers, heads, length, length, generator=generator, dtype=torch.float64)
    if causal:
        scores = scores.masked_fill(~torch.ones(length, length).tril().bool(), -torch.inf)
    return scores.softmax(-1)


def close(found, expected):
    torch.testing.assert_close(found, torch.as_tensor(expected, dtype=found.dtype), equal_nan=True, atol=1e-10, rtol=0)


def test_entropy_of_a_3x3_case_worked_by_hand():
    by_hand = [0, -(0.25 * math.log(0.25) + 0.75 * math.log(0.75)), math.log(3)]
    close(measures.entropy(BY_HAND), by_hand)
    close(measures.effective_keys(BY_HAND), [math.exp(e) for e in by_hand])
    close(measures.entropy_share(BY_HAND, CAUSAL), [math.nan, by_hand[1] / math.log(2), 1])
    close(measures.entropy_share(BY_HAND), [0, by_hand[1] / math.log(3), 1])


def test_total_variation_of_rows_worked_by_hand():
    even = torch.tensor(EVEN, dtype=torch.float64)
    close(measures.total_variation(BY_HAND, even.expand(3, 3)), [2 / 3, 0.75 - 1 / 3, 0])
    close(measures.total_variation(BY_HAND[0], BY_HAND[0].flip(0)), 1)


def test_masses_and_distance_of_a_3x3_case_worked_by_hand():
    close(measures.previous_token_mass(BY_HAND), [math.nan, 0.25, 1 / 3])
    close(measures.same_token_mass(BY_HAND), [1, 0.75, 1 / 3])
    close(measures.next_token_mass(BY_HAND), [0, 0, math.nan])
    close(measures.first_token_mass(BY_HAND), [1, 0.25, 1 / 3])
    close(measures.largest_weight(BY_HAND), [1, 0.75, 1 / 3])
    close(measures.mean_distance(BY_HAND), [0, 0.25, 1])


def test_induction_and_duplicates_of_a_4x4_case_worked_by_hand():
    weights = torch.tensor(
        [[1, 0, 0, 0], [0.5, 0.5, 0, 0], [0.2, 0.7, 0.1, 0], [0.1, 0.2, 0.3, 0.4]], dtype=torch.float64
    )
    tokens = torch.tensor([7, 8, 7, 7])  # A B A A
    close(measures.duplicate_token_score(weights, tokens), [math.nan, math.nan, 0.2, 0.1 + 0.3])
    close(measures.induction_score(weights, tokens), [math.nan, math.nan, 0.7, 0.2 + 0.4])


@given(sizes, st.booleans())
@settings(max_examples=25, deadline=None)
def test_every_measure_equals_a_loop_over_rows(size, causal):
    weights = random_weights(*size, causal)
    length = size[2]
    tokens = torch.randint(0, 3, (length,), generator=torch.Generator().manual_seed(size[3]))
    mask = torch.ones(length, length).tril().bool() if causal else None
    found = yardstick.measure(weights, mask, tokens)
    for layer in range(size[0]):
        for head in range(size[1]):
            expected = by_loop(weights[layer, head].tolist(), tokens.tolist(), causal)
            for name, value in expected.items():
                close(getattr(found, name)[layer, head], value)


def by_loop(matrix, tokens, causal):
    rows = {name: [] for name in yardstick.HeadMeasures.__dataclass_fields__}
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


def test_queries_are_the_last_of_the_keys_when_decoding():
    full = random_weights(1, 2, 6, 0)
    tokens = torch.tensor([1, 2, 1, 2, 1, 2])
    for last, all_rows in (
        (measures.mean_distance(full[..., -2:, :]), measures.mean_distance(full)),
        (measures.previous_token_mass(full[..., -2:, :]), measures.previous_token_mass(full)),
        (measures.induction_score(full[..., -2:, :], tokens), measures.induction_score(full, tokens)),
    ):
        close(last, all_rows[..., -2:])


def test_a_batch_of_sentences_has_tokens_of_its_own():
    weights = random_weights(2, 3, 5, 1)  # here: batch of 2, 3 heads
    tokens = torch.tensor([[1, 2, 1, 2, 1], [3, 3, 3, 4, 4]])
    together = measures.induction_score(weights, tokens[:, None])
    for b in range(2):
        close(together[b], measures.induction_score(weights[b], tokens[b]))


def test_rows_that_see_no_key_are_nan_and_are_left_out_of_averages():
    weights = torch.cat([torch.zeros(1, 3, dtype=torch.float64), BY_HAND[1:]])
    for per_row in (measures.entropy, measures.effective_keys, measures.largest_weight, measures.same_token_mass):
        values = per_row(weights)
        assert values[0].isnan()
        close(measures.over_rows(values), values[1:].mean())


def test_rows_of_padding_can_be_left_out():
    kept = torch.tensor([False, True, True])
    close(yardstick.measure(BY_HAND, rows=kept).largest_weight, (0.75 + 1 / 3) / 2)


def test_a_sinks_share_does_not_make_a_row_look_more_spread():
    close(measures.entropy(BY_HAND * 0.4), measures.entropy(BY_HAND))
    close(measures.first_token_mass(BY_HAND * 0.4), BY_HAND[:, 0] * 0.4)


@given(sizes)
@settings(max_examples=25, deadline=None)
def test_measures_stay_within_the_ranges_they_state(size):
    found = yardstick.measure(random_weights(*size))
    for name, most in {"entropy": math.log(size[2]), "effective_keys": size[2], "mean_distance": size[2] - 1}.items():
        value = getattr(found, name)
        assert ((value >= 0) & (value <= most + 1e-9)).all()
    for name in ("largest_weight", "same_token", "first_token"):
        value = getattr(found, name)
        assert ((value >= 0) & (value <= 1 + 1e-9)).all()


def test_half_precision_weights_are_measured_in_float32():
    weights = random_weights(1, 2, 8, 0).to(torch.bfloat16)
    assert measures.entropy(weights).dtype == torch.float32


@given(sizes, st.booleans(), st.integers(0, 2**31))
@settings(max_examples=40, deadline=None)
def test_padding_anywhere_leaves_every_measure_as_if_it_were_not_there(size, causal, seed):
    """Against the loop over the matrix of real tokens, put among padding that even repeats a real id."""
    length = size[2]
    alone = random_weights(*size, causal)
    source = torch.Generator().manual_seed(seed)
    ids = torch.randint(0, 3, (length,), generator=source)
    places = torch.randperm(length + 3, generator=source)[:length].sort().values
    keys = torch.zeros(length + 3, dtype=torch.bool)
    keys[places] = True
    weights = torch.rand(*size[:2], length + 3, length + 3, generator=source, dtype=torch.float64)
    weights[..., places[:, None], places] = alone
    mask = torch.ones(length + 3, length + 3).tril().bool() if causal else None
    tokens = torch.zeros(length + 3, dtype=torch.long).scatter(0, places, ids)
    found = yardstick.measure(weights, mask, tokens, rows=keys, keys=keys)
    for layer in range(size[0]):
        for head in range(size[1]):
            for name, value in by_loop(alone[layer, head].tolist(), ids.tolist(), causal).items():
                close(getattr(found, name)[layer, head], value)


@pytest.mark.parametrize("shape", [(2, 5), (2, 1, 5)])
def test_ids_have_the_batch_first_even_where_there_are_as_many_heads(shape):
    weights = random_weights(2, 2, 5, 1)  # here: batch of 2, 2 heads
    tokens = torch.tensor([[1, 2, 1, 2, 1], [3, 3, 3, 4, 4]])
    found = yardstick.measure(weights, tokens=tokens.reshape(shape))
    for b in range(2):
        for head in range(2):
            expected = by_loop(weights[b, head].tolist(), tokens[b].tolist(), True)
            close(found.induction[b, head], expected["induction"])
            close(found.duplicate_token[b, head], expected["duplicate_token"])


@pytest.mark.parametrize("shape", [(3, 5), (2, 4), (1, 1, 1, 5), (2, 3, 5)])
def test_ids_of_another_batch_or_length_are_refused(shape):
    with pytest.raises(Problem, match="token ids have shape"):
        yardstick.measure(random_weights(2, 2, 5, 1), tokens=torch.zeros(shape, dtype=torch.long))
