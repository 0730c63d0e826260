"""Heads before their softmax, taken from a run, to be packed for whoever computes their weights elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from torch import Tensor

from attnviz.base.raw_scores import RawHead
from attnviz.models.capture import RecordedLayer
from attnviz.runs.model_run import Stack


def raw_head(stack: Stack, layer: int, head: int) -> RawHead:
    """One head, with its q and k; `layer` and `head` count from 0 within the stack."""
    chosen = stack.layers[layer]
    result = _of_layer(chosen, [head])[0]
    if chosen.q is None or chosen.k is None:
        return result
    q, k = chosen.q[0, head], chosen.k[0, head // (chosen.n_heads // chosen.n_kv_heads)]
    return replace(result, q=_array(q.float()), k=_array(k.float()))


def raw_heads(stack: Stack) -> list[RawHead]:
    """All heads, layer by layer: for sentences of at most some dozens of tokens."""
    return raw_heads_of(stack.layers)


def raw_heads_of(layers: Sequence[RecordedLayer]) -> list[RawHead]:
    """All heads of these layers, layer by layer, for the first sentence of their batch."""
    return [head for layer in layers for head in _of_layer(layer, list(range(layer.n_heads)))]


def _of_layer(layer: RecordedLayer, heads: list[int]) -> list[RawHead]:
    masks = _per_head(layer.mask, heads, layer)
    padding = None if layer.padding is None else _array(layer.padding)[0, 0, 0]
    if not layer.exact:
        weights = _array(layer.weights(heads)[0].float())
        return [RawHead(weights[i], masks[i], 1.0, 0, False, padding) for i in range(len(heads))]
    scores = _array(layer.stages_of(heads, mask=None, scale=None, values=False).scores[0].float())
    biases = None if layer.bias is None else _per_head(layer.bias.float(), heads, layer)
    sinks = None if layer.sinks is None else layer.sinks.float().cpu().tolist()
    width = 0 if layer.q is None else layer.q.shape[-1]
    return [
        RawHead(
            scores[i],
            masks[i],
            layer.scale_of(head),
            width,
            True,
            padding,
            None if biases is None else biases[i],
            layer.softcap,
            None if sinks is None else sinks[head],
        )
        for i, head in enumerate(heads)
    ]


def _per_head(tensor: Tensor, heads: list[int], layer: RecordedLayer) -> Any:
    """What broadcasts to (B, H, Q, K), for the first sentence and these heads, as views (h, Q, K)."""
    _, n_heads, q_len, k_len = layer.shape
    given = tensor.detach()
    whole = given.reshape((1,) * (4 - given.dim()) + tuple(given.shape))[:1]
    return _array(whole.expand(1, n_heads, q_len, k_len)[0])[heads]


def _array(tensor: Tensor) -> np.ndarray:
    return tensor.detach().cpu().numpy()
