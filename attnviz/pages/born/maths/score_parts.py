"""Why a head of the small model looks there: its score by the heads before it, at any training step.

The model has attention alone, without norms: what a head reads is the token's vector and what each earlier head wrote.
So a score is exactly a table of parts of the query by parts of the key.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from attnviz.core.attention import scale_factor
from attnviz.core.rope import RoPE
from attnviz.pages.born.maths.life import AblatedHeads, Config, forward, unflatten


@dataclass(frozen=True, eq=False)
class ScoreParts:
    """A score against its competitors' by parts, and the weights of the query's row."""

    parts: tuple[str, ...]  #: "token" and heads
    table: np.ndarray  #: (P, P): parts of the query by parts of the key
    row: np.ndarray  #: (T,) weights of the query
    score: float
    baseline: float  #: the mean score of the other keys, by their weights
    entropy: float  #: of these weights, scaled to 1
    source: int | None  #: the token that the largest part of the key was read at; None: it is the token's own vector

    @property
    def largest(self) -> str:
        """The part of the key that adds most."""
        return self.parts[int(self.table.sum(0).argmax())]

    @property
    def value(self) -> float:
        """What it adds."""
        return float(self.table.sum(0).max())


def attribute_score(
    numbers: np.ndarray,
    ids: Sequence[int],
    config: Config,
    head: tuple[int, int],
    query: int,
    key: int,
    ablated: AblatedHeads = (),
) -> ScoreParts:
    """The score of `key` for `query` in a head, with these parameters (N,), by what each earlier head wrote."""
    vector = torch.from_numpy(numbers).float()
    layer, number = head
    embedding, *inside, _unembedding = unflatten(vector, config)
    _logits, weights = forward(vector, torch.tensor([ids]), config, ablated)
    stream = embedding[torch.tensor(ids)]
    parts = {"token": stream}
    for below in range(layer):
        _w_q, _w_k, w_v, w_o = inside[4 * below : 4 * below + 4]
        written = [
            weights[below][0, h]
            @ (stream @ _columns(w_v, h, config))
            @ _columns(w_o.T, h, config).T
            * float((below, h) not in ablated)
            for h in range(config.heads)
        ]
        parts |= {f"{below}.{h}": each for h, each in enumerate(written)}
        stream = stream + torch.stack(written).sum(0)
    w_q, w_k = (_columns(w, number, config) for w in inside[4 * layer : 4 * layer + 2])
    rope, places = RoPE(base=config.base), torch.arange(len(ids))
    scale = scale_factor("sqrt" if config.scaled else None, config.d_head) * float(not (config.blurred and layer == 0))
    stacked = torch.stack(list(parts.values()))
    q = rope.rotate(stacked @ w_q, places)[:, query] * scale
    k = rope.rotate(stacked @ w_k, places)
    row = weights[layer][0, number, query]
    others = row.clone()
    others[key] = 0
    others = others / others.sum().clamp_min(1e-30)
    scores = q.sum(0) @ k.sum(0).T
    table = q @ (k[:, key] - torch.einsum("k,pkd->pd", others, k)).T
    largest = int(table.sum(0).argmax())
    return ScoreParts(
        tuple(parts),
        table.numpy(),
        row.numpy(),
        float(scores[key]),
        float(others @ scores),
        float(-(others * others.clamp_min(1e-30).log()).sum()),
        None
        if largest == 0
        else int(weights[(largest - 1) // config.heads][0, (largest - 1) % config.heads, key].argmax()),
    )


def _columns(matrix: Tensor, head: int, config: Config) -> Tensor:
    return matrix[:, head * config.d_head : (head + 1) * config.d_head]
