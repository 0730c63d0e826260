"""Masks against definitions evaluated pair by pair, and pair counts against counting the matrix."""

from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attnviz.base.message import Problem
from attnviz.core import masks, patterns
from attnviz.core.attention import attend
from attnviz.core.patterns import Pattern

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
        (patterns.prefix(*size, n).tensor(), lambda i, j: j <= i or j < n),
        (patterns.dilated(*size, n).tensor(), lambda i, j: j <= i and (i - j) % n == 0),
        (patterns.dilated(*size, n, **both).tensor(), lambda i, j: (i - j) % n == 0),
        (
            patterns.dilated(*size, n, window=m).tensor(),
            lambda i, j: j <= i and (i - j) % n == 0 and (i - j) // n < m,
        ),
        (patterns.block_sparse(*size, n, neighbours=m).tensor(), lambda i, j: j <= i and i // n - j // n <= m),
        (patterns.block_sparse(*size, n, neighbours=m, **both).tensor(), lambda i, j: abs(i // n - j // n) <= m),
        (patterns.global_tokens(*size, n).tensor(), lambda i, j: j < n and j <= i),
        (patterns.global_tokens(*size, n, **both).tensor(), lambda i, j: j < n or 0 <= i < n),
    ]
    for number, (mask, rule) in enumerate(rules):
        assert torch.equal(mask, spelled_out(q_len, k_len, rule)), number


PATTERNS: list[Callable[[int, int], Pattern]] = [
    patterns.causal,
    lambda q, k: patterns.sliding_window(q, k, 3),
    lambda q, k: patterns.sliding_window(q, k, 2, both_sides=True),
    lambda q, k: patterns.prefix(q, k, 2),
    lambda q, k: patterns.dilated(q, k, 2),
    lambda q, k: patterns.dilated(q, k, 3, window=2, both_sides=True),
    lambda q, k: patterns.block_sparse(q, k, 2),
    lambda q, k: patterns.global_tokens(q, k, 2, both_sides=True),
    lambda q, k: patterns.padding(q, k, k // 2, side="left"),
    lambda q, k: patterns.padding(q, k, [k, k // 2]),
    lambda q, k: patterns.documents(q, k, [k - 1, 1] if k > 1 else [1] * k),
]
SOME = st.sampled_from(PATTERNS)


@given(q_len=LENGTHS, k_len=LENGTHS, one=SOME, two=SOME, three=SOME)
@settings(max_examples=25, deadline=None)
def test_combinations_are_those_of_the_matrices_and_counts_are_exact(q_len, k_len, one, two, three) -> None:  # type: ignore[no-untyped-def]
    a, b, c = (make(q_len, k_len) for make in (one, two, three))
    matrices = a.tensor(), b.tensor(), c.tensor()
    for pattern, matrix in (
        (a, matrices[0]),
        (a & b, matrices[0] & matrices[1]),
        (a | b | c, matrices[0] | matrices[1] | matrices[2]),
        ((a | b) & c, (matrices[0] | matrices[1]) & matrices[2]),
        (a & b | c, matrices[0] & matrices[1] | matrices[2]),
    ):
        assert torch.equal(pattern.tensor(), matrix)
        if matrix.numel():
            assert torch.equal(pattern.pairs_per_tile(1).broadcast_to(matrix.shape), matrix.long())


def test_a_million_tokens_are_counted_without_the_matrix() -> None:
    n, w = 1_000_000, 4_096
    assert patterns.causal(n).pairs_per_tile(n) == n * (n + 1) // 2
    assert patterns.sliding_window(n, None, w).pairs_per_tile(n) == n * w - w * (w - 1) // 2
    longformer = patterns.sliding_window(n, None, w, both_sides=True) | patterns.global_tokens(
        n, None, 1, both_sides=True
    )
    within = n * (2 * w - 1) - w * (w - 1)
    assert longformer.pairs_per_tile(n) == within + 2 * (n - w)


def test_the_last_query_is_at_the_position_of_the_last_key() -> None:
    assert masks.causal(2, 4).int().tolist() == [[1, 1, 1, 0], [1, 1, 1, 1]]
    assert torch.equal(masks.causal(2, 5), masks.causal(5)[-2:])
    assert masks.causal(3, 2).int().tolist() == [[0, 0], [1, 0], [1, 1]]


def test_padding_hides_the_keys_that_are_not_real() -> None:
    right = patterns.padding(3, None, [3, 1]).tensor()
    assert right.shape == (2, 1, 3, 3)
    assert right[:, 0, 0].int().tolist() == [[1, 1, 1], [1, 0, 0]]
    assert patterns.padding(3, None, 2, side="left").tensor()[0].int().tolist() == [0, 1, 1]


def test_packed_documents_attend_as_if_each_stood_alone() -> None:
    torch.manual_seed(0)
    q, k, v = (torch.randn(2, 7, 4, dtype=torch.float64) for _ in range(3))
    packed = attend(q, k, v, mask=patterns.documents(7, None, [3, 4]).tensor() & masks.causal(7)).output
    alone = [
        attend(*(x[:, part] for x in (q, k, v)), mask=masks.causal(n)).output
        for part, n in ((slice(0, 3), 3), (slice(3, 7), 4))
    ]
    torch.testing.assert_close(packed, torch.cat(alone, dim=1))


@given(q_len=LENGTHS, k_len=LENGTHS, each=st.integers(0, 6), both_sides=st.booleans(), seed=st.integers(0, 99))
@settings(max_examples=25, deadline=None)
def test_each_query_gets_the_requested_number_of_random_keys_among_those_it_may_see(
    q_len: int, k_len: int, each: int, both_sides: bool, seed: int
) -> None:
    drawn = masks.random(q_len, k_len, each, seed, both_sides=both_sides)
    visible = masks.everything(q_len, k_len) if both_sides else masks.causal(q_len, k_len)
    assert not (drawn & ~visible).any()
    assert torch.equal(drawn.sum(-1), visible.sum(-1).clamp(max=each))
    assert torch.equal(drawn, masks.random(q_len, k_len, each, seed, both_sides=both_sides))


@pytest.mark.parametrize(
    "wrong, sentence",
    [
        (lambda: masks.sliding_window(3, None, 0), "window=0 must be at least 1"),
        (lambda: patterns.dilated(3, None, 0), "dilation=0 must be at least 1"),
        (lambda: masks.causal(-1), "q_len=-1 must be at least 0"),
        (lambda: patterns.padding(3, None, [4]), r"lengths=\[4\] must lie between 0 and k_len=3"),
        (lambda: patterns.padding(3, None, 1, side="top"), "side='top' must be"),
        (lambda: patterns.documents(3, None, [1, 1]), r"document lengths \[1, 1\] must add up to k_len=3"),
        (lambda: patterns.causal(2) & patterns.causal(3), r"\(2, 2\) does not combine with one of \(3, 3\)"),
    ],
)
def test_invalid_arguments_are_refused_in_one_sentence(wrong: Callable[[], object], sentence: str) -> None:
    with pytest.raises(Problem, match=sentence):
        wrong()
