"""Bars of softmax weights as a file: drawn by the canvas's own JavaScript, read back and compared with PyTorch."""

import re

import numpy as np
import pytest
import torch

from attnviz.canvas.softmax_slider import Panel, SliderParameter, SoftmaxFigure
from attnviz.live.scene_figure import SceneFigure
from tests.svg_reading import SVG, texts, tree

RAW, SCALED = "#C44E9B", "#3B8EA5"
PANELS = [Panel("raw", "raw", "q·k", RAW), Panel("sqrt", "scaled", "q·k / √d_k", SCALED)]
SCORES = np.random.default_rng(0).normal(0, 8, 16)
HIGH = 136  #: pixels of a weight of 1


def bars(root, colour):
    """The weights of the bars of a colour, by their heights, from left to right."""
    drawn = [rect for rect in root.iter(f"{SVG}rect") if rect.get("fill") == colour]
    assert [float(rect.get("x")) for rect in drawn] == sorted(float(rect.get("x")) for rect in drawn)
    return np.array([float(rect.get("height")) for rect in drawn]) / HIGH


def expected(scores):
    return torch.tensor(scores).softmax(-1).numpy()


def test_bars_and_their_numbers_are_those_of_softmax_raw_and_scaled():
    root = tree(SceneFigure((SoftmaxFigure(SCORES, PANELS, 64),)))
    said = texts(root)
    for colour, weights in ((RAW, expected(SCORES)), (SCALED, expected(SCORES / 8))):
        assert np.abs(bars(root, colour) - weights).max() <= 0.5 / HIGH
        entropy = -(weights * np.log(weights)).sum()
        assert f"{100 * weights.max():.1f}%" in said
        assert {f"{entropy:.3g}", f"{np.exp(entropy):.3g}"} <= set(said)
    assert {"raw", "q·k", "scaled", "q·k / √d_k", "largest weight", "entropy, nats", "effective keys"} <= set(said)
    assert "d_k = 64" in said
    assert "One bar for each of 16 keys; dashed: even weights, 6.3%. Point at a bar for its numbers." not in said
    assert "One bar for each of 16 keys; dashed: even weights, 6.3%." in said


def test_few_bars_say_their_weights_so_that_those_near_0_are_seen_to_be_there():
    panel, slider = [Panel("temperature", "softmax", "x / T", SCALED)], SliderParameter("T", 0.5, 0.0, 100.0)
    said = texts(tree(SceneFigure((SoftmaxFigure(np.array([0.0, 4.0, 0.0]), panel, parameter=slider),))))
    assert said.count("0.000") == 2
    assert "0.999" in said
    assert "T = 0.5" in said
    assert not [text for text in said if "d_k" in text], "scores that were typed in have no d_k behind them"
    many = texts(tree(SceneFigure((SoftmaxFigure(np.zeros(64), panel, parameter=slider),))))
    assert "0.016" not in many


@pytest.mark.parametrize("n", [1, 64, 4096])
def test_bars_stay_inside_however_many_there_are(n):
    scores = np.random.default_rng(1).normal(0, 1, n)
    root = tree(SceneFigure((SoftmaxFigure(scores, PANELS, 64, cosines=scores),)))
    for colour in (RAW, SCALED):
        assert bars(root, colour).max() == pytest.approx(
            expected(scores / (1 if colour == RAW else 8)).max(), abs=0.5 / HIGH
        )
    ends = [float(rect.get("x")) + float(rect.get("width")) for rect in root.iter(f"{SVG}rect") if rect.get("x")]
    assert max(ends) <= float(root.get("width")) - 20
    assert not re.search("NaN|Infinity|undefined", "".join(texts(root)))
