"""Live pictures of attention in notebook cells, without a server, network or extension."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from torch import Tensor

from attnviz.analysis.head_matrix import raw_heads, telling_row
from attnviz.base import words
from attnviz.base.head_record import HeadData, HeadGrid, HeadView
from attnviz.base.message import MessageList, Problem
from attnviz.base.words import _, require_languages, use_language
from attnviz.live import LiveView, Theme, live_page
from attnviz.live.matrix_figures import HeadFigure, HeadFilm
from attnviz.live.scene_figure import FrameOptions, SceneFigure, film_bytes
from attnviz.models.capture import RecordedLayer, Trace
from attnviz.notebook.long_text_view import LongTextView, known_tokens, text_of_trace
from attnviz.notebook.saved_view import SavedView

LONG = 24_000_000  #: bytes of all heads' scores, from which on a trace is shown as a long text


def show(
    attention: Any,
    tokens: Sequence[str] | tuple[Sequence[str], Sequence[str]] | None = None,
    layer: int | None = None,
    head: int | None = None,
    theme: Theme | None = None,
    *,
    heads: Sequence[tuple[int, int]] | None = None,
    row: int = 0,
    height: int = 640,
    title: str = "",
    language: str | None = None,
) -> NotebookView | LongTextView:
    """A live picture of `attention`: every head, and of a trace every mask and scale, still to be moved.

    A trace of a long text is shown in at most 5 MB: all heads small, and one with its q and k. `heads` are those to
    hold in its place, each as (layer, head), the first one on show.

    `attention` is a trace, weights (heads, queries, keys) of each layer in a list, a model's output with attentions, or
    a cache of TransformerLens. `tokens` are the labels of one sentence, or of queries and keys as two lists in a tuple.
    `layer` and `head` are shown first, negative ones counted from the end; `row` is the sentence of a batch. `theme`
    None follows the reader's own.
    `language` is that of the picture's texts, "en" or "zh"; None: the current one.
    """
    if language is not None:
        require_languages(language)
    options: dict[str, Any] = {
        "theme": theme or "auto",
        "height": height,
        "title": title,
        "language": language or words.selected_language(),
    }
    if heads:
        layer, head = heads[0]
    if isinstance(attention, Trace):
        layers = _alike_layers(attention, layer, row)
        if 2 * sum(one.n_heads * one.shape[2] * one.shape[3] for _, one in layers) > LONG:
            return _show_long_text(attention, layers, tokens, heads or [(layer, head)], row, options)
        drawn, count = _heads_of_trace(attention, layers, row), len(attention)
    else:
        drawn = _heads_of_arrays([_layer_weights(weights, row) for weights in _layer_arrays(attention)])
        count = len(drawn.layer_ids)
    return _show_heads(drawn, tokens, _find_tile(layer, head, count, drawn.layer_ids, drawn.counts), options)


def _show_heads(heads: DisplayedHeads, tokens: Any, tile: tuple[int, int], options: dict[str, Any]) -> NotebookView:
    q_len, k_len = heads.weights[0].shape[1:]
    both = isinstance(tokens, tuple) and len(tokens) == 2 and not isinstance(tokens[0], str)
    labels: Any = tokens if both else (tokens, tokens if q_len == k_len else None)
    with use_language(options["language"]):
        queries = _position_labels(labels[0], heads.ids, q_len, _("queries"))
        keys = _position_labels(labels[1], heads.ids, k_len, _("keys"))
    return NotebookView(heads, queries, keys, tile, **options)


def _show_long_text(
    trace: Trace,
    layers: list[tuple[int, RecordedLayer]],
    tokens: Any,
    heads: Sequence[tuple[int | None, int | None]],
    row: int,
    options: dict[str, Any],
) -> LongTextView:
    numbers, recorded = [number for number, _ in layers], [one for _, one in layers]
    grid = HeadGrid.of([one.n_heads for one in recorded], [one.n_kv_heads for one in recorded], numbers)
    tiles, count = [_find_tile(*place, len(trace), numbers, grid.heads) for place in heads], recorded[0].shape[2]
    with use_language(options["language"]):
        labels = None if tokens is None else _position_labels(tokens, None, count, _("queries"))
    return LongTextView(recorded, text_of_trace(trace, row, count, grid, tiles[0], labels), tiles, **options)


def _find_tile(
    layer: int | None, head: int | None, count: int, layer_ids: Sequence[int], counts: Sequence[int]
) -> tuple[int, int]:
    """Place of a layer among those that are shown, and its head; a Problem where there is no such layer or head."""
    number = layer + count if layer is not None and layer < 0 else layer
    if number is not None and number not in layer_ids:
        raise Problem("layer={layer} is not among {layers}", layer=layer, layers=str(layer_ids))
    index = 0 if number is None else layer_ids.index(number)
    if not -counts[index] <= (head or 0) < counts[index]:
        raise Problem(
            "head {head} does not exist: layer {index} has heads 0 to {last}",
            head=head,
            index=layer_ids[index],
            last=counts[index] - 1,
        )
    return index, (head or 0) % counts[index]


@dataclass(frozen=True, repr=False)
class NotebookView(SavedView):
    """A live picture of all heads, which a notebook displays as a cell's output; `save` writes it to a file."""

    shown: DisplayedHeads
    queries: list[str]
    keys: list[str]
    at: tuple[int, int]
    theme: Theme
    height: int
    title: str
    language: str | None = None

    @property
    def _heads(self) -> list[HeadData]:
        keys = None if self.keys == self.queries else self.keys
        return [replace(head, tokens_q=self.queries, tokens_k=keys) for head in self.shown.heads]

    @property
    def _first(self) -> HeadData:
        """The first displayed head."""
        return self._heads[sum(self.shown.counts[: self.at[0]]) + self.at[1]]

    @cached_property
    def html(self) -> str:
        """The whole live file."""
        with use_language(self.language):
            first = HeadView(self.head_title, tile=self.at, titles=_("Layer {layer}, head {head}"))
            grid = HeadGrid.of(self.shown.counts, self.shown.kv_counts, self.shown.layer_ids)
            return live_page(LiveView(self._heads, grid, first, title=self.title), self.theme)

    @property
    def head_title(self) -> str:
        """Title of the first displayed head, in the picture's language."""
        with use_language(self.language):
            return _("Layer {layer}, head {head}").format(layer=self.shown.layer_ids[self.at[0]], head=self.at[1])

    @property
    def weights(self) -> np.ndarray:
        """Weights (Q, K) of the first displayed head."""
        return self.shown.weights[self.at[0]][self.at[1]]

    def figure(self) -> SceneFigure:
        """The first displayed head as a figure."""
        data = HeadData.of_values(self.weights, self.queries, self.keys, ~self._first.mask)
        return SceneFigure((HeadFigure(data, HeadView(self.head_title)),))

    def _film(self, kind: str) -> bytes:
        """Animation of the most informative row, from its scores to a mixture of values."""
        head = self._first
        if not head.exact:
            raise Problem("A film needs a head's scores, which a trace has: these are weights alone.")
        with use_language(self.language):
            film = HeadFilm(head, telling_row(self.weights, ~head.mask), title=self.head_title)
            options = FrameOptions(self._paper, self.title or None)
            return film_bytes(SceneFigure((), film=film), kind, options)

    @property
    def csv(self) -> str:
        """That head as a table: one row for each query and key."""
        file = io.StringIO()
        writer = csv.writer(file)
        writer.writerow(["query", "query_token", "key", "key_token", "weight"])
        for (query, key), weight in np.ndenumerate(self.weights):
            writer.writerow([query, self.queries[query], key, self.keys[key], f"{weight:.9g}"])
        return file.getvalue()

    def __repr__(self) -> str:
        return f"<{self.head_title}: {len(self.queries)} x {len(self.keys)}, of {len(self.shown.heads)} heads>"


# Attention from anywhere, brought into the heads that a picture is made of.
PATTERN = "hook_pattern"  #: how TransformerLens names attention weights in its cache


@dataclass(frozen=True)
class DisplayedHeads:
    """Layers of one shape: their heads as they are drawn, and each head's weights."""

    heads: list[HeadData]
    weights: list[np.ndarray]  #: one (H, Q, K) for each layer
    kv_counts: list[int]
    layer_ids: list[int]  #: what each layer is called
    ids: Sequence[int | str] | None = None  #: labels or ids of the tokens, where they are known

    @property
    def counts(self) -> list[int]:
        return [len(layer) for layer in self.weights]


def _alike_layers(trace: Trace, layer: int | None, row: int) -> list[tuple[int, RecordedLayer]]:
    """The layers of the shape of this one, with one sentence of their batch, and their numbers in the trace."""
    first = trace[layer or 0]
    layer_kind = (first.stack, first.kind, first.tower, first.shape[2:])
    if not -first.shape[0] <= row < first.shape[0]:
        raise Problem("row={row} is not in this batch of {count}", row=row, count=first.shape[0])
    return [
        (number, _select_row(recorded, row % first.shape[0]))
        for number, recorded in enumerate(trace.layers)
        if (recorded.stack, recorded.kind, recorded.tower, recorded.shape[2:]) == layer_kind
    ]


def _heads_of_trace(trace: Trace, alike: list[tuple[int, RecordedLayer]], row: int) -> DisplayedHeads:
    layers = [recorded for _, recorded in alike]
    weights = [recorded.weights()[0].detach().float().cpu().numpy() for recorded in layers]
    kv_counts = [recorded.n_kv_heads for recorded in layers]
    known = known_tokens(trace, row, layers[0].shape[2])
    return DisplayedHeads(raw_heads(layers), weights, kv_counts, [number for number, _ in alike], known)


def _select_row(layer: RecordedLayer, row: int) -> RecordedLayer:
    """The layer with one sentence of its batch."""
    return layer.each(
        lambda tensor: tensor[row : row + 1] if tensor.dim() >= 3 and len(tensor) == layer.shape[0] else tensor
    )


def _heads_of_arrays(arrays: list[np.ndarray]) -> DisplayedHeads:
    shapes = {weights.shape[1:] for weights in arrays}
    if len(shapes) != 1:
        raise Problem("the layers have weights of different shapes: {shapes}", shapes=MessageList(sorted(shapes)))
    q_len, k_len = arrays[0].shape[1:]
    mask = np.ones((q_len, k_len), bool)
    ahead = ~np.tri(q_len, k_len, k_len - q_len, dtype=bool)
    if ahead.any() and not any(np.nan_to_num(weights[:, ahead]).any() for weights in arrays):
        mask &= ~ahead  # nothing looks ahead anywhere: a causal model
    heads = []
    for head in (head for weights in arrays for head in weights):
        finite = np.isfinite(head)
        heads.append(HeadData(np.where(finite, head, 0).astype(np.float32), mask & finite, exact=False))
    return DisplayedHeads(heads, arrays, [len(weights) for weights in arrays], list(range(len(arrays))))


def _layer_arrays(attention: Any) -> list[Any]:
    """One entry for each layer."""
    # TransformerLens' is a mapping in all but name
    if isinstance(attention, Mapping) or hasattr(attention, "cache_dict"):
        patterns = [value for name, value in attention.items() if str(name).endswith(PATTERN)]
        if patterns:
            return patterns
    if getattr(attention, "attentions", None) is not None:
        attention = attention.attentions
    if isinstance(attention, list | tuple) and attention:
        return list(attention)
    if hasattr(attention, "shape") and 2 <= len(attention.shape) <= 4:
        return list(attention) if len(attention.shape) == 4 and attention.shape[0] != 1 else [attention]
    raise Problem(
        "{kind} holds no attention weights: give a trace, a list of arrays (heads, queries, keys), one for each layer, "
        "or a model's output with attentions",
        kind=type(attention).__name__,
    )


def _layer_weights(layer: Any, row: int) -> np.ndarray:
    """The weights of one layer, (H, Q, K)."""
    weights = layer.detach().float().cpu().numpy() if isinstance(layer, Tensor) else np.asarray(layer, np.float32)
    if weights.ndim == 4:
        if not -len(weights) <= row < len(weights):
            raise Problem("row={row} is not in this batch of {count}", row=row, count=len(weights))
        weights = weights[row]
    if weights.ndim == 2:
        weights = weights[None]
    if weights.ndim != 3 or 0 in weights.shape:
        raise Problem("a layer has weights of shape {shape}; it must be (heads, queries, keys)", shape=weights.shape)
    return weights


def _position_labels(tokens: Sequence[Any] | None, ids: Sequence[int | str] | None, count: int, side: str) -> list[str]:
    """The names of `count` positions: the tokens given, else their labels or ids, else their numbers."""
    if tokens is None:
        return [str(label) for label in (range(count) if ids is None or len(ids) != count else ids)]
    if isinstance(tokens, str):
        raise Problem(
            "tokens={text} is one string; give a list with a string for each position", text=repr(tokens)[:60]
        )
    if len(tokens) != count:
        raise Problem("there are {given} tokens for {count} {side}", given=len(tokens), count=count, side=side)
    return [str(token) for token in tokens]
