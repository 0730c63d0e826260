"""Pictures of the library's results: measures over d_k, cache bytes of each layer, a map of heads."""

from collections.abc import Mapping, Sequence

import numpy as np

from attnviz.base.words import _
from attnviz.figures.attention_figures import head_maps
from attnviz.figures.chart import POWERS, Panel, axis, band, bars, chart, line, panels
from attnviz.figures.cost_charts import binary_ticks
from attnviz.figures.heatmap import escape_markup
from attnviz.figures.theme import Figure, add_alpha, series_colour


def draw_over_d_k(d_k: Sequence[int], bands: Mapping[str, tuple[np.ndarray, np.ndarray, np.ndarray]]) -> Figure:
    """Each measure over d_k, one beside the other: its median as a line and the middle 80% of rows as a band."""
    titles = {"variance": _("variance of the scores"), "largest": _("largest weight"), "entropy": _("entropy (nats)")}
    parts = []
    for number, (name, (low, middle, high)) in enumerate(bands.items()):
        colour = series_colour(name, number)
        edges = [band(np.array(d_k), low, high, add_alpha(colour, 0.2), showlegend=False)] if low is not middle else []
        curve = line(list(d_k), middle, titles[name], colour, dots=True, hover="d_k = %{x}: %{y:.4g}", showlegend=False)
        parts.append(Panel([*edges, curve], axis("d_k", type="log"), POWERS if name == "variance" else {}))
    return panels(parts, len(parts), spacing={}, titles=[titles[name] for name in bands], height=320, title=" ")


def draw_layer_bytes(columns: Mapping[str, Sequence[int]]) -> Figure:
    """Cache bytes of each layer as bars, one colour a convention."""
    most = max(max(sizes, default=0) for sizes in columns.values())
    series = [
        bars(list(range(len(sizes))), list(sizes), name, series_colour(name, number))
        for number, (name, sizes) in enumerate(columns.items())
    ]
    return chart(series, axis(_("layer")), axis(_("bytes"), 12, binary_ticks(most)), height=330, barmode="group")


def draw_over_depth(labels: Sequence[str], shares: np.ndarray) -> Figure:
    """Probability of each token (N, L + 1) over the depth at which the stream is read."""
    hover = _("depth") + " %{x}: %{y:.1%}"
    lines = [
        line(
            list(range(len(values))), values, escape_markup(label), series_colour(label, number), dots=True, hover=hover
        )
        for number, (label, values) in enumerate(zip(labels, shares, strict=False))
    ]
    return chart(lines, axis(_("depth")), axis(_("probability")), height=330)


def draw_head_map(name: str, grid: np.ndarray) -> Figure:
    """Map of one measure, layers by heads, on a scale from 0 to its largest value, or centred on 0."""
    signed = bool((np.nan_to_num(grid) < 0).any())
    fig = head_maps({name: grid}, signed=signed)
    most = float(np.nanmax(np.abs(grid), initial=0.0)) or 1.0
    return fig.update_layout(coloraxis={"cmax": most, "cmin": -most if signed else 0.0})
