import numpy as np

from attnviz.figures.head_points import pickable_map

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


def test_the_axis_names_layers_and_not_columns():
    axis = pickable_map(np.ones(3), PLACES, np.zeros(3), title="a").layout.xaxis
    assert dict(zip(axis.tickvals, axis.ticktext, strict=True)) == {0: "3", 1: "7"}


def test_costs_are_centred_on_nought():
    squares = pickable_map(np.array([-0.5, 0.25, 0.1]), PLACES, np.zeros(3), title="a", signed=True, chosen=2).data[0]
    assert (squares.zmin, squares.zmax) == (-0.5, 0.5)
