"""Live pictures of attention in notebook cells, without a server, network or extension."""

from __future__ import annotations

import base64
import csv
import html
import io
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from torch import Tensor

from attnviz.analysis.head_matrix import raw_heads, telling_row
from attnviz.base import words
from attnviz.base.extras import ExtraMissing
from attnviz.base.head_record import HeadData, HeadGrid, HeadTitles, HeadView
from attnviz.base.message import MessageList, Problem
from attnviz.base.rasterised import render_png
from attnviz.base.words import _, require_languages, use_language
from attnviz.live import LiveView, live_page
from attnviz.live.film_file import film_bytes
from attnviz.live.matrix_figures import HeadFigure, HeadFilm
from attnviz.live.scene_figure import FrameOptions, SceneFigure
from attnviz.models.capture import RecordedLayer, Trace

#: The picture's scripts run, and may offer a file to keep; the notebook around it is out of their reach.
SANDBOX = "allow-scripts allow-downloads"
PictureTheme = Literal["auto", "light", "dark"]


def show(
    attention: Any,
    tokens: Sequence[str] | tuple[Sequence[str], Sequence[str]] | None = None,
    layer: int | None = None,
    head: int | None = None,
    theme: PictureTheme | None = None,
    *,
    row: int = 0,
    height: int = 640,
    title: str = "",
    language: str | None = None,
) -> NotebookView:
    """A live picture of `attention`: every head, and of a trace every mask and scale, still to be moved.

    `attention` is a trace, weights (heads, queries, keys) of each layer in a list, a model's output with attentions, or
    a cache of TransformerLens. `tokens` are the labels of one sentence, or of queries and keys as two lists in a tuple.
    `layer` and `head` are shown first, negative ones counted from the end; `row` is the sentence of a batch. `theme`
    None follows the reader's own.
    `language` is that of the picture's texts, "en" or "zh"; None: the current one.
    """
    if language is not None:
        require_languages(language)
    heads = (
        _heads_of_trace(attention, layer, row)
        if isinstance(attention, Trace)
        else _heads_of_arrays([_layer_weights(layer_weights, row) for layer_weights in _layer_arrays(attention)])
    )
    count = len(attention) if isinstance(attention, Trace) else len(heads.layer_ids)
    number = layer + count if layer is not None and layer < 0 else layer
    if number is not None and number not in heads.layer_ids:
        raise Problem("layer={layer} is not among {layers}", layer=layer, layers=str(heads.layer_ids))
    layer_index = 0 if number is None else heads.layer_ids.index(number)
    if not -heads.counts[layer_index] <= (head or 0) < heads.counts[layer_index]:
        raise Problem(
            "head {head} does not exist: layer {index} has heads 0 to {last}",
            head=head,
            index=heads.layer_ids[layer_index],
            last=heads.counts[layer_index] - 1,
        )
    q_len, k_len = heads.weights[0].shape[1:]
    both = isinstance(tokens, tuple) and len(tokens) == 2 and not isinstance(tokens[0], str)
    labels: Any = tokens if both else (tokens, tokens if q_len == k_len else None)
    picture_language = words.selected_language() if language is None else language
    with use_language(picture_language):
        queries = _position_labels(labels[0], heads.ids, q_len, _("queries"))
        keys = _position_labels(labels[1], heads.ids, k_len, _("keys"))
    return NotebookView(
        heads,
        queries,
        keys,
        (layer_index, (head or 0) % heads.counts[layer_index]),
        theme or "auto",
        height,
        title,
        picture_language,
    )


@dataclass(frozen=True, repr=False)
class NotebookView:
    """A live picture that a notebook displays as a cell's output; `save` writes it to a file."""

    shown: DisplayedHeads
    queries: list[str]
    keys: list[str]
    at: tuple[int, int]
    theme: PictureTheme
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
        share = self.shown.counts[self.at[0]] // self.shown.kv_counts[self.at[0]]
        with use_language(self.language):
            titles = HeadTitles(_("Layer {layer}, head {head}"), share)
            first = HeadView(self.head_title, tile=self.at, titles=titles)
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

    @property
    def svg(self) -> str:
        """That head as a still picture."""
        return self._still()

    def _still(self, brings_font: bool = True) -> str:
        data = HeadData.of_values(self.weights, self.queries, self.keys, ~self._first.mask)
        with use_language(self.language):
            return SceneFigure((HeadFigure(data, HeadView(self.head_title)),)).to_svg(
                background=self._paper, title=self.title or self.head_title, brings_font=brings_font
            )

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
    def _paper(self) -> Literal["dark", "white"]:
        return "dark" if self.theme == "dark" else "white"

    @property
    def csv(self) -> str:
        """That head as a table: one row for each query and key."""
        file = io.StringIO()
        writer = csv.writer(file)
        writer.writerow(["query", "query_token", "key", "key_token", "weight"])
        for (query, key), weight in np.ndenumerate(self.weights):
            writer.writerow([query, self.queries[query], key, self.keys[key], f"{weight:.9g}"])
        return file.getvalue()

    def save(self, path: Path | str) -> Path:
        """Write the live file (.html), or the head on show first as a picture (.svg, .png) or a table (.csv).

        As a film (.gif, .webp) it is the row that tells most, from its words to a mixture of values.
        """
        path = Path(path)
        ending = path.suffix.lower()
        if ending in (".gif", ".webp"):
            contents = self._film(ending[1:])
        elif ending in (".html", ".svg", ".png", ".csv"):
            contents = render_png(self.svg) if ending == ".png" else str(getattr(self, ending[1:])).encode()
        else:
            raise Problem("{name} must end in .html, .svg, .png, .gif, .webp or .csv", name=path.name)
        path.write_bytes(contents)
        return path

    def _repr_html_(self) -> str:
        with use_language(self.language):
            name, summary = html.escape(self.title or self.head_title), html.escape(_("Still picture"))
        below = ""
        with suppress(ExtraMissing):  # without the engine that draws it, the live picture stands alone
            still = base64.b64encode(self._still(brings_font=False).encode()).decode()
            below = (
                f"<details><summary>{summary}</summary>"
                f'<img alt="{name}" src="data:image/svg+xml;base64,{still}"></details>'
            )
        return (
            f'<div style="resize:vertical;overflow:hidden;height:{self.height}px;min-height:240px">'
            f'<iframe title="{name}" sandbox="{SANDBOX}" style="width:100%;height:100%;border:0" '
            f'srcdoc="{html.escape(self.html)}"></iframe></div>{below}'
        )

    def _repr_svg_(self) -> str | None:
        """For places that show no frames: a notebook keeps both. None without the engine that draws it."""
        with suppress(ExtraMissing):
            return self._still(brings_font=False)
        return None

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


def _heads_of_trace(trace: Trace, layer: int | None, row: int) -> DisplayedHeads:
    first = trace[layer or 0]
    layer_kind = (first.stack, first.kind, first.tower, first.shape[2:])
    alike = [
        (number, recorded)
        for number, recorded in enumerate(trace.layers)
        if (recorded.stack, recorded.kind, recorded.tower, recorded.shape[2:]) == layer_kind
    ]
    if not -first.shape[0] <= row < first.shape[0]:
        raise Problem("row={row} is not in this batch of {count}", row=row, count=first.shape[0])
    layers = [_select_row(recorded, row % first.shape[0]) for _, recorded in alike]
    weights = [recorded.weights()[0].detach().float().cpu().numpy() for recorded in layers]
    kv_counts = [recorded.n_kv_heads for recorded in layers]
    ids = trace.inputs.get("input_ids")
    tokens = trace.tokens
    known: Sequence[int | str] | None = (tokens if isinstance(tokens[0], str) else tokens[row]) if tokens else None
    if known is None and ids is not None and ids.dim() == 2 and ids.shape[1] == first.shape[2]:
        known = ids[row].tolist()
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
