"""The picture of lessons 1 to 3 as a file: what stands on it at each stage is what torch computes."""

from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest
import torch

from attnviz.base.query_numbers import ChangedWord, QueryNumbers
from attnviz.canvas.attention_story import STAGES, StoryView
from attnviz.core import masks
from attnviz.core.attention import attend
from attnviz.live.scene_figure import FrameOptions, SceneFigure
from tests.svg_reading import texts

WORDS = ("one", "two", "three", "four", "five")
ROW, WIDTH = 3, 8


def numbers_of(n: int = len(WORDS), row: int = ROW) -> tuple[QueryNumbers, torch.Tensor, torch.Tensor]:
    source = torch.Generator().manual_seed(3)
    q, k, v = (torch.randn(1, n, WIDTH, generator=source) for _ in range(3))
    stages = attend(q, k, v, masks.causal(n))
    weights = np.where(masks.causal(n).numpy(), stages.weights[0].numpy(), -1).astype(np.float32)
    numbers = QueryNumbers(
        WORDS[:n],
        [i > 0 for i in range(n)],
        row,
        *(tensor[0].numpy() for tensor in (v, q[:, row], k, v)),
        masks.causal(n)[row].numpy(),
        weights,
        WIDTH**-0.5,
        ChangedWord(0, ("other", *WORDS[1:n]), [1 / n] * n),
    )
    return numbers, stages.scores[0, row], stages.weights[0, row]


def written(numbers: QueryNumbers, *track: str, pair: int = 0, terms: int = WIDTH) -> list[str]:
    view = StoryView(numbers, track, 1, pair, numbers.scale, terms)
    return texts(ElementTree.fromstring(SceneFigure((view,), film=view).to_svg(brings_font=False)))


def number_beside(said: list[str], word: str) -> float:
    return float(said[said.index(word) + 1].replace("−", "-").strip("%<>"))


def test_scores_scaled_scores_and_weights_are_those_of_torch():
    numbers, scores, weights = numbers_of()
    for stage, values, step in (
        ("scores", scores, 0.006),
        ("scaled", scores * WIDTH**-0.5, 0.006),
        ("weights", 100 * weights, 0.11),
    ):
        said = written(numbers, stage)
        for word, value in zip(WORDS, values.tolist(), strict=True):
            assert number_beside(said, word) == pytest.approx(value, abs=step), (stage, word)
    assert "masked" in written(numbers, "masked")
    assert any("Σ" in text and "100%" in text for text in written(numbers, "weights"))


def test_a_score_of_fewer_products_adds_up_fewer():
    numbers, _scores, _weights = numbers_of()
    said = written(numbers, "scores", terms=2)
    for word, key in zip(WORDS, numbers.k, strict=True):
        assert number_beside(said, word) == pytest.approx(float(numbers.q[:2] @ key[:2]), abs=0.006)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_every_stage_is_a_figure_and_every_two_a_film(n):
    numbers, _scores, _weights = numbers_of(n, n - 1)
    for first, second in pairwise(STAGES):
        view = StoryView(numbers, (first, second), 1, 0, numbers.scale, WIDTH)
        frames, seconds = SceneFigure((view,), film=view).frames(FrameOptions())
        assert len(frames) > 5
        assert seconds > 1
        assert not any("NaN" in frame or "undefined" in frame for frame in frames)
