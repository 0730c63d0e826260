"""Colours and names that figures and pictures share: heads can be told apart, letters are read, names lie apart."""

import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import attnviz
from attnviz.figures.chart import bars, chart, line
from attnviz.figures.end_labels import BELOW, LINE
from attnviz.figures.export import prepare_figure
from attnviz.figures.theme import GROUND, HEADS, INK, QUIET, ROLES, SERIES, contrast, text_style

PACKAGE = Path(attnviz.__file__).parent


def test_colours_of_heads_can_be_told_apart_with_any_colour_vision():
    """Distances in OKLab between any two of the eight, as Viénot's simulation has them for two kinds of dichromats."""
    kinds = {
        "all": np.eye(3),
        "protan": np.array([[0.11238, 0.88762, 0], [0.11238, 0.88762, 0], [0.00401, -0.00401, 1]]),
        "deutan": np.array([[0.29275, 0.70725, 0], [0.29275, 0.70725, 0], [-0.02234, 0.02234, 1]]),
    }
    for name, seen in kinds.items():
        for page in (0, 1):
            points = np.array([oklab(seen @ linear(pair[page])) for pair in HEADS])
            apart = np.linalg.norm(points[:, None] - points[None], axis=-1) + np.eye(8)
            assert apart.min() > 0.09, (name, page, np.unravel_index(apart.argmin(), apart.shape))


def linear(colour: str) -> np.ndarray:
    parts = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def oklab(rgb: np.ndarray) -> np.ndarray:
    cones = np.array(
        [
            [0.4122214708, 0.5363325363, 0.0514459929],
            [0.2119034982, 0.6806995451, 0.1073969566],
            [0.0883024619, 0.2817188376, 0.6299787005],
        ]
    )
    lab = np.array(
        [
            [0.2104542553, 0.7936177850, -0.0040720468],
            [1.9779984951, -2.4285922050, 0.4505937099],
            [0.0259040371, 0.7827717662, -0.8086757660],
        ]
    )
    return lab @ np.cbrt(np.maximum(cones @ rgb, 0))


def test_a_colour_of_a_role_is_written_in_two_places_which_agree():
    """Else a query could be blue in a chart and another blue in a canvas. The browser's table is read as it is."""
    table = (PACKAGE / "canvas/shared/roles.js").read_text("utf-8")
    assert dict(re.findall(r"(\w+): \"(#\w{6})\"", table)) == ROLES


def test_letters_of_charts_are_read_on_a_light_and_on_a_dark_page():
    """Axes, names of lines in their colours, and the colours that files give them: 4.5 to 1, by WCAG."""
    rules = re.findall(r"fill:light-dark\((#\w{6}),(#\w{6})\)", text_style())
    assert len(rules) >= len({*ROLES.values(), *SERIES})
    for page, ground in enumerate(GROUND):
        assert min(contrast(pair[page], ground) for pair in [*rules, INK, QUIET]) >= 4.5, ground
        layout = prepare_figure(two_lines(), "dark" if page else "white").layout
        inks = [layout.xaxis.color, *(note.font.color for note in layout.annotations)]
        assert len(inks) == 3
        assert min(contrast(ink, ground) for ink in inks) >= 4.5, ground


def two_lines():
    return chart([line([0, 1], [0, 1], "raw", SERIES[2]), line([0, 1], [0, 0.99], "scaled", SERIES[0])])


@pytest.mark.parametrize("y", [{}, {"type": "log"}, {"range": [0, 2]}])
@pytest.mark.parametrize("ends", [(3, 3, 3), (1, 9, 1.1, 1.2, 8.9), [5 + n / 100 for n in range(12)]])
def test_names_at_the_ends_of_lines_do_not_lie_on_each_other_nor_leave_their_chart(y, ends):
    names = [f"line {n} with a long name" for n in range(len(ends))]
    fig = chart([line([1, 2], [2, end], name, SERIES[0]) for end, name in zip(ends, names, strict=True)], y=y)
    layout = fig.layout
    assert {note.text.replace("<br>", " ") for note in layout.annotations} == set(names)
    low, high = layout.yaxis.range
    room = layout.height or 400
    room -= layout.margin.t + BELOW
    spans = sorted(
        (middle - tall / 2, middle + tall / 2)
        for note in layout.annotations
        for middle, tall in [((note.y - low) / (high - low) * room + note.yshift, LINE * (1 + note.text.count("<br>")))]
    )
    assert all(below[1] <= above[0] + 1e-6 for below, above in pairwise(spans))
    inside = np.isfinite(spans).all() and spans[0][0] > -1e-6 and spans[-1][1] < room + 1
    assert inside
    assert layout.margin.r > 60
    assert layout.showlegend is False


def test_what_has_other_marks_than_lines_keeps_its_legend():
    fig = chart([line([0, 1], [0, 1], "a line"), bars([0, 1], [1, 2], "bars")])
    assert not fig.layout.annotations
    assert fig.layout.showlegend is None


def test_a_share_under_the_hand_is_rounded_as_in_sentences():
    """Plotly's own format says 100.0% of 0.9999."""
    (series,) = chart([line([0, 1, 2], [0.9999, 1, 1 / 16], "a", SERIES[0], hover="at %{x}: %{y:.1%}")]).data
    assert list(series.hovertext) == [">99.9%", "100.0%", "6.3%"]
    assert series.hovertemplate == "at %{x}: %{hovertext}<extra>a</extra>"
