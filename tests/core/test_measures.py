import math

import torch
from hypothesis import strategies as st

from attnviz.core import measures

EVEN = [1 / 3, 1 / 3, 1 / 3]
BY_HAND = torch.tensor([[1, 0, 0], [0.25, 0.75, 0], EVEN], dtype=torch.float64)
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
    close(measures.entropy_share(BY_HAND, torch.ones(3, 3).tril().bool()), [math.nan, by_hand[1] / math.log(2), 1])
    close(measures.entropy_share(BY_HAND), [0, by_hand[1] / math.log(3), 1])


def test_queries_are_the_last_of_the_keys_when_decoding():
    full = random_weights(1, 2, 6, 0)
    tokens = torch.tensor([1, 2, 1, 2, 1, 2])
    for last, all_rows in (
        (measures.previous_token_mass(full[..., -2:, :]), measures.previous_token_mass(full)),
        (measures.induction_score(full[..., -2:, :], tokens), measures.induction_score(full, tokens)),
    ):
        close(last, all_rows[..., -2:])


def test_a_sinks_share_does_not_make_a_row_look_more_spread():
    close(measures.entropy(BY_HAND * 0.4), measures.entropy(BY_HAND))
    close(measures.first_token_mass(BY_HAND * 0.4), BY_HAND[:, 0] * 0.4)
