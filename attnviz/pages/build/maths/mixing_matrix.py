"""Why Q, K and V at all: attention against a fixed matrix that mixes the words.

A mixing matrix A (T, T) can be learned just as well: out = A V. It is learned here, by least
squares, to do what attention does, once on this sentence alone and once on many random ones. Then
attention and both matrices are given the sentence in another order and at another length.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from attnviz.base.message import Problem
from attnviz.core.attention import attend

SENTENCES = 400  #: random ones, on which one of the matrices is learned
LENGTHS = (4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096)


@dataclass(frozen=True)
class Config:
    x: tuple[tuple[float, ...], ...]  #: the sentence's word vectors, (T, M)
    w_q: tuple[tuple[float, ...], ...]  #: (M, D)
    w_k: tuple[tuple[float, ...], ...]  #: (M, D)
    w_v: tuple[tuple[float, ...], ...]  #: (M, Dv)
    order: tuple[int, ...]  #: the permutation: new place i holds old word order[i]


@dataclass(frozen=True)
class Case:
    """One input, given to attention and both matrices. Errors are relative to attention's output; None: no fit."""

    name: str  #: "same" | "permuted" | "longer" | "shorter" | "other"
    weights: np.ndarray  #: attention's weights, (T', T')
    equivariant: float | None  #: error of attention's first output, permuted likewise; only for "permuted"
    memorised: float | None  #: error of the matrix learned on this sentence
    learned: float | None  #: error of the matrix learned on many sentences
    error: str | None  #: PyTorch's error message where the matrix does not fit


@dataclass(frozen=True)
class Result:
    cases: tuple[Case, ...]
    attention_parameters: tuple[int, ...]  #: numbers in W_Q, W_K and W_V at each of LENGTHS: always the same
    matrix_parameters: tuple[int, ...]  #: numbers in A and W_V at each length: A has T*T


Projections = tuple[Tensor, Tensor, Tensor]  #: W_Q, W_K and W_V of one head


@lru_cache(maxsize=64)
def run(config: Config) -> Result:
    """Compare attention and both matrices on the sentence, reordered, longer, shorter, and on another sentence."""
    x = torch.tensor(config.x, dtype=torch.float64)
    length, width = x.shape
    if sorted(config.order) != list(range(length)):
        raise Problem("order={order} must name each of the {n} places once", order=config.order, n=length)
    if length < 2:
        raise Problem("Words in the sentence: {n}; at least 2 are needed to change their order", n=length)
    w_q, w_k, w_v = (torch.tensor(w, dtype=torch.float64) for w in (config.w_q, config.w_k, config.w_v))
    head = (w_q, w_k, w_v)
    generator = torch.Generator().manual_seed(0)
    many = torch.randn(SENTENCES, length, width, generator=generator, dtype=torch.float64)
    memorised, learned = _fit(head, x.unsqueeze(0)), _fit(head, many)
    order = torch.tensor(config.order)
    longer, shorter = torch.cat([x, x[:1]]), x[:-1]
    inputs = {"same": x, "permuted": x[order], "other": many[0], "longer": longer, "shorter": shorter}
    cases = tuple(_case(name, y, head, memorised, learned, x, order) for name, y in inputs.items())
    d, dv = w_q.shape[1], w_v.shape[1]
    return Result(
        cases,
        tuple(width * (2 * d + dv) for _ in LENGTHS),
        tuple(n * n + width * dv for n in LENGTHS),
    )


def _attention(head: Projections, x: Tensor) -> tuple[Tensor, Tensor]:
    """Weights (..., T, T) and output (..., T, Dv)."""
    q, k, v = ((x @ w).unsqueeze(-3) for w in head)
    stages = attend(q, k, v)
    return stages.weights.squeeze(-3), stages.output.squeeze(-3)


def _fit(head: Projections, x: Tensor) -> Tensor:
    """The A (T, T) with the smallest squared error of A V against attention's output, over all sentences x (N, T, M).

    Where several matrices are equally good (N*Dv < T), lstsq gives the one of smallest norm.
    """
    _weights, wanted = _attention(head, x)
    seen = (x @ head[2]).permute(0, 2, 1).flatten(0, 1)  # (N*Dv, T)
    target = wanted.permute(0, 2, 1).flatten(0, 1)
    return torch.linalg.lstsq(seen, target, driver="gelsd").solution.T


def _case(
    name: str, y: Tensor, head: Projections, memorised: Tensor, learned: Tensor, x: Tensor, order: Tensor
) -> Case:
    weights, wanted = _attention(head, y)
    moved = _relative(_attention(head, x)[1][order], wanted) if name == "permuted" else None
    try:
        errors = [_relative(a @ (y @ head[2]), wanted) for a in (memorised, learned)]
    except RuntimeError as refusal:
        return Case(name, weights.numpy(), moved, None, None, str(refusal))
    return Case(name, weights.numpy(), moved, errors[0], errors[1], None)


def _relative(got: Tensor, wanted: Tensor) -> float:
    return float((got - wanted).norm() / wanted.norm().clamp_min(1e-12))
