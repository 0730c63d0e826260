"""The building page's lessons: attention or a fixed matrix, why softmax, why several heads, which sizes must agree."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from attnviz.pages.build.maths import size_mismatches, whys

random = np.random.default_rng(0)


def rows(*shape: int) -> tuple[tuple[float, ...], ...]:
    return tuple(map(tuple, random.normal(size=shape).tolist()))


MIXING = whys.MixingConfig(rows(4, 4), rows(4, 3), rows(4, 3), rows(4, 4), (2, 0, 3, 1))


def test_attention_follows_a_permutation_and_a_matrix_learned_by_heart_does_not() -> None:
    cases = {case.name: case for case in whys.compare_mixing(MIXING).cases}
    assert cases["permuted"].equivariant == pytest.approx(0, abs=1e-12)
    assert cases["same"].memorised == pytest.approx(0, abs=1e-9)
    assert cases["permuted"].memorised > 0.05
    assert cases["other"].memorised > 0.05
    assert 0 < cases["other"].learned < cases["other"].memorised


@pytest.mark.parametrize("name, words", [("longer", 5), ("shorter", 3)])
def test_another_length_fits_attention_and_not_the_matrix(name: str, words: int) -> None:
    case = next(c for c in whys.compare_mixing(MIXING).cases if c.name == name)
    assert case.weights.shape == (words, words)
    assert case.memorised is None
    with pytest.raises(RuntimeError) as torchs_own:
        torch.zeros(4, 4) @ torch.zeros(words, 4)
    assert case.error == str(torchs_own.value)


def test_only_softmax_has_rows_of_one_a_gradient_and_no_growth() -> None:
    result = whys.measure_normalisers(np.array([1.2, -0.4, 0.3, 0.9]), random.normal(size=(4, 3)))
    good = {
        name
        for name, m in result.items()
        if abs(m.weights.sum() - 1) < 1e-9 and m.gradient > 0 and m.weights.min() >= 0 and np.ptp(m.growth) < 1e-9
    }
    assert good == {"softmax"}
    assert result["argmax"].gradient == 0
    assert result["softmax"].shift == pytest.approx(0, abs=1e-12)


def test_the_gradient_is_that_of_finite_differences() -> None:
    scores, values = np.array([1.2, -0.4, 0.3]), random.normal(size=(3, 2))
    jacobian = []
    for i in range(3):
        step = np.eye(3)[i] * 1e-6
        up, down = (whys.measure_normalisers(scores + s, values)["softmax"].weights @ values for s in (step, -step))
        jacobian.append((up - down) / 2e-6)
    assert whys.measure_normalisers(scores, values)["softmax"].gradient == pytest.approx(
        np.linalg.norm(jacobian), rel=1e-5
    )


@pytest.mark.parametrize("n_heads", [2, 3, 4])
def test_one_head_loses_what_several_heads_keep(n_heads: int) -> None:
    result = whys.compare_heads(whys.HeadsConfig(d_model=12, n_heads=n_heads, share=1 / n_heads))
    assert result.blur_heads.max() < 1e-6
    assert result.blur_one.mean() == pytest.approx(1 - 1 / n_heads, abs=0.03)


@pytest.mark.parametrize("mistake", list(size_mismatches.MISTAKES))
def test_what_is_refused_here_is_refused_by_torch_and_by_the_code_shown(mistake: str) -> None:
    sizes = replace(size_mismatches.Sizes(), **size_mismatches.MISTAKES[mistake])
    result = size_mismatches.run(sizes)
    fine = all(rule.holds for rule in result.rules if rule.holds is not None)
    assert fine == (mistake == "none")
    assert (result.torch_error is None) == fine
    assert (result.our_error is None) == fine
    if fine:
        exec(result.code, {"print": lambda shape: None})
    else:
        with pytest.raises(RuntimeError):
            exec(result.code, {})
