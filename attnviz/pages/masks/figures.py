"""Figures of the mask page: how far layers reach, a mask over thousands of words, and training under a leaking mask."""

from collections.abc import Sequence

import numpy as np

from attnviz.base.rounding import Rounded
from attnviz.base.words import _
from attnviz.figures.chart import BARE, THIN_BAR, axis, cells, chart, line, mark_x, mark_y
from attnviz.figures.heatmap import label, matrix
from attnviz.figures.theme import ALTERNATIVE, MASKED, RAW, SCALED, THEORY, WEIGHTS, Figure


def hops(layers: np.ndarray, tokens: Sequence[str], upto: int) -> Figure:
    """Layers until a key has reached a query (T, T), -1 = never; cells that need more than `upto` layers are grey."""
    within_layers = np.where((layers >= 0) & (layers <= upto), layers, -1)
    fig = matrix(
        within_layers.astype(float),
        tokens,
        tokens,
        kind="plain",
        masked=within_layers < 0,
        numbers=False,
        value_title=_("layers"),
        masked_name=_("not reached"),
        row_title=_("queries"),
        col_title=_("keys"),
        height=430,
    )
    heat = fig.data[-1]
    heat.update(
        zmin=0,
        zmax=max(upto, 1),
        colorscale=[(at, colour) for (at, _dark), (_at, colour) in zip(WEIGHTS, reversed(WEIGHTS), strict=True)],
        colorbar={"tickformat": "d", "nticks": min(upto + 1, 8), **heat.colorbar.to_plotly_json()},
        hovertemplate="%{y} ← %{x}<br>" + _("after {n} layers").format(n="%{z}") + "<extra></extra>",
    )
    if len(tokens) <= 20:
        heat.update(texttemplate="%{z:d}", showscale=False)
        return fig
    step = -(-len(tokens) // 18)
    thinned = {"tickvals": [*range(0, len(tokens), step)], "ticktext": [label(token) for token in tokens[::step]]}
    return fig.update_layout(xaxis=thinned, yaxis=thinned)


def reach(counts: np.ndarray, n_tokens: int, upto: int) -> Figure:
    """How many words have reached the last word after 0, 1, 2... layers, and the mean over all words.

    `counts` (layers + 1, T); the layer `upto` is marked.
    """
    x = np.arange(len(counts))
    return chart(
        [
            line(x, counts[:, -1], _("the last word"), SCALED, dots=True),
            line(x, counts.mean(1), _("mean over all words"), RAW, dots=True),
        ],
        axis(_("layers"), dtick=1, zeroline=False),
        axis(_("words that reach it"), range=[0, n_tokens * 1.08 + 0.2], zeroline=False),
        height=430,
        marks=[mark_x(upto, width=1.5), mark_y(n_tokens)],
        hovermode="x unified",
    )


def density_map(density: np.ndarray, length: int) -> Figure:
    """A mask over `length` words in tiles: the share of each tile's pairs that is kept, 0 to 1."""
    grey = [(0, MASKED), (1, MASKED)]
    shares = {np.sqrt(share): f"{share:.0%}" for share in (0.01, 0.1, 0.25, 0.5, 1)}
    density_cells = cells(
        np.sqrt(np.where(density > 0, density, np.nan)),
        WEIGHTS,
        0,
        1,
        bar=axis(labels=shares) | THIN_BAR | {"title": {"text": _("share kept"), "side": "right"}},
        customdata=density,
        hoverongaps=False,
        hover=_("{share} of this tile's pairs are kept").format(share="<b>%{customdata:.2%}</b>"),
    )
    tiles = len(density)
    named = {tile - 0.5: f"{int(tile * length / tiles):,}" for tile in np.linspace(0, tiles, 5)}
    square = axis(labels=named, constrain="domain", **BARE)
    return chart(
        [cells(np.where(density > 0, np.nan, 1.0), grey, 0, 1, opacity=0.3, hover=""), density_cells],
        square | axis(_("key position"), side="top"),
        square | axis(_("query position"), autorange="reversed", scaleanchor="x"),
        height=460,
    )


def losses(
    steps: np.ndarray, honest: np.ndarray, leaking: np.ndarray, without_leak: np.ndarray, guess: float, total: int
) -> Figure:
    """Training losses in nats per word over steps, and `guess`, the loss of guessing blindly."""
    top = max(2.5 * guess, 1.0)
    fig = chart(
        [
            line(steps, honest, _("mask right"), SCALED, dash="solid"),
            line(steps, leaking, _("mask shifted"), RAW, dash="solid"),
            line(steps, without_leak, _("mask shifted, asked without the leak"), ALTERNATIVE, dash="dot"),
        ],
        axis(_("training step"), range=[0, total], zeroline=False),
        axis(_("loss, nats per word"), range=[-0.05 * top, top], zeroline=False),
        height=400,
        hovermode="x unified",
    )
    return fig.add_hline(
        y=guess,
        line={"color": THEORY, "dash": "dash", "width": 1},
        annotation={"text": _("guessing blindly: {nats}").format(nats=f"{Rounded(guess):.2f}"), "xanchor": "right"},
    )


def position_weights(weights: np.ndarray) -> Figure:
    """Mean weights (T, T) between places 1 to T of a line."""
    names = [label(str(n + 1)) for n in range(len(weights))]
    return matrix(weights, names, names, masked=weights == 0, numbers=False, row_title=_("place"), height=340)
