"""Mistakes in cutting queries, keys and values into heads."""

import math
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn

from attnviz.analysis.traps import Outcome, error_message, largest_gap, picture
from attnviz.analysis.word_vectors import WIDTH, Sentence
from attnviz.base.largest import find_largest
from attnviz.base.message import Message
from attnviz.base.rounding import Rounded
from attnviz.core.projections import split_heads

HEADS, KV_HEADS = 4, 2
HEAD_WIDTH = WIDTH // HEADS


# Slicing out heads: i:(i+1)*d instead of i*d:(i+1)*d.
def wrong_head_slices(q: Tensor, k: Tensor, n_heads: int) -> list[Tensor]:
    d = q.shape[-1] // n_heads
    weights = []
    for i in range(n_heads):
        qi, ki = q[:, i : (i + 1) * d], k[:, i : (i + 1) * d]  # starts at i, not at i * d
        weights.append((qi @ ki.T / math.sqrt(d)).softmax(-1))
    return weights


def right_head_slices(q: Tensor, k: Tensor, n_heads: int) -> list[Tensor]:
    d = q.shape[-1] // n_heads
    weights = []
    for i in range(n_heads):
        qi, ki = q[:, i * d : (i + 1) * d], k[:, i * d : (i + 1) * d]
        weights.append((qi @ ki.T / math.sqrt(d)).softmax(-1))
    return weights


def run_head_slices(s: Sentence) -> Outcome:
    bad, good = torch.stack(wrong_head_slices(s.q, s.k, HEADS)), torch.stack(right_head_slices(s.q, s.k, HEADS))
    d = HEAD_WIDTH
    headings = (
        Message("head"),
        Message("coordinates, wrong"),
        Message("coordinates, right"),
        Message("largest difference"),
    )
    rows = [
        (
            str(i),
            f"{i}:{(i + 1) * d}  ({(i + 1) * d - i})",
            f"{i * d}:{(i + 1) * d}  ({d})",
            f"{Rounded(largest_gap(bad[i], good[i])):.3f}",
        )
        for i in range(HEADS)
    ]
    return Outcome(
        picture(bad[-1], s.words),
        picture(good[-1], s.words),
        largest_gap(bad, good),
        (
            Message(
                "Head 0 is right, so a look at one head finds nothing. Head {last} (drawn) reads {wide} coordinates "
                "instead of {d}, {shared} of them those of the heads before it.",
                {"last": HEADS - 1, "wide": WIDTH - HEADS + 1, "d": d, "shared": WIDTH - HEADS + 1 - d},
            ),
        ),
        (headings, *rows),
    )


# One head of keys and values, viewed from a projection that is as wide as that of all queries.
def wrong_query_heads_of_keys(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, n_heads: int) -> tuple[Tensor, Tensor]:
    """Multi-query attention, (T, M) -> output (T, M) and weights (H, T, keys)."""
    d = x.shape[-1] // n_heads
    q = (x @ w_q).view(-1, n_heads, d).transpose(0, 1)  # (H, T, D)
    k = (x @ w_k).view(1, -1, d)  # w_k is as wide as w_q: (1, T * H, D), and -1 takes what comes
    v = (x @ w_v).view(1, -1, d)
    weights = (q @ k.mT / math.sqrt(d)).softmax(-1)
    return (weights @ v).transpose(0, 1).reshape(x.shape), weights


def right_query_heads_of_keys(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, n_heads: int) -> tuple[Tensor, Tensor]:
    """The same; `w_k` and `w_v` are (M, D), one head wide."""
    d = x.shape[-1] // n_heads
    q = (x @ w_q).view(len(x), n_heads, d).transpose(0, 1)  # (H, T, D)
    k = (x @ w_k).view(1, len(x), d)  # a length that is written out is checked
    v = (x @ w_v).view(1, len(x), d)
    weights = (q @ k.mT / math.sqrt(d)).softmax(-1)
    return (weights @ v).transpose(0, 1).reshape(x.shape), weights


def run_query_heads_of_keys(s: Sentence) -> Outcome:
    d, length = HEAD_WIDTH, len(s)
    bad_output, bad = wrong_query_heads_of_keys(s.x, s.w_q, s.w_k, s.w_v, HEADS)
    good_output, good = right_query_heads_of_keys(s.x, s.w_q, s.w_k[:, :d], s.w_v[:, :d], HEADS)
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
                {"error": error_message(right_query_heads_of_keys, s.x, s.w_q, s.w_k, s.w_v, HEADS)},
            ),
        ),
    )


# K/V heads that are to serve groups of query heads: expand refuses, and repeat pairs them wrongly.
def wrong_expanded_heads(q: Tensor, k: Tensor) -> Tensor:
    """q (H, T, D), k (G, T, D) -> weights (H, T, T)."""
    k = k.expand(q.shape[0], -1, -1)  # expand makes many of one, not four of two
    return (q @ k.mT / math.sqrt(q.shape[-1])).softmax(-1)


def quick_cure(q: Tensor, k: Tensor) -> Tensor:
    """Runs, and gives neighbouring query heads different K/V heads."""
    k = k.repeat(q.shape[0] // k.shape[0], 1, 1)  # K/V heads 0 1 0 1
    return (q @ k.mT / math.sqrt(q.shape[-1])).softmax(-1)


def right_expanded_heads(q: Tensor, k: Tensor) -> Tensor:
    """The same; one K/V head serves neighbouring query heads."""
    k = k.repeat_interleave(q.shape[0] // k.shape[0], dim=0)  # K/V heads 0 0 1 1
    return (q @ k.mT / math.sqrt(q.shape[-1])).softmax(-1)


def run_expanded_heads(s: Sentence) -> Outcome:
    q, k = split_heads(s.q, HEADS), split_heads(s.k[:, : KV_HEADS * HEAD_WIDTH], KV_HEADS)
    cured, good = quick_cure(q, k), right_expanded_heads(q, k)
    gaps = [largest_gap(cured[head], good[head]) for head in range(HEADS)]
    most = find_largest(np.round(gaps, 3))  # to the digits that are shown
    single_head, groups = k[:1], torch.arange(KV_HEADS)
    theirs = groups.repeat_interleave(HEADS // KV_HEADS)
    return Outcome(
        picture(cured[most.index], s.words),
        picture(good[most.index], s.words),
        largest_gap(cured, good),
        (
            Message(
                "expand works with one K/V head (MQA: {mqa:.3f} from the right code) and with as many as query heads "
                "(MHA: {mha:.3f}), so tests of these two pass. {kv} K/V heads for {heads} query heads raise.",
                {
                    "mqa": largest_gap(wrong_expanded_heads(q, single_head), right_expanded_heads(q, single_head)),
                    "mha": largest_gap(wrong_expanded_heads(q, q), right_expanded_heads(q, q)),
                    "kv": KV_HEADS,
                    "heads": HEADS,
                },
            ),
            Message(
                "repeat raises nothing, and hands {swapped} of {heads} query heads the K/V head of another group.",
                {"swapped": int((groups.repeat(HEADS // KV_HEADS) != theirs).sum()), "heads": HEADS},
            ),
            Message(
                "Drawn: repeat in head {head}, which is off most, by {gap:.3f}.",
                {"head": most.index, "gap": most.value},
            )
            if most.alone
            else Message("Drawn: repeat in head {head}, off by {gap:.3f}.", {"head": most.index, "gap": most.value}),
        ),
        error=error_message(wrong_expanded_heads, q, k),
    )


# A class for grouped queries that does not hand its number of groups on.
class SharedKeyAttention(nn.Module):
    """Weights (H, T, T) of x (T, M). `group_num`: heads of keys and values; None: one for each query head."""

    def __init__(self, d_model: int, n_heads: int, group_num: int | None = None) -> None:
        super().__init__()
        self.n_heads, self.group_num = n_heads, group_num or n_heads
        self.w_q = nn.Linear(d_model, d_model, bias=False)
        self.w_k = nn.Linear(d_model, self.group_num * (d_model // n_heads), bias=False)

    def forward(self, x: Tensor) -> Tensor:
        q = self.w_q(x).unflatten(-1, (self.n_heads, -1)).transpose(0, 1)
        k = self.w_k(x).unflatten(-1, (self.group_num, -1)).transpose(0, 1)
        k = k.repeat_interleave(self.n_heads // self.group_num, dim=0)
        return (q @ k.mT / math.sqrt(q.shape[-1])).softmax(-1)


class WrongGroupedQueryAttention(SharedKeyAttention):
    def __init__(self, d_model: int, n_heads: int, group_num: int) -> None:
        super().__init__(d_model, n_heads)  # group_num ends here


class RightGroupedQueryAttention(SharedKeyAttention):
    def __init__(self, d_model: int, n_heads: int, group_num: int) -> None:
        super().__init__(d_model, n_heads, group_num)
        assert self.w_k.out_features * n_heads == d_model * group_num  # no output's shape tells


def run_group_num(s: Sentence) -> Outcome:
    def of(make: Callable[[int, int, int], SharedKeyAttention], group_num: int = KV_HEADS) -> SharedKeyAttention:
        layer = make(WIDTH, HEADS, group_num)
        layer.w_q.weight.data = s.w_q.T
        layer.w_k.weight.data = s.w_k.T[: layer.w_k.out_features]
        return layer

    wrong, right, all_heads, one_head = (
        of(WrongGroupedQueryAttention),
        of(RightGroupedQueryAttention),
        of(SharedKeyAttention, HEADS),
        of(SharedKeyAttention, 1),
    )
    bad, good = wrong(s.x), right(s.x)
    return Outcome(
        picture(bad[-1], s.words),
        picture(good[-1], s.words),
        largest_gap(bad, good),
        (
            Message(
                "Nothing raises, and the weights are {shape} in both. Asked for {asked} K/V heads, the wrong class has "
                "{heads}: its weights are {same:.1e} from those of MHA. (Drawn: head {last}.)",
                {
                    "shape": " × ".join(map(str, bad.shape)),
                    "asked": KV_HEADS,
                    "heads": wrong.group_num,
                    "same": largest_gap(bad, all_heads(s.x)),
                    "last": HEADS - 1,
                },
            ),
            Message(
                "With 1 as the default it would be MQA, up to {gap:.3f} off. Only sizes tell: W_K has {wrong} numbers "
                "and not {right}, and a cache keeps keys of {kept} numbers a token, not {meant}.",
                {
                    "gap": largest_gap(one_head(s.x), good),
                    "wrong": wrong.w_k.weight.numel(),
                    "right": right.w_k.weight.numel(),
                    "kept": wrong.w_k.out_features,
                    "meant": right.w_k.out_features,
                },
            ),
        ),
    )


# Keys and values viewed with the length of the queries.
def wrong_query_length(x_q: Tensor, x_kv: Tensor, w_q: Tensor, w_k: Tensor, n_heads: int) -> Tensor:
    """x_q (Q, M), x_kv (K, M) -> weights (H, Q, K)."""
    length, width = x_q.shape
    d = width // n_heads
    q = (x_q @ w_q).view(length, n_heads, d).transpose(0, 1)
    k = (x_kv @ w_k).view(length, n_heads, d).transpose(0, 1)  # the queries' length
    return (q @ k.mT / math.sqrt(d)).softmax(-1)


def right_query_length(x_q: Tensor, x_kv: Tensor, w_q: Tensor, w_k: Tensor, n_heads: int) -> Tensor:
    """The same."""
    d = x_q.shape[-1] // n_heads
    q = (x_q @ w_q).view(len(x_q), n_heads, d).transpose(0, 1)
    k = (x_kv @ w_k).view(len(x_kv), n_heads, d).transpose(0, 1)  # their own length
    return (q @ k.mT / math.sqrt(d)).softmax(-1)


def run_query_length(s: Sentence) -> Outcome:
    asking = max(1, len(s) // 3)  # the last words ask the whole sentence, as a decoder asks an encoder or a cache
    asking_words, arguments = s.words[-asking:], (s.x[-asking:], s.x, s.w_q, s.w_k, HEADS)
    good = right_query_length(*arguments)
    self_attention = (s.x, s.x, s.w_q, s.w_k, HEADS)
    error = error_message(wrong_query_length, *arguments)
    bad = None if error else wrong_query_length(*arguments)
    return Outcome(
        None if bad is None else picture(bad[0], asking_words, s.words),
        picture(good[0], asking_words, s.words),
        None if bad is None else largest_gap(bad, good),
        (
            Message(
                "Queries: {q}. Keys: {k}. view is asked to lay out {given} numbers as {q} × {heads} × {d}, which takes "
                "{wanted}. (Drawn: head 0.)",
                {
                    "q": asking,
                    "k": len(s),
                    "heads": HEADS,
                    "d": HEAD_WIDTH,
                    "wanted": asking * WIDTH,
                    "given": (s.x @ s.w_k).numel(),
                },
            )
            if asking < len(s)
            else Message("With one word there are as many queries as keys, and both are the same."),
            Message(
                "In self-attention both lengths are one: over the whole sentence the two pieces of code are "
                "{gap:.3f} apart, so it works until the first cross-attention or the first cache.",
                {"gap": largest_gap(wrong_query_length(*self_attention), right_query_length(*self_attention))},
            ),
        ),
        error=error,
    )
