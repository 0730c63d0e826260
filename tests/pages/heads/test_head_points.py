import numpy as np

from attnviz.pages.heads.figures import LETTER, LINE, POINT, SMALLEST_PLOT, against, pickable_map

PLACES = [(3, 0), (3, 1), (7, 0)]  # the layers between have no heads, as in a hybrid model


def test_a_point_says_its_own_layer_where_some_layers_have_no_heads():
    values, stderr = np.array([0.25, 0.5, 1.0]), np.array([0.125, np.nan, 0.0])
    squares, targets = pickable_map(values, PLACES, stderr, title="a").data
    assert list(targets.hovertext) == ["layer 3, head 0", "layer 3, head 1", "layer 7, head 0"]
    assert list(targets.text) == ["0.250 ± 0.125", "0.500", "1.000 ± 0.000"]
    assert list(targets.customdata) == [0, 1, 2]
    drawn = [squares.z[int(y)][int(x)] for x, y in zip(targets.x, targets.y, strict=True)]
    assert drawn == [0.25, 0.5, 1.0]
    assert np.isnan(squares.z[1][1]), "layer 7 has no second head"


def test_the_axis_names_layers_and_costs_are_centred_on_nought():
    fig = pickable_map(np.array([-0.5, 0.25, 0.1]), PLACES, np.zeros(3), title="a", signed=True, chosen=2)
    axis, squares = fig.layout.xaxis, fig.data[0]
    assert dict(zip(axis.tickvals, axis.ticktext, strict=True)) == {0: "3", 1: "7"}
    assert (squares.zmin, squares.zmax) == (-0.5, 0.5)


def test_no_name_lies_over_a_point_or_another_name_however_narrow_the_plane():
    rng = np.random.default_rng(0)
    x, y = rng.exponential(0.1, 200), rng.exponential(0.1, 200)
    places = [(n // 9, n % 9) for n in range(200)]
    named = [int(n) for n in np.argsort(-y)[:12]]
    shown = against(x, y, places, title="a", x_title="x", y_title="y", named=named).layout.annotations
    shown = [each for each in shown if each.text]
    assert 3 <= len(shown) <= 12
    scale = SMALLEST_PLOT / (np.ptp(x), np.ptp(y))
    points = np.stack([x, y], 1) * scale
    middles = [np.array([each.x, each.y]) * scale + (each.xshift, each.yshift) for each in shown]
    for each, middle in zip(shown, middles, strict=True):
        half = np.array([LETTER * len(each.text), LINE]) / 2
        assert not (np.abs(points - middle) < half + POINT).all(1).any(), f"{each.text} lies over a point"
    gaps = [np.abs(a - b) for n, a in enumerate(middles) for b in middles[:n]]
    assert not any((gap < (3 * LETTER, LINE)).all() for gap in gaps)


def test_a_name_among_points_is_left_out():
    grid = np.stack(np.meshgrid(np.arange(40.0), np.arange(40.0)), -1).reshape(-1, 2)
    places = [(n // 40, n % 40) for n in range(1600)]
    middle = 20 * 40 + 20
    fig = against(*grid.T, places, title="a", x_title="x", y_title="y", named=[middle])
    assert not any(each.text == "20.20" for each in fig.layout.annotations)
