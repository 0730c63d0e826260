"""Figures of the scaling lessons: they draw the given numbers, and extreme values do not break an axis."""

import math
import warnings

import numpy as np
import pytest

from attnviz.figures.theme import SIGNED
from attnviz.pages.scaling.figures import softmax, variance
from attnviz.pages.scaling.figures.curves import Limit, Line, over_d_k, training

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


@pytest.mark.parametrize("y", [np.zeros(4), np.array([0, 1e-30, 1, 5.0]), np.full(4, 7.0)])
def test_a_log_axis_stays_finite_where_values_are_0(y):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fig = over_d_k(X, [Line("a", "#000000", y, y * 0, y + 1)], "t", log_y=True)
    assert all(math.isfinite(end) for end in fig.layout.yaxis.range)


def test_a_right_axis_reads_the_left_one_as_shares_and_no_figure_shares_what_another_changes():
    one, other = (over_d_k(X, [Line("a", "#000000", X)], "t", bounds=b, share_of=2.0) for b in ((0, 3), None))
    assert one.layout.yaxis.range == (0, 3)
    assert one.layout.yaxis2.range == (0, 1.5)
    assert one.layout.yaxis2.tickformat == ".0%"
    assert other.layout.yaxis.range is None


def test_histograms_stand_under_the_density_that_theory_predicts():
    edges = np.linspace(-40, 40, 82)
    fig = variance.histograms((np.ones(81), edges), (np.ones(81), edges / 8), 64)
    curve = by_name(fig, "normal, variance 64")
    assert curve.y.max() == pytest.approx(1 / (8 * math.sqrt(2 * math.pi)))
    assert np.trapezoid(curve.y, curve.x) == pytest.approx(1, abs=1e-3)
    assert by_name(fig, "normal, variance 1").y.max() == pytest.approx(1 / math.sqrt(2 * math.pi))


def test_raw_and_scaled_products_stand_on_one_axis_on_which_the_raw_ones_are_seen_to_grow():
    """The share of the axis that lies within one standard deviation grows with d_k, and the scaled one's does not."""

    def shares(d_k):
        edges = np.linspace(-5, 5, 82)
        fig = variance.histograms((np.ones(81), edges * math.sqrt(d_k)), (np.ones(81), edges), d_k)
        assert fig.layout.xaxis.matches == "x2"
        low, high = fig.layout.xaxis2.range
        assert (low, high) == tuple(fig.layout.xaxis.range)
        return 2 * math.sqrt(d_k) / (high - low), 2 / (high - low)

    raw, scaled = zip(*(shares(d_k) for d_k in (1, 2, 16, 4096)), strict=True)
    assert raw[0] < raw[1] < raw[2]
    assert scaled[0] == scaled[1] == scaled[2] > scaled[3]
    assert raw[3] / scaled[3] == pytest.approx(64)


def test_growth_draws_the_exact_line_only_where_it_differs_from_the_textbook():
    zero = np.zeros(4)
    plain = variance.growth(X, X, zero, X * 1.0, (16, 16.0, 1.0))
    spoiled = variance.growth(X, X, zero, X * 1.25, (16, 20.0, 1.25))
    names = [[trace.name for trace in fig.data] for fig in (plain, spoiled)]
    assert "exact, for what was drawn" not in names[0]
    assert "exact, for what was drawn" in names[1]


def test_all_jacobians_share_one_scale_centred_on_0_unless_asked():
    small = np.diag([0.01, 0.02])
    fixed = softmax.jacobian(small, [3, 9], "t").data[0]
    own = softmax.jacobian(small, [3, 9], "t", full_range=False).data[0]
    assert (fixed.zmin, fixed.zmax) == (-0.25, 0.25)
    assert (own.zmin, own.zmax) == pytest.approx((-0.02, 0.02))
    assert fixed.colorscale[2] == SIGNED[2]


def test_training_reaches_to_its_last_step_from_the_first_picture():
    run = {name: np.random.default_rng(0).random((3, 20)) for name in ("loss", "accuracy", "entropy", "gradient")}
    fig = training([("raw", "#C44E9B", run)], 300, chance=0.125, even=2.77)
    assert fig.layout.xaxis.range == (0, 300)
    assert by_name(fig, "raw").y.tolist() == pytest.approx(run["loss"].mean(0).tolist())
    alone = training([("raw", "#C44E9B", {k: v[:1] for k, v in run.items()})], 300, 0.125, 2.77)
    assert not [trace for trace in alone.data if trace.fill], "one seed has no band"


def test_overflow_marks_where_each_format_breaks():
    shifts = np.array([0.0, 1.0, 2.0])
    fig = softmax.overflow(shifts, [("float16", np.array([0.9, 0.9, np.nan]), 1.5), ("float64", shifts, None)])
    marks = [trace for trace in fig.data if trace.mode == "markers+text"]
    assert [mark.text[0] for mark in marks] == ["+1.5"]
