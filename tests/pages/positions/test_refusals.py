"""Numbers and words that make no sense are refused in a sentence that names them."""

import pytest

from attnviz.base.message import Problem
from attnviz.pages.positions.maths import (
    position_scores,
    qk_norm_growth,
    rotation,
    shuffled_words,
    video,
)

Longer, Scores = rotation.LongerConfig, position_scores.Config
Norm, Words, Split = qk_norm_growth.Config, shuffled_words.Config, video.SplitConfig


@pytest.mark.parametrize(
    "run, config, sentence",
    [
        (rotation.longer, Longer(factor=0.5), "factor=0.5 must lie between 1 and 128"),
        (rotation.longer, Longer(width=7), "the rotated width 7 must be even"),
        (rotation.longer, Longer(base=1.0), "base=1.0 must lie between 2"),
        (rotation.longer, Longer("cubic"), "cubic must be one of none, linear"),
        (rotation.turn, rotation.PairConfig(pair=32), "pair=32 must lie between 0 and 31"),
        (position_scores.run, Scores("sinusoidal", width=5), "width=5 must be even"),
        (position_scores.run, Scores(n=1), "n=1 must lie between 2 and 256"),
        (position_scores.run, Scores("alibi", heads=4, head=4), "head=4 must lie between 0 and 3"),
        (position_scores.run, Scores("none"), "none must be one of sinusoidal, learned"),
        (qk_norm_growth.run, Norm("layer"), "layer must be one of head, full"),
        (qk_norm_growth.run, Norm(growth=0.0), "growth=0.0 must lie between"),
        (shuffled_words.run, Words(()), "One word has no order"),
        (shuffled_words.run, Words(("alone",)), "One word has no order"),
        (shuffled_words.run, Words(("w",) * 49), "has 49 words; .* at most 48"),
        (shuffled_words.run, Words(("a", "b"), order="sideways"), "sideways must be one of reverse, swap"),
        (shuffled_words.run, Words(("a", "b"), "clock"), "clock must be one of none, sinusoidal"),
        (video.split, Split("own", 64, (30, 30, 30)), r"need 30 \+ 30 \+ 30 = 90 numbers, and the head has 64"),
        (video.split, Split(at=(3, 0, 0)), "time=3 must lie between 0 and 2"),
        (video.split, Split(sizes=(64, 64, 64), at=(0, 0, 0)), "64 × 64 × 64 patches are more than 4,096"),
        (video.split, Split("halves"), "halves must be one of rest"),
        (video.attention, video.AttentionConfig(at=(0, 4, 0)), "row=4 must lie between 0 and 3"),
    ],
)
def test_what_makes_no_sense_is_named(run, config, sentence):
    with pytest.raises(Problem, match=sentence):
        run(config)
