"""The building page's lessons: fixed matrices, softmax, several heads, sizes that agree, a text and a picture."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from PIL import Image
from torch.testing import assert_close

from attnviz.core.heads import HeadLayout
from attnviz.models.pictures.sources import FOLDER
from attnviz.pages.build.maths import size_mismatches, two_sources, whys
from tests.pages.conftest import ran

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
    assert (cases["longer"].weights.shape, cases["longer"].memorised) == ((5, 5), None), "it fits attention alone"
    with pytest.raises(RuntimeError) as torchs_own:
        torch.zeros(4, 4) @ torch.zeros(5, 4)
    assert cases["longer"].error == str(torchs_own.value)


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
    theirs = torch.nn.MultiheadAttention(12, n_heads, bias=False)
    assert result.parameters == sum(p.numel() for p in theirs.parameters())


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


CONFIGS = [
    two_sources.Config(),
    two_sources.Config(norms="text", digit=8, factor=0.5),
    two_sources.Config(norms="none", seed=0),
    two_sources.Config(layout=HeadLayout(6, 4, 2, 3, 5), tokens=("one",), text=("a", "b"), factor=2.0),
    two_sources.Config(layout=HeadLayout(8, 1), digit=0, factor=0.0),
    two_sources.Config(photo="flower", layout=HeadLayout(8, 4, 2)),
]


@pytest.mark.parametrize("config", CONFIGS)
def test_text_and_picture_are_summed_as_by_the_program_which_needs_torch_alone(config):
    result = two_sources.run(config)
    names, _printed = ran(two_sources.program(result))
    assert_close(torch.from_numpy(result.output), names["output"], atol=1e-4, rtol=1e-4)
    np.testing.assert_allclose(result.on_text.sum(-1), 1, atol=1e-5)
    np.testing.assert_allclose(result.on_picture.sum(-1), 1, atol=1e-5)
    np.testing.assert_allclose(result.from_text + result.from_picture, result.output, atol=1e-4)
    assert result.fused_difference < 1e-4


def test_normed_keys_of_both_sources_are_equally_long_and_to_leave_one_norm_out_moves_the_output_so_far():
    both, text = two_sources.run(CONFIGS[0]), two_sources.run(replace(CONFIGS[0], norms="text"))
    width = np.sqrt(CONFIGS[0].layout.n_heads * CONFIGS[0].layout.qk_width)
    assert both.key_lengths[0] == pytest.approx(width, rel=1e-3)
    assert both.without_ink == sum(not patch.any() for patch in both.patches)
    inked = 1 - both.without_ink / len(both.patches)
    assert both.key_lengths[1] == pytest.approx(width * inked, rel=1e-3)  # an empty patch's key stays 0
    assert text.key_lengths[1] > 3 * text.key_lengths[0]
    assert text.on_picture.max(-1).mean() > both.on_picture.max(-1).mean()
    assert both.output_change == pytest.approx(np.abs(both.output - text.output).max(), abs=1e-6)
    assert both.output_change > 0.1


def test_a_photograph_is_257_tokens_the_first_of_which_is_the_mean_of_the_others():
    made = two_sources.run(two_sources.Config(photo="temple"))
    assert made.on_picture.shape == (2, 4, 257)
    np.testing.assert_allclose(made.patches[0], made.patches[1:].mean(0), atol=1e-5)
    top_left = made.pixels[:2, :2].ravel()
    np.testing.assert_array_equal(made.patches[1], top_left)
    light = np.asarray(Image.open(FOLDER / "photographs" / "temple.jpg").convert("RGB"), float).mean(-1)
    middle = light[:, (light.shape[1] - light.shape[0]) // 2 :][:, : light.shape[0]]
    assert made.pixels.mean() / 16 == pytest.approx(middle.mean() / 255, abs=0.02)
