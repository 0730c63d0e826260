"""Why Q, K and V, why softmax, why several heads: attention measured beside what would do without them."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from attnviz.base.message import Problem
from attnviz.core.attention import attend

# Why Q, K and V at all: attention against a fixed matrix that mixes the words.
#
# A mixing matrix A (T, T) can be learned just as well: out = A V. It is learned here, by least
# squares, to do what attention does, once on this sentence alone and once on many random ones. Then
# attention and both matrices are given the sentence in another order and at another length.
LEARNED_FROM = 400  #: random sentences, on which one of the matrices is learned
LENGTHS = (4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096)


@dataclass(frozen=True)
class MixingConfig:
    """One head's projections on a sentence's word vectors, and a permutation of its words."""

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
class ComparedMixing:
    """Attention beside learned mixing matrices: the inputs tried, and parameter counts by sentence length."""

    cases: tuple[Case, ...]
    attention_parameters: tuple[int, ...]  #: numbers in W_Q, W_K and W_V at each of LENGTHS: always the same
    matrix_parameters: tuple[int, ...]  #: numbers in A and W_V at each length: A has T*T


Projections = tuple[Tensor, Tensor, Tensor]  #: W_Q, W_K and W_V of one head


@lru_cache(maxsize=64)
def compare_mixing(config: MixingConfig) -> ComparedMixing:
    """Compare attention and both matrices on the sentence, reordered, longer, shorter, and on another sentence."""
    x = torch.tensor(config.x, dtype=torch.float64)
    length, width = x.shape
    if sorted(config.order) != list(range(length)):
        raise Problem("order={order} must name each of the {n} places once", order=config.order, n=length)
    if length < 2:
        raise Problem("Words in the sentence: {n}; at least 2 are needed to change their order", n=length)
    w_q, w_k, w_v = (torch.tensor(w, dtype=torch.float64) for w in (config.w_q, config.w_k, config.w_v))
    head = (w_q, w_k, w_v)
    many = torch.randn(LEARNED_FROM, length, width, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    memorised, learned = _fit(head, x.unsqueeze(0)), _fit(head, many)
    order = torch.tensor(config.order)
    longer, shorter = torch.cat([x, x[:1]]), x[:-1]
    inputs = {"same": x, "permuted": x[order], "other": many[0], "longer": longer, "shorter": shorter}
    cases = tuple(_case(name, y, head, memorised, learned, x, order) for name, y in inputs.items())
    d, dv = w_q.shape[1], w_v.shape[1]
    return ComparedMixing(
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
    _weights, expected = _attention(head, x)
    seen = (x @ head[2]).permute(0, 2, 1).flatten(0, 1)  # (N*Dv, T)
    return torch.linalg.lstsq(seen, expected.permute(0, 2, 1).flatten(0, 1), driver="gelsd").solution.T


def _case(
    name: str, y: Tensor, head: Projections, memorised: Tensor, learned: Tensor, x: Tensor, order: Tensor
) -> Case:
    weights, expected = _attention(head, y)
    weights_error = _relative_error(_attention(head, x)[1][order], expected) if name == "permuted" else None
    try:
        errors = [_relative_error(a @ (y @ head[2]), expected) for a in (memorised, learned)]
    except RuntimeError as refusal:
        return Case(name, weights.numpy(), weights_error, None, None, str(refusal))
    return Case(name, weights.numpy(), weights_error, errors[0], errors[1], None)


def _relative_error(actual: Tensor, expected: Tensor) -> float:
    return float((actual - expected).norm() / expected.norm().clamp_min(1e-12))


# Why softmax: the same scores turned into weights in six ways, and what each way breaks.
#: Ids of the ways to make weights from one row of scores, in the order in which they are shown.
NORMALISERS: dict[str, Callable[[Tensor], Tensor]] = {
    "softmax": lambda s: s.softmax(-1),
    "argmax": lambda s: torch.nn.functional.one_hot(s.argmax(-1), s.shape[-1]).to(s.dtype),
    "plain": lambda s: s,
    "share": lambda s: s / s.sum(-1, keepdim=True),
    "sigmoid": torch.sigmoid,
    "relu": torch.relu,
}
COPIES = (1, 2, 4, 8, 16, 32)


@dataclass(frozen=True)
class Measures:
    """What one normaliser does to one query's scores; K keys, values Dv wide."""

    weights: np.ndarray  #: (K,)
    gradient: float  #: norm of d output / d scores: 0 means nothing can be learned from this row
    shift: float  #: how far the output moves when every score grows by 1
    growth: np.ndarray  #: norm of the output when every key is repeated, once for each number in COPIES


def measure_normalisers(scores: np.ndarray, values: np.ndarray) -> dict[str, Measures]:
    """Every normaliser on one query's `scores` (K,), taken before the mask, and the keys' `values` (K, Dv)."""
    s, v = torch.tensor(scores, dtype=torch.float64), torch.tensor(values, dtype=torch.float64)
    return {name: _measure(make, s, v) for name, make in NORMALISERS.items()}


def _measure(make: Callable[[Tensor], Tensor], scores: Tensor, values: Tensor) -> Measures:
    weights = make(scores)
    return Measures(
        weights.numpy(),
        _gradient(make, scores, values),
        float((make(scores + 1) @ values - weights @ values).norm()),
        np.array([float((make(scores.repeat(n)) @ values.repeat(n, 1)).norm()) for n in COPIES]),
    )


def _gradient(make: Callable[[Tensor], Tensor], scores: Tensor, values: Tensor) -> float:
    """Frobenius norm of the (Dv, K) Jacobian of the output; 0 where autograd finds no path to the scores."""
    leaf = scores.clone().requires_grad_()
    output = make(leaf) @ values
    if not output.requires_grad:
        return 0.0
    return float(torch.stack([torch.autograd.grad(o, leaf, retain_graph=True)[0] for o in output]).norm())


# Why several heads: a query that has to look at several words, with one head and with several.
#
# With H=2, every word must carry the word before it in the first half of its output and the word
# after it in the second half. A single softmax can only hand over a mixture
# a*before + (1-a)*after, and no linear map after it can tell which was which: whatever a is, half of
# the signal is lost. Two heads of half the width look at one neighbour each and lose nothing.
OFFSETS = (-1, 1, -2, 2)  #: where head 1, 2, 3, 4 look, counted from the query's own place
SHARES = np.arange(21) / 20  #: of the single head's weight for the first word, that are tried
NOTHING = 1e-9  # stands for a share of 0, whose logarithm would be infinite
SHARPNESS = 12.0  #: score of a place that is looked at; all other places score 0
SENTENCES = 800  #: random sentences on which the read-out is fitted and the blur measured


@dataclass(frozen=True)
class HeadsConfig:
    """A pattern with H targets for each query, and one wide head beside H narrow heads."""

    tokens: tuple[str, ...] = ("the", "cat", "sat", "on", "the", "mat")
    d_model: int = 8  #: M: width of the one head, or of the H heads together
    n_heads: int = 2  #: H: how many words each query has to look at, 2 to 4
    share: float = 0.5  #: part of the single head's weight for the first word; the others share the rest


@dataclass(frozen=True)
class ComparedHeads:
    """Blur is the part of the wanted signal's variance that the best linear read-out misses, 0 to 1."""

    one_head: np.ndarray  #: weights (Q, K) of the single head
    heads: np.ndarray  #: weights (H, Q, K)
    blur_one: np.ndarray  #: (H,) the single head's blur of each word looked at
    blur_heads: np.ndarray  #: (H,) the same with H heads
    blur_by_share: np.ndarray  #: (SHARES, H): the single head's blur of each word
    parameters: int  #: numbers in W_Q, W_K, W_V and W_O: the same for both


@lru_cache(maxsize=64)
def compare_heads(config: HeadsConfig) -> ComparedHeads:
    """Blur of one head of width M, and of H heads of width M/H, on the same random word vectors."""
    offsets = OFFSETS[: config.n_heads]
    length = len(config.tokens)
    shape = (SENTENCES, length, config.d_model)
    x = torch.randn(shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    # (H, Q, K): scores that point each query at the word so many places away, around the sentence's ends
    sharp = torch.stack([torch.eye(length, dtype=torch.float64).roll(o, 1) * SHARPNESS for o in offsets])
    single, brought_by_one = _heads_attention(_single_head_scores(sharp, config.share), x)
    several, brought = _heads_attention(sharp, x)
    return ComparedHeads(
        one_head=single[0].numpy(),
        heads=several.numpy(),
        blur_one=_blur(brought_by_one, x, offsets),
        blur_heads=_blur(brought, x, offsets),
        blur_by_share=np.stack(
            [_blur(_heads_attention(_single_head_scores(sharp, a), x)[1], x, offsets) for a in SHARES]
        ),
        parameters=4 * config.d_model**2,
    )


def _single_head_scores(sharp: Tensor, share: float) -> Tensor:
    """Scores (1, Q, K) of one head that gives `share` to the first of the H places, the rest to the others."""
    heads = len(sharp)
    parts = torch.tensor([share] + [(1 - share) / (heads - 1)] * (heads - 1), dtype=sharp.dtype)
    logarithms = (parts + NOTHING).log().reshape(-1, 1, 1) * (sharp > 0)
    return (sharp + logarithms).sum(0, keepdim=True)


def _heads_attention(scores: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    """Weights (H, Q, K) and joined outputs (N, Q, M), from scores (H, Q, K) and words x (N, K, M) of N sentences.

    Keys are one-hot vectors and queries the rows of `scores`, so that q.kT is exactly `scores`.
    Each head takes the first M/H columns of x as its values.
    """
    heads, length, _ = scores.shape
    keys = torch.eye(length, dtype=scores.dtype).expand(1, heads, length, length)
    values = x[..., : x.shape[-1] // heads].unsqueeze(1).expand(-1, heads, -1, -1)  # (N, H, K, M/H)
    stages = attend(scores.unsqueeze(0), keys, values, scale=None)
    return stages.weights[0], stages.output.transpose(1, 2).flatten(2)


def _blur(brought: Tensor, x: Tensor, offsets: tuple[int, ...]) -> np.ndarray:
    """Share of variance that the best linear map misses, for each target, (H,). A target has M/H columns."""
    width = x.shape[-1] // len(offsets)
    seen = brought.flatten(0, 1)
    missed = []
    for offset in offsets:
        signal = x[..., :width].roll(-offset, 1).flatten(0, 1)
        read_out = torch.linalg.lstsq(seen, signal).solution
        missed.append(float((seen @ read_out - signal).square().sum() / signal.square().sum()))
    return np.array(missed)
