import numpy as np

from attnviz.base import units
from attnviz.figures import cost_charts
from attnviz.pages.sharing import figures as sharing_figures


def test_heads_of_a_group_share_one_scale_and_what_the_mask_hides_is_not_zero():
    weights = np.full((3, 4, 4), 0.25)
    hidden = ~np.tri(4, dtype=bool)
    fig = sharing_figures.groups(weights, weights, [0, 1, 2], list("abca"), hidden)
    assert len(fig.data) == 6
    assert all(trace.coloraxis == "coloraxis" for trace in fig.data)
    assert (fig.layout.coloraxis.cmin, fig.layout.coloraxis.cmax) == (0, 1)
    assert np.isnan(np.asarray(fig.data[0].z)[0, 1])


def test_bytes_are_labelled_in_binary_units():
    lines, limits = {"a": [2**20, 2**30]}, {"80 GiB": 80e9}
    fig = cost_charts.over(
        [1, 1024], lines, "tokens", "bytes", here=8, text=units.binary, ticks=cost_charts.BYTES, limits=limits
    )
    assert "1 GiB" in fig.layout.yaxis.ticktext
    assert list(fig.data[0].customdata) == ["1 MiB", "1 GiB"], "read out as bytes, never as 1.074e+09"
    assert fig.data[1].text[0] == "80 GiB"
    fig = sharing_figures.strip([3 << 20, 1 << 20], ["full", "window"], list("ab"), {"window": "w", "full": "f"})
    assert all(text.endswith(" MiB") for text in fig.layout.yaxis.ticktext)
    fig = sharing_figures.sweep([9, 3, 1], [0.0, 0.0, 0.7], [30 << 10, 10 << 10, 3 << 10], 1, ["9", "3", "1"])
    assert all(text.endswith(" KiB") for text in fig.layout.yaxis.ticktext)
