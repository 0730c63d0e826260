import numpy as np
import pytest

from attnviz.base import units
from attnviz.figures import byte_axes
from attnviz.pages.sharing.figures import costs
from attnviz.pages.sharing.figures import sharing as sharing_figures


def test_heads_of_a_group_share_one_scale_and_what_the_mask_hides_is_not_zero():
    weights = np.full((3, 4, 4), 0.25)
    hidden = ~np.tri(4, dtype=bool)
    fig = sharing_figures.groups(weights, weights, [0, 1, 2], list("abca"), hidden)
    assert len(fig.data) == 6
    assert all(trace.coloraxis == "coloraxis" for trace in fig.data)
    assert (fig.layout.coloraxis.cmin, fig.layout.coloraxis.cmax) == (0, 1)
    assert np.isnan(np.asarray(fig.data[0].z)[0, 1])


def test_tokens_that_look_like_markup_stay_text():
    weights = np.full((1, 1, 1), 1.0)
    fig = sharing_figures.groups(weights, weights, [0], ["<b>x</b>"], np.zeros((1, 1), bool))
    assert fig.data[0].text[0][0] == "&lt;b&gt;x&lt;/b&gt;"
    shown = sharing_figures.guesses(["<s>"], [0.5], [0.1])
    assert shown.layout.yaxis.ticktext == ("&lt;s&gt;",)


def test_every_bar_of_the_next_token_says_its_share_and_has_room_for_it_and_the_same_token_twice_stays_two_bars():
    fig = sharing_figures.guesses(["a", "a"], [0.27, 0.1], [0.02, 0.3])
    assert list(fig.data[0].y) == [0, 1]
    assert [list(bars.text) for bars in fig.data] == [["27.0%", "10.0%"], ["2.0%", "30.0%"]]
    assert fig.layout.xaxis.range[1] > 0.3
    assert fig.layout.xaxis.title.text


def test_bytes_are_labelled_in_binary_units():
    lines, limits = {"a": [2**20, 2**30]}, {"80 GiB": 80e9}
    fig = byte_axes.over(
        [1, 1024], lines, "tokens", "bytes", here=8, text=units.binary, ticks=byte_axes.BYTES, limits=limits
    )
    assert "1 GiB" in fig.layout.yaxis.ticktext
    assert list(fig.data[0].customdata) == ["1 MiB", "1 GiB"], "read out as bytes, never as 1.074e+09"
    assert fig.data[1].text[0] == "80 GiB"
    fig = costs.strip([3 << 20, 1 << 20], ["full", "window"], list("ab"), {"window": "w", "full": "f"})
    assert all(text.endswith(" MiB") for text in fig.layout.yaxis.ticktext)
    fig = sharing_figures.sweep([9, 3, 1], [0.0, 0.0, 0.7], [30 << 10, 10 << 10, 3 << 10], 1, ["9", "3", "1"])
    assert all(text.endswith(" KiB") for text in fig.layout.yaxis.ticktext)


@pytest.mark.parametrize("heads", [2, 8])
def test_pointing_at_a_cell_of_many_heads_names_its_two_tokens(heads: int) -> None:
    before, after = np.random.default_rng(0).random((2, heads, 3, 3)).astype(np.float32)
    fig = sharing_figures.pairs(before, after, list(range(heads)), list("abc"), np.zeros((3, 3), bool), 150)
    cells, rows, cols = fig.data[0].z, fig.layout.yaxis.ticktext, fig.layout.xaxis.ticktext
    assert cells.shape == (len(rows), len(cols))
    for q, query in enumerate("abc"):
        for k, key in enumerate("abc"):
            named = cells[np.ix_([row == query for row in rows], [col == key for col in cols])]
            shown = named[np.isfinite(named)]
            assert sorted(shown) == sorted([*before[:, q, k], *after[:, q, k]])
    assert np.isfinite(cells).sum() == 2 * heads * 9, "and nothing else can be pointed at"
