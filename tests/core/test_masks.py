"""Masks against definitions evaluated pair by pair."""

from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attnviz.base.message import Problem
from attnviz.core import masks
from attnviz.core.attention import attend

LENGTHS = st.integers(0, 9)
Rule = Callable[[int, int], bool]  # (query position, key position) -> may attend


def spelled_out(q_len: int, k_len: int, rule: Rule) -> torch.Tensor:
    shift = k_len - q_len
    rows = [[rule(i + shift, j) for j in range(k_len)] for i in range(q_len)]
    return torch.tensor(rows, dtype=torch.bool).reshape(q_len, k_len)


@given(q_len=LENGTHS, k_len=LENGTHS, n=st.integers(1, 5), m=st.integers(1, 4))
@settings(max_examples=25, deadline=None)
def test_every_mask_is_what_its_definition_says(q_len: int, k_len: int, n: int, m: int) -> None:
    size = (q_len, k_len)
    both = {"both_sides": True}
    rules: list[tuple[torch.Tensor, Rule]] = [
        (masks.everything(*size), lambda i, j: True),
        (masks.causal(*size), lambda i, j: j <= i),
        (masks.sliding_window(*size, n), lambda i, j: i - n < j <= i),
        (masks.sliding_window(*size, n, **both), lambda i, j: abs(i - j) < n),
        (masks.prefix(*size, n), lambda i, j: j <= i or j < n),
        (masks.dilated(*size, n), lambda i, j: j <= i and (i - j) % n == 0),
        (masks.dilated(*size, n, **both), lambda i, j: (i - j) % n == 0),
        (masks.dilated(*size, n, window=m), lambda i, j: j <= i and (i - j) % n == 0 and (i - j) // n < m),
    ]
    for number, (mask, rule) in enumerate(rules):
        assert torch.equal(mask, spelled_out(q_len, k_len, rule)), number


def test_padding_hides_the_keys_that_are_not_real() -> None:
    right = masks.padding(3, lengths=[3, 1])
    assert right.shape == (2, 1, 3, 3)
    assert right[:, 0, 0].int().tolist() == [[1, 1, 1], [1, 0, 0]]
    assert masks.padding(3, lengths=2, side="left")[0].int().tolist() == [0, 1, 1]
    attention_mask = torch.tensor([[1, 1, 1], [1, 0, 0]])
    assert torch.equal(masks.padding(3, attention_mask=attention_mask), right)
    assert torch.equal(masks.padding(3, attention_mask=attention_mask[1]), right[1, 0])
    assert masks.padding(2, 3, attention_mask=attention_mask).shape == (2, 1, 2, 3)


def test_packed_documents_attend_as_if_each_stood_alone() -> None:
    torch.manual_seed(0)
    q, k, v = (torch.randn(2, 7, 4, dtype=torch.float64) for _ in range(3))
    packed = attend(q, k, v, mask=masks.documents(7, lengths=[3, 4]) & masks.causal(7)).output
    alone = [
        attend(*(x[:, part] for x in (q, k, v)), mask=masks.causal(n)).output
        for part, n in ((slice(0, 3), 3), (slice(3, 7), 4))
    ]
    torch.testing.assert_close(packed, torch.cat(alone, dim=1))


def test_documents_by_id_are_documents_by_length() -> None:
    by_length = masks.documents(3, 5, [2, 3])
    ids = torch.tensor([7, 7, 1, 1, 1])
    assert torch.equal(masks.documents(3, 5, ids=ids), by_length)
    assert torch.equal(masks.documents(3, 5, ids=ids.expand(2, -1))[1, 0], by_length)


@given(q_len=LENGTHS, k_len=LENGTHS, each=st.integers(0, 6), both_sides=st.booleans(), seed=st.integers(0, 99))
@settings(max_examples=25, deadline=None)
def test_each_query_gets_the_requested_number_of_random_keys_among_those_it_may_see(
    q_len: int, k_len: int, each: int, both_sides: bool, seed: int
) -> None:
    visible = masks.everything(q_len, k_len) if both_sides else masks.causal(q_len, k_len)
    drawn, again = (masks.sample_keys(visible, each, torch.Generator().manual_seed(seed)) for _ in range(2))
    assert not (drawn & ~visible).any()
    assert torch.equal(drawn.sum(-1), visible.sum(-1).clamp(max=each))
    assert torch.equal(drawn, again)


@pytest.mark.parametrize(
    "wrong, sentence",
    [
        (lambda: masks.sliding_window(3, None, 0), "window=0 must be at least 1"),
        (lambda: masks.dilated(3, None, 0), "dilation=0 must be at least 1"),
        (lambda: masks.causal(-1), "q_len=-1 must be at least 0"),
        (lambda: masks.padding(3, lengths=[4]), r"lengths=\[4\] must lie between 0 and k_len=3"),
        (lambda: masks.padding(3), "either lengths or an attention_mask"),
        (lambda: masks.padding(3, attention_mask=torch.ones(4)), r"attention_mask has shape \(4,\)"),
        (lambda: masks.padding(3, lengths=1, side="top"), "side=top must be"),
        (lambda: masks.documents(3, lengths=[1, 1]), r"document lengths \[1, 1\] must add up to k_len=3"),
        (lambda: masks.documents(3, lengths=[0, 3]), r"lengths \[0, 3\] must be whole numbers of at least 1"),
        (lambda: masks.documents(3), "either lengths or ids"),
    ],
)
def test_invalid_arguments_are_refused_in_one_sentence(wrong: Callable[[], object], sentence: str) -> None:
    with pytest.raises(Problem, match=sentence):
        wrong()
