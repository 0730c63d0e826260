"""One head of keys and values, viewed from a projection that is as wide as that of all queries."""

from __future__ import annotations

import math

from torch import Tensor

from attnviz.base.message import Message
from attnviz.runs.traps.trap import Outcome, Trap, error_of, largest_gap, picture
from attnviz.runs.word_vectors import WIDTH, Sentence

HEADS = 4


def wrong(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, n_heads: int) -> tuple[Tensor, Tensor]:
    """Multi-query attention, (T, M) -> output (T, M) and weights (H, T, keys)."""
    d = x.shape[-1] // n_heads
    q = (x @ w_q).view(-1, n_heads, d).transpose(0, 1)  # (H, T, D)
    k = (x @ w_k).view(1, -1, d)  # w_k is as wide as w_q: (1, T * H, D), and -1 takes what comes
    v = (x @ w_v).view(1, -1, d)
    weights = (q @ k.mT / math.sqrt(d)).softmax(-1)
    return (weights @ v).transpose(0, 1).reshape(x.shape), weights


def right(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, n_heads: int) -> tuple[Tensor, Tensor]:
    """The same; `w_k` and `w_v` are (M, D), one head wide."""
    d = x.shape[-1] // n_heads
    q = (x @ w_q).view(len(x), n_heads, d).transpose(0, 1)  # (H, T, D)
    k = (x @ w_k).view(1, len(x), d)  # a length that is written out is checked
    v = (x @ w_v).view(1, len(x), d)
    weights = (q @ k.mT / math.sqrt(d)).softmax(-1)
    return (weights @ v).transpose(0, 1).reshape(x.shape), weights


def run(s: Sentence) -> Outcome:
    d, length = WIDTH // HEADS, len(s)
    bad_output, bad = wrong(s.x, s.w_q, s.w_k, s.w_v, HEADS)
    good_output, good = right(s.x, s.w_q, s.w_k[:, :d], s.w_v[:, :d], HEADS)
    of_words = bad.unflatten(-1, (length, -1)).sum(-1)  # (H, T, T): a word's pieces together
    return Outcome(
        picture(of_words[0], s.words),
        picture(good[0], s.words),
        largest_gap(of_words, good),
        (
            Message(
                "Words: {words}. Keys: {keys}, for each word's vector of {width} is cut into {pieces} keys of {d}, and "
                "each query chooses among all of them. (Drawn, for head 0: what a word's keys get together.)",
                {"words": length, "keys": bad.shape[-1], "width": WIDTH, "pieces": bad.shape[-1] // length, "d": d},
            ),
            Message(
                "The output has shape {wrong} in one and {right} in the other: only the weights, {weights} in place "
                "of {expected}, tell.",
                {
                    "wrong": tuple(bad_output.shape),
                    "right": tuple(good_output.shape),
                    "weights": tuple(bad.shape),
                    "expected": tuple(good.shape),
                },
            ),
            Message(
                "With the length written out, PyTorch refuses the wide matrices: {error}",
                {"error": error_of(right, s.x, s.w_q, s.w_k, s.w_v, HEADS)},
            ),
        ),
    )


TRAP = Trap(
    "query_heads_of_keys",
    Message("MQA with a key for each query head"),
    Message(
        "Multi-query attention has one head of keys and values, so their projections are one head wide. Where they are "
        "left as wide as the queries', a view with -1 makes T x H keys of T words, and the sum over keys hides it."
    ),
    (wrong,),
    (right,),
    run,
)
