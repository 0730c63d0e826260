import math

import pytest
import torch
from hypothesis import strategies as st

from attnviz.core import measures

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


def test_entropy_is_the_same_from_scores():
    scores = torch.tensor([[5.0, -1e30, -1e30], [0, math.log(3), -1e30], [-700, -700, -700]], dtype=torch.float64)
    close(measures.entropy_of_scores(scores, scores.softmax(-1)), measures.entropy(BY_HAND))


def test_total_variation_of_rows_worked_by_hand():
    even = torch.tensor(EVEN, dtype=torch.float64)
    close(measures.total_variation(BY_HAND, even.expand(3, 3)), [2 / 3, 0.75 - 1 / 3, 0])
    close(measures.total_variation(BY_HAND[0], BY_HAND[0].flip(0)), 1)


def test_masses_of_a_3x3_case_worked_by_hand():
    close(measures.previous_token_mass(BY_HAND), [math.nan, 0.25, 1 / 3])
    close(measures.offset_mass(BY_HAND, 0), [1, 0.75, 1 / 3])
    close(measures.offset_mass(BY_HAND, 1), [0, 0, math.nan])
    close(measures.first_token_mass(BY_HAND), [1, 0.25, 1 / 3])


def test_induction_and_duplicates_of_a_4x4_case_worked_by_hand():
    weights = torch.tensor(
        [[1, 0, 0, 0], [0.5, 0.5, 0, 0], [0.2, 0.7, 0.1, 0], [0.1, 0.2, 0.3, 0.4]], dtype=torch.float64
    )
    tokens = torch.tensor([7, 8, 7, 7])  # A B A A
    close(measures.duplicate_token_score(weights, tokens), [math.nan, math.nan, 0.2, 0.1 + 0.3])
    close(measures.induction_score(weights, tokens), [math.nan, math.nan, 0.7, 0.2 + 0.4])


def test_queries_are_the_last_of_the_keys_when_decoding():
    full = random_weights(1, 2, 6, 0)
    tokens = torch.tensor([1, 2, 1, 2, 1, 2])
    for last, all_rows in (
        (measures.previous_token_mass(full[..., -2:, :]), measures.previous_token_mass(full)),
        (measures.induction_score(full[..., -2:, :], tokens), measures.induction_score(full, tokens)),
    ):
        close(last, all_rows[..., -2:])


def test_rows_that_see_no_key_are_nan_and_are_left_out_of_averages():
    weights = torch.cat([torch.zeros(1, 3, dtype=torch.float64), BY_HAND[1:]])
    for per_row in (measures.entropy, measures.effective_keys, measures.first_token_mass):
        values = per_row(weights)
        assert values[0].isnan()
        close(measures.mean_over_rows(values), values[1:].mean())


def test_a_sinks_share_does_not_make_a_row_look_more_spread():
    close(measures.entropy(BY_HAND * 0.4), measures.entropy(BY_HAND))
    close(measures.first_token_mass(BY_HAND * 0.4), BY_HAND[:, 0] * 0.4)


def test_the_share_that_moved_is_the_mean_over_all_rows_one_without_a_choice_among_them():
    before = torch.tensor([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.2, 0.3, 0.5]])
    after = torch.tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.2, 0.6, 0.2]])
    assert measures.weight_moved(before, after).item() == pytest.approx((0 + 0.5 + 0.3) / 3)
