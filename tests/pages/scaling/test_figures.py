"""Figures of the scaling lessons: they draw the given numbers, and extreme values do not break an axis."""

import math

import numpy as np
import pytest

from attnviz.pages.scaling import figures
from attnviz.pages.scaling.figures import Limit, Line, over_d_k

X = np.array([1, 4, 16, 64])


def by_name(fig, name):
    return next(trace for trace in fig.data if trace.name == name)


def test_a_curve_has_its_band_its_mean_its_limits_and_the_chosen_d_k():
    line = Line("raw", "#C44E9B", X / 64, X / 128, X / 32, X / 60)
    fig = over_d_k(X, [line], "t", limits=[Limit("even", 0.5), Limit("theory", X / 50)], here=16, bounds=(0, 2))
    assert by_name(fig, "raw").y.tolist() == (X / 64).tolist()
    assert by_name(fig, "raw, mean").y.tolist() == (X / 60).tolist()
    band = next(trace for trace in fig.data if trace.fill == "toself")
    assert band.y.tolist() == [*(X / 32), *(X / 128)[::-1]]
    assert by_name(fig, "even").y.tolist() == [0.5] * 4
    assert [note.text for note in fig.layout.annotations] == ["even"]
    assert by_name(fig, "theory").showlegend
    assert fig.layout.shapes[0].x0 == 16
    assert fig.layout.yaxis.range == (0, 2)


def test_histograms_stand_under_the_density_that_theory_predicts():
    edges = np.linspace(-40, 40, 82)
    fig = figures.histograms((np.ones(81), edges), (np.ones(81), edges / 8), 64)
    curve = by_name(fig, "normal, variance 64")
    assert curve.y.max() == pytest.approx(1 / (8 * math.sqrt(2 * math.pi)))
    assert np.trapezoid(curve.y, curve.x) == pytest.approx(1, abs=1e-3)
    assert by_name(fig, "normal, variance 1").y.max() == pytest.approx(1 / math.sqrt(2 * math.pi))


def test_overflow_marks_where_each_format_breaks():
    shifts = np.array([0.0, 1.0, 2.0])
    fig = figures.overflow(shifts, [("float16", np.array([0.9, 0.9, np.nan]), 1.5), ("float64", shifts, None)])
    marks = [trace for trace in fig.data if trace.mode == "markers+text"]
    assert [mark.text[0] for mark in marks] == ["+1.5"]
