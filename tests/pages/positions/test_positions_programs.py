"""The programs that the page shows, run: they print the page's own numbers."""

import ast

import pytest

from attnviz.base.message import Message
from attnviz.pages.positions.maths import (
    position_scores,
    qk_norm_growth,
    rotation,
    shuffled_words,
    video,
)
from attnviz.pages.positions.panels import changed_rope as changed_rope_panel
from attnviz.runs import changed_rope
from attnviz.runs.model_run import Request, run_model
from tests.pages.conftest import ran

WORDS = ("the", "cat", "saw", "the", 'dog "Rex"')
ORDERS = [
    shuffled_words.Config(WORDS, kind, order, causal, seed)
    for kind in position_scores.KINDS
    for order, causal, seed in (("shuffle", True, 7),)
]
SCORES = [
    position_scores.Config(kind, width, 100.0, 24, content, shift, 6, 2, both, 3)
    for kind in position_scores.ENCODINGS
    for width, content, shift, both in ((16, "same", 5, True), (8, "random", 700, False))
]
PAIRS = [rotation.PairConfig(), rotation.PairConfig(8, 50.0, 3, 500, 2, 4)]
LONGER = [
    rotation.LongerConfig(),
    rotation.LongerConfig("ntk", 1.0, 100, 2, 30.0),
    rotation.LongerConfig("linear", 16.0, 8192, 128, 5e5),
]
VIDEOS = [
    *(video.SplitConfig(split) for split in video.SPLITS),
    video.SplitConfig("own", 16, (7, 0, 4), (2, 3, 5), (1, 0, 4), 50.0),
]
NORMS = [qk_norm_growth.Config(norm, 4.0, width, 2) for norm in qk_norm_growth.NORMS for width in (8, 14)]


@pytest.mark.parametrize("config", ORDERS, ids=lambda c: f"{c.kind}-{c.order}")
def test_the_program_of_the_first_section_prints_the_change_of_the_outputs(config):
    found, printed = ran(shuffled_words.program(config))
    result = shuffled_words.run(config)
    expected = result.moved[result.order]  # the program prints words in the other order
    assert found["moved"].numpy() == pytest.approx(expected, rel=1e-6, abs=1e-12)
    assert printed.startswith("largest change of an output: ")


@pytest.mark.parametrize("config", SCORES, ids=lambda c: f"{c.kind}-{c.content}")
def test_the_program_of_the_second_section_prints_its_scores(config):
    found, printed = ran(position_scores.program(config))
    result = position_scores.run(config)
    head = config.head if config.kind in position_scores.BIASED else 0
    assert found["found"][head].numpy() == pytest.approx(result.scores, rel=1e-9, abs=1e-9)
    if isinstance(result.shifted, Message):
        assert found["shifted"] is None
        assert "has no learned vector" in printed
    else:
        assert found["shifted"] == pytest.approx(result.shifted, rel=1e-6, abs=1e-10)
    assert f"   0 back: mean score {result.at(0):.4f}" in printed


def test_the_program_reads_a_trained_table_where_the_page_does(minilm):
    config = position_scores.Config("learned", n=40, shift=100)
    found, _ = ran(position_scores.program(config, trained=True))
    result = position_scores.run(config, position_scores.trained_table(minilm))
    assert found["found"][0].numpy() == pytest.approx(result.scores, rel=1e-9)
    assert found["shifted"] == pytest.approx(result.shifted, rel=1e-9)


@pytest.mark.parametrize("config", PAIRS)
def test_the_program_of_the_third_section_multiplies_complex_numbers(config):
    found, printed = ran(rotation.pair_program(config))
    result = rotation.turn(config)
    assert (found["product"], found["score"]) == pytest.approx((result.product, result.score), rel=1e-9)
    assert f"part of q.k: {result.product:.4g}; all pairs: {result.score:.4g}, and {result.unturned:.4g}" in printed
    assert f"{result.angle:.4g} rad in all" in printed


@pytest.mark.parametrize("config", LONGER)
def test_the_program_of_the_fourth_section_prints_every_wavelength(config):
    found, printed = ran(rotation.longer_program(config))
    result = rotation.longer(config)
    assert list(found["found"]) == list(result.methods)
    for method, made in result.methods.items():
        assert found["found"][method].wavelengths == pytest.approx(made.wavelengths, rel=1e-9)
        assert f"{made.new} pairs at new angles, {made.slowed} slowed" in printed, "the numbers of the verdict"
    assert f"{result.methods['yarn'].wavelengths[-1]:,.0f} positions" in printed


@pytest.mark.parametrize("config", VIDEOS, ids=lambda c: c.split)
def test_the_program_of_the_fifth_section_prints_its_scores(config):
    found, _ = ran(video.split_program(config))
    result = video.split(config)
    assert (tuple(found["rotated"]), found["left"]) == (result.rotated, result.left)
    assert found["scores"].numpy() == pytest.approx(result.scores, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    "config",
    [
        changed_rope.Config(),
        changed_rope.Config(3, 5, "base", 500.0, "layer"),
        changed_rope.Config(0, 1, "removed", where="all"),
    ],
)
def test_the_program_of_the_sixth_section_prints_the_last_tokens_weights(smollm2, config):
    text = 'A "cat" sat.'
    found, printed = ran(changed_rope_panel.program("smollm2-135m", text, config))
    result = changed_rope.run(run_model(Request("smollm2-135m", text), smollm2), smollm2, config)
    assert found["weights"][0].numpy() == pytest.approx(result.before, abs=1e-6)
    assert found["weights"][1].numpy() == pytest.approx(result.after, abs=1e-5)
    said = (result.moved, *result.previous, *result.first, result.tokens_moved)
    for share in said:
        assert any(f"{near:.1%}" in printed for near in (share, share - 2e-5, share + 2e-5)), share
    likeliest = [max(getattr(each, when) for each in result.tokens) for when in ("before", "after")]
    assert [chance for _token, chance in ast.literal_eval(printed.splitlines()[-1])] == pytest.approx(
        likeliest, abs=1e-4
    )


@pytest.mark.parametrize("config", NORMS)
def test_the_program_of_the_seventh_section_prints_logits_and_entropies(config):
    _, printed = ran(qk_norm_growth.program(config))
    result = qk_norm_growth.run(config)
    for name, curves in (("without", result.without), ("with", result.normed)):
        assert f"{name} the norm: largest |logit| {curves.largest:.4g}, entropy {curves.spread:.1%}" in printed


@pytest.mark.parametrize("turned", [True, False])
def test_the_program_below_the_video_prints_the_row(turned):
    config = video.AttentionConfig(digit=3, at=(3, 0, 6), head=1, turned=turned)
    found, _ = ran(video.attention_program(config))
    row = found["weights"][config.head, config.query].numpy()
    assert row == pytest.approx(video.attention(config).row.ravel(), abs=1e-5)
