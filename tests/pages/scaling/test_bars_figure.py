"""Bars of softmax weights as a file: drawn by the canvas's own JavaScript, read back and compared with PyTorch."""

import numpy as np
import torch

from attnviz.canvas.softmax_slider import Panel, SoftmaxFigure
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
