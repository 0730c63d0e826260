"""Pictures of the library's results: measures over d_k, cache bytes of each layer, a map of heads."""

from collections.abc import Mapping, Sequence

import numpy as np

from attnviz.base.words import _
from attnviz.figures.attention_figures import head_maps
from attnviz.figures.chart import POWERS, THIN_BAR, Panel, axis, band, bars, cells, chart, line, panels
from attnviz.figures.cost_charts import binary_ticks
from attnviz.figures.heatmap import escape_markup
from attnviz.figures.theme import WEIGHTS, Figure, add_alpha, series_colour


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


def draw_kept_shares(sizes: Sequence[int], shares: Sequence[float]) -> Figure:
    """Share of a logit difference that the first heads and MLPs preserve, over their number."""
    hover = "%{x}: %{y:.1%}"
    curve = line(list(sizes), list(shares), colour=series_colour("kept", 0), dots=True, hover=hover, showlegend=False)
    return chart([curve], axis(_("heads and MLPs kept")), axis(_("share of the logit difference")), height=330)


def draw_token_pairs(pairs: Mapping[str, Sequence[tuple[str, float]]]) -> Figure:
    """The best pairs of tokens of each circuit as bars, the best on top."""
    titles = {"qk": _("Query and key: score"), "ov": _("Attended token and output: logit")}
    parts = []
    for number, (circuit, entries) in enumerate(pairs.items()):
        names = [escape_markup(f"{rank}. {label}") for rank, (label, _score) in enumerate(entries, 1)]
        scores = [score for _label, score in entries]
        colour = series_colour(circuit, number)
        series = bars(scores, names, colour=colour, across=True, hover="%{y}: %{x:.3g}", showlegend=False)
        parts.append(Panel([series], axis(), axis(type="category", autorange="reversed")))
    height = 80 + sum(70 + 22 * len(entries) for entries in pairs.values())
    spacing = {"vertical_spacing": 80 / height}
    return panels(parts, 1, spacing=spacing, titles=[titles[name] for name in pairs], height=height, title=" ")


def draw_composition(names: Sequence[str], grids: Mapping[str, np.ndarray]) -> Figure:
    """Composition scores of earlier heads (rows) and later ones (columns), one map for each of q, k and v."""
    most = max(float(np.nanmax(grid, initial=0.0)) for grid in grids.values()) or 1.0
    hover = (
        _("head {earlier} into head {later}").format(earlier="%{y}", later="%{x}")
        + "<br><b>%{z:.4f}</b><extra></extra>"
    )
    return panels(
        [
            Panel(
                [
                    cells(
                        grid, None, coloraxis="coloraxis", x=list(names), y=list(names), hoverongaps=False, hover=hover
                    )
                ],
                axis(_("later head"), type="category"),
                axis(None if number else _("earlier head"), type="category"),
            )
            for number, grid in enumerate(grids.values())
        ],
        len(grids),
        spacing={"shared_yaxes": True},
        titles=list(grids),
        height=420,
        title=" ",
        coloraxis={"colorscale": WEIGHTS, "colorbar": THIN_BAR, "cmin": 0.0, "cmax": most},
    )
