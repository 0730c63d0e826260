"""What the explorer draws with: one query's way through attention, several pictures in a row, all heads of a model."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from attnviz.base.words import _
from attnviz.figures import svg
from attnviz.figures.heatmap import label
from attnviz.figures.svg_grid import ColourScale
from attnviz.figures.theme import K_VERMILION, MASKED, Q_BLUE, SCORES, SIGNED, V_GREEN, Figure, layout, mixed

MOST_KEYS = 24  #: contributions that are drawn, at most
GAP, GROUP_GAP, EDGE, HEAD = 3, 8, 56, 46


def products(q: np.ndarray, k: np.ndarray, query: str, key: str) -> Figure:
    """q, k and their elementwise product over the head's width, each row on its own scale."""
    product = q * k
    rows: list[tuple[np.ndarray, Any, str]] = [
        (q, Q_BLUE, _("q of {token}").format(token=label(query))),
        (k, K_VERMILION, _("k of {token}").format(token=label(key))),
        (product, np.where(product < 0, SCORES[1][1], SCORES[3][1]), _("q × k")),
    ]
    fig = _bars_in_rows(rows, "[%{x}] %{y:.4f}<extra></extra>", 0.09)
    fig.update_yaxes(zeroline=True)
    fig.update_xaxes(title=_("component, 0 to {last}").format(last=len(q) - 1), row=3, col=1)
    return layout(fig, height=360)


def row_steps(
    tokens: Sequence[str], scores: np.ndarray, scaled: np.ndarray, masked: np.ndarray, weights: np.ndarray, key: int
) -> Figure:
    """Scores, scaled, masked and weights of one query over all keys; the chosen key stands out."""
    colours = np.where(np.arange(len(tokens)) == key, K_VERMILION, Q_BLUE)
    steps = {_("q·k"): scores, _("× scale"): scaled, _("masked"): masked, _("softmax"): weights}
    rows = [(np.where(np.isfinite(values), values, np.nan), colours, name) for name, values in steps.items()]
    fig = _bars_in_rows(rows, "%{x}: %{y:.4f}<extra></extra>", 0.05)
    for position in np.flatnonzero(~np.isfinite(masked))[:400]:
        fig.add_vrect(x0=position - 0.5, x1=position + 0.5, fillcolor=MASKED, opacity=0.3, line_width=0, row=3, col=1)
    step = max(1, -(-len(tokens) // 40))
    text = [label(t) if i % step == 0 else "" for i, t in enumerate(tokens)]
    fig.update_xaxes(tickvals=list(range(len(tokens))), ticktext=text, row=4, col=1)
    fig.update_yaxes(range=[0, 1], row=4, col=1)
    return layout(fig, height=460)


def _bars_in_rows(rows: Sequence[tuple[np.ndarray, Any, str]], hover: str, gap: float) -> Figure:
    """Charts of bars one below the other; each row has values, colours and a name."""
    fig = make_subplots(rows=len(rows), cols=1, shared_xaxes=True, vertical_spacing=gap)
    for number, (values, colours, name) in enumerate(rows, 1):
        fig.add_trace(go.Bar(y=values, marker_color=colours, name=name, hovertemplate=hover), row=number, col=1)
        fig.update_yaxes(title={"text": name, "font": {"size": 12}}, row=number, col=1)
    fig.update_layout(showlegend=False, bargap=0.15)
    return fig


def weighted_values(tokens: Sequence[str], weighted: np.ndarray, output: np.ndarray) -> Figure:
    """The largest contributions weight x value (K, Dv), and below them their sum, the head's output."""
    order = np.sort(np.argsort(-np.linalg.norm(weighted, axis=1), kind="stable")[:MOST_KEYS])
    top = float(max(np.abs(weighted).max(initial=0), np.abs(output).max(initial=0))) or 1.0
    fig = make_subplots(rows=2, cols=1, row_heights=[max(1, len(order)), 2], vertical_spacing=0.06, shared_xaxes=True)
    scale = {"colorscale": SIGNED, "zmin": -top, "zmax": top}
    bar = {"title": {"text": _("value"), "side": "right"}, "thickness": 12, "outlinewidth": 0}
    hover = "%{y} [%{x}]: %{z:.4f}<extra></extra>"
    fig.add_trace(go.Heatmap(z=weighted[order], hovertemplate=hover, colorbar=bar, **scale), row=1, col=1)
    fig.add_trace(go.Heatmap(z=output[None], hovertemplate=hover, showscale=False, **scale), row=2, col=1)
    fig.update_yaxes(
        tickvals=list(range(len(order))), ticktext=[label(tokens[i]) for i in order], autorange="reversed", row=1, col=1
    )
    fig.update_yaxes(tickvals=[0], ticktext=[_("output")], color=V_GREEN, row=2, col=1)
    fig.update_xaxes(title=_("component of the value"), row=2, col=1)
    return layout(fig, height=int(120 + 22 * (len(order) + 2)))


@dataclass(frozen=True)
class MosaicPicture:
    """`thumbnails` (N, q, k) from 0 to 1, NaN where masked, layer by layer; `heads` of each layer, adding up to N.

    `kv_heads` of each layer: heads that share keys and values stand together. `chosen`: the (layer, head) on show.
    """

    thumbnails: np.ndarray
    heads: Sequence[int]
    kv_heads: Sequence[int] = ()
    chosen: tuple[int, int] | None = None
    title: str = ""
    root: bool = True

    @cached_property
    def _sharing(self) -> int:
        """How many heads share keys and values, where all layers are alike; else 1."""
        sizes = {round(n / max(1, g)) for n, g in zip(self.heads, self.kv_heads or self.heads, strict=True)}
        return sizes.pop() if len(sizes) == 1 and len(set(self.heads)) == 1 else 1

    @cached_property
    def _sides(self) -> tuple[float, float]:
        """Width and height of a tile."""
        aspect = float(np.clip(self.thumbnails.shape[2] / self.thumbnails.shape[1], 0.5, 2))
        high = float(np.clip(1300 / len(self.heads), 40, 84))
        return high * aspect, high

    def _place(self, layer: int, head: int) -> tuple[float, float]:
        wide, high = self._sides
        groups = head // self._sharing if self._sharing > 1 else 0
        return EDGE + head * (wide + GAP) + groups * GROUP_GAP, HEAD + layer * (high + GAP)

    def drawn(self, ink: svg.Ink, bar: bool = True) -> svg.Drawn:
        """The picture without title and caption."""
        (wide, high), scale = self._sides, ColourScale(root=self.root, unit=_("weight"))
        grey, palette = mixed(ink.ground, MASKED, 0.45), scale.palette(ink)
        parts = [
            *self._words(ink),
            self._board([*(palette[round(i * 255 / 253)] for i in range(254)), grey, "#000000"], scale),
        ]
        if self.chosen is not None:
            x, y = self._place(*self.chosen)
            parts += [
                svg.box(x - 1, y - 1, wide + 2, high + 2, stroke=ink.ground, width=5),
                svg.box(x - 1, y - 1, wide + 2, high + 2, stroke=ink.text, width=2.5),
            ]
        width, height = self._place(0, max(self.heads) - 1)[0] + wide + 10, self._place(len(self.heads), 0)[1] + 4
        if bar:
            drawn, end = scale.bar(EDGE, height + 8, ink, False)
            if np.isnan(self.thumbnails).any():
                drawn += [svg.box(end, height + 8, 14, 10, fill=grey), svg.words(_("masked"), end + 20, height + 13)]
                end += 26 + svg.text_width(_("masked"), 12)
            parts, width, height = parts + drawn, max(width, end), height + 38
        return svg.Drawn(width, height, parts)

    def _board(self, palette: list[str], scale: ColourScale) -> str:
        """All tiles as one picture, two pixels for each of the page's, with nothing in the gaps."""
        wide, high = (round(2 * side) for side in self._sides)
        last = self._place(len(self.heads) - 1, max(self.heads) - 1)
        board = np.full((round(2 * (last[1] - HEAD)) + high, round(2 * (last[0] - EDGE)) + wide), 255, np.uint8)
        seen = np.where(np.isnan(self.thumbnails), 0, self.thumbnails)
        codes = np.where(np.isnan(self.thumbnails), 254, np.rint(scale.place(seen) * 253)).astype(np.uint8)
        rows, cols = (np.arange(n) * m // n for n, m in ((high, codes.shape[1]), (wide, codes.shape[2])))
        places = [(layer, head) for layer, count in enumerate(self.heads) for head in range(count)]
        for (layer, head), tile in zip(places, codes, strict=True):
            x, y = self._place(layer, head)
            top, left = round(2 * (y - HEAD)), round(2 * (x - EDGE))
            board[top : top + high, left : left + wide] = tile[rows][:, cols]
        return svg.pixels(
            svg.indexed_png(board, palette, clear=255), EDGE, HEAD, board.shape[1] / 2, board.shape[0] / 2
        )

    def _words(self, ink: svg.Ink) -> list[str]:
        wide, high = self._sides
        most, sharing = max(self.heads), self._sharing
        parts = [
            svg.words(f"{_('head')} →", EDGE, 8, size=11, opacity=0.7),
            svg.words(f"{_('layer')} →", 8, HEAD, size=11, opacity=0.7, turn=90),
        ]
        over = 24 if sharing > 1 else 32
        parts += [
            svg.words(str(head), self._place(0, head)[0] + wide / 2, over, size=12, anchor="middle", opacity=0.8)
            for head in range(0, most, svg.label_step(wide + GAP, 20))
        ]
        parts += [
            svg.words(str(layer), EDGE - 9, self._place(layer, 0)[1] + high / 2, size=12, anchor="end", opacity=0.8)
            for layer in range(0, len(self.heads), svg.label_step(high + GAP, 14))
        ]
        for head in range(0, most if sharing > 1 else 0, sharing):
            x0, x1 = self._place(0, head)[0], self._place(0, min(most, head + sharing) - 1)[0] + wide
            d = f"M{svg.number(x0 + 1)} 41v-4H{svg.number(x1 - 1)}v4"
            parts.append(f'<path d="{d}" fill="none" stroke="{ink.k}" stroke-width="2" stroke-linecap="round"/>')
        return parts
