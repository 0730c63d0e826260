"""The ways in which positions come into attention, by id, with random numbers in place of what would be learned."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import torch

from attnviz.base.message import Problem, Several
from attnviz.core.positions import ALiBi, Learned, Position, Sinusoidal, T5Bias
from attnviz.core.rope import RoPE
from attnviz.models.capture import learned_positions
from attnviz.models.catalogue import LoadedModel
from attnviz.runs.word_vectors import drawn

WithTable = TypeVar("WithTable", Learned, T5Bias)

#: Ids, in the order in which they are shown.
KINDS = ("none", "sinusoidal", "learned", "rope-half", "rope-interleaved", "alibi", "t5")
ADDED = ("sinusoidal", "learned")  #: to the input, before queries and keys are projected from it
ROTATED = ("rope-half", "rope-interleaved")  #: queries and keys themselves
BIASED = ("alibi", "t5")  #: the scores
LONGEST = 512  #: positions in a learned table, as in BERT


def position(kind: str, width: int, n_heads: int, *, base: float = 10_000.0, seed: int = 0) -> Position:
    """The encoding `kind` for inputs of this width; what a model would learn is standard normal, from the seed."""
    if kind not in KINDS:
        raise Problem("{kind} must be one of {allowed}", kind=kind, allowed=Several(KINDS))
    if kind == "sinusoidal":
        return Sinusoidal(base)
    if kind in ROTATED:
        return RoPE(base=base, pairing="half" if kind == "rope-half" else "interleaved")
    if kind == "alibi":
        return ALiBi(n_heads)
    if kind == "learned":
        return filled(Learned(LONGEST, width), drawn(seed, LONGEST, width))
    if kind == "t5":
        return t5(n_heads, seed)
    return Position()


def t5(n_heads: int, seed: int, *, bidirectional: bool = True) -> T5Bias:
    """T5's bias with a random table (buckets, H)."""
    made = T5Bias(n_heads, bidirectional=bidirectional)
    return filled(made, drawn(seed, made.buckets, n_heads))


def filled(made: WithTable, table: torch.Tensor) -> WithTable:
    """`made` with these numbers as its table, in float64."""
    with torch.no_grad():
        made.table.weight = torch.nn.Parameter(table.double(), requires_grad=False)
    return made


MODEL = "minilm-l6"  #: a packaged model that has such vectors


def table(loaded: LoadedModel) -> np.ndarray:
    """(positions, M), float32."""
    found = learned_positions(loaded.model)
    if found is None:
        raise Problem("{model} has no learned positions", model=loaded.entry.name)
    return found.float().cpu().numpy()
