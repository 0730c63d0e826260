"""The softmax Jacobian: formula and autograd agree, and simple cases have the eigenvalues of their closed form."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attnviz.pages.scaling.maths import jacobian


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(-50, 50), min_size=1, max_size=12))
def test_formula_and_autograd_agree(logits):
    result = jacobian.run(np.array(logits))
    assert result.difference < 1e-14
    full = torch.autograd.functional.jacobian(lambda z: z.softmax(-1), torch.tensor(logits, dtype=torch.float64))
    assert np.allclose(result.matrix, full.numpy(), atol=1e-14)


@pytest.mark.parametrize("n", [2, 5, 32])
def test_even_weights_have_eigenvalue_one_over_n_n_minus_1_times_and_0_once(n):
    values = jacobian.run(np.zeros(n)).eigenvalues
    assert values[:-1] == pytest.approx(1 / n)
    assert values[-1] == pytest.approx(0, abs=1e-15)


@pytest.mark.parametrize("p", [0.5, 0.9, 0.999])
def test_two_keys_have_eigenvalue_two_p_one_minus_p(p):
    values = jacobian.run(np.array([np.log(p / (1 - p)), 0.0])).eigenvalues
    assert values == pytest.approx([2 * p * (1 - p), 0], abs=1e-12)


def test_one_hot_weights_let_nothing_through():
    result = jacobian.run(np.array([800.0, 0.0, 0.0]))
    assert np.array_equal(result.matrix, np.zeros((3, 3)))
    assert result.largest == 0


def test_rows_and_columns_add_up_to_0_and_no_eigenvalue_exceeds_a_half():
    result = jacobian.run(np.random.default_rng(0).normal(size=20) * 3)
    assert result.matrix.sum(0) == pytest.approx(0, abs=1e-15)
    assert result.matrix.sum(1) == pytest.approx(0, abs=1e-15)
    assert result.eigenvalues.min() >= 0
    assert result.largest <= 0.5
    assert result.norm == pytest.approx(np.linalg.norm(result.matrix))


def test_of_a_long_row_the_largest_weights_are_shown_and_the_norm_is_of_all():
    logits = np.random.default_rng(1).normal(size=100)
    result = jacobian.run(logits)
    p = np.exp(logits) / np.exp(logits).sum()
    assert len(result.keys) == jacobian.MOST_SHOWN
    assert set(result.keys) == set(np.argsort(p)[-jacobian.MOST_SHOWN :])
    assert result.shown == pytest.approx(np.sort(p)[-jacobian.MOST_SHOWN :].sum())
    assert result.norm == pytest.approx(np.linalg.norm(np.diag(p) - np.outer(p, p)))


def test_a_single_key_has_nothing_to_answer_with():
    result = jacobian.run(np.array([3.0]))
    assert (result.matrix, result.norm, result.largest) == (pytest.approx(0), 0, 0)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([1, 2, 7, 40, 200]), st.sampled_from([0.1, 1.0, 5.0]))
def test_the_eigenvalues_are_those_of_the_whole_matrix_and_not_of_the_part_that_is_drawn(seed, n, spread):
    logits = np.random.default_rng(seed).normal(0, spread, n)
    p = torch.tensor(logits, dtype=torch.float64).softmax(-1)
    whole = np.linalg.eigvalsh(np.diag(p.numpy()) - np.outer(p.numpy(), p.numpy()))[::-1]
    found = jacobian.run(logits).eigenvalues
    assert found == pytest.approx(whole[: len(found)], abs=1e-14)
