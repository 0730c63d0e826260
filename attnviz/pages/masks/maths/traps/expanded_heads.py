"""K/V heads that are to serve groups of query heads: expand refuses, and repeat pairs them wrongly."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from attnviz.base.message import Message
from attnviz.runs.traps.trap import Outcome, Trap, error_of, largest_gap, picture
from attnviz.runs.word_vectors import WIDTH, Sentence

HEADS, KV_HEADS = 4, 2
HEAD_WIDTH = WIDTH // HEADS


def wrong(q: Tensor, k: Tensor) -> Tensor:
    """q (H, T, D), k (G, T, D) -> weights (H, T, T)."""
    k = k.expand(q.shape[0], -1, -1)  # expand makes many of one, not four of two
    return (q @ k.mT / math.sqrt(q.shape[-1])).softmax(-1)


def quick_cure(q: Tensor, k: Tensor) -> Tensor:
    """Runs, and gives neighbouring query heads different K/V heads."""
    k = k.repeat(q.shape[0] // k.shape[0], 1, 1)  # K/V heads 0 1 0 1
    return (q @ k.mT / math.sqrt(q.shape[-1])).softmax(-1)


def right(q: Tensor, k: Tensor) -> Tensor:
    """The same; one K/V head serves neighbouring query heads."""
    k = k.repeat_interleave(q.shape[0] // k.shape[0], dim=0)  # K/V heads 0 0 1 1
    return (q @ k.mT / math.sqrt(q.shape[-1])).softmax(-1)


def run(s: Sentence) -> Outcome:
    q, k = heads(s.q, HEADS), heads(s.k[:, : KV_HEADS * HEAD_WIDTH], KV_HEADS)
    cured, good = quick_cure(q, k), right(q, k)
    gaps = [largest_gap(cured[head], good[head]) for head in range(HEADS)]
    most = max(range(HEADS), key=gaps.__getitem__)
    one = k[:1]
    return Outcome(
        picture(cured[most], s.words),
        picture(good[most], s.words),
        largest_gap(cured, good),
        (
            Message(
                "expand works with one K/V head (MQA: {mqa:.3f} from the right code) and with as many as query heads "
                "(MHA: {mha:.3f}), so tests of these two pass. {kv} K/V heads for {heads} query heads raise.",
                {
                    "mqa": largest_gap(wrong(q, one), right(q, one)),
                    "mha": largest_gap(wrong(q, q), right(q, q)),
                    "kv": KV_HEADS,
                    "heads": HEADS,
                },
            ),
            Message(
                "repeat raises nothing, and hands {swapped} of {heads} query heads the K/V head of another group. "
                "(Drawn: repeat in head {head}, which is off most, by {gap:.3f}.)",
                {
                    "swapped": _swapped(),
                    "heads": HEADS,
                    "head": most,
                    "gap": gaps[most],
                },
            ),
        ),
        error=error_of(wrong, q, k),
    )


def heads(x: Tensor, n_heads: int) -> Tensor:
    """(T, H * D) as (H, T, D)."""
    return x.unflatten(-1, (n_heads, -1)).transpose(0, 1)


def _swapped() -> int:
    """How many query heads repeat gives a K/V head that is not theirs."""
    groups = torch.arange(KV_HEADS)
    return int((groups.repeat(HEADS // KV_HEADS) != groups.repeat_interleave(HEADS // KV_HEADS)).sum())


TRAP = Trap(
    "expanded_heads",
    Message("expand, or repeat, for groups of heads"),
    Message(
        "In grouped-query attention a few K/V heads serve groups of query heads. expand only stretches a dimension of "
        "size 1, so it fails here; repeat, the cure that comes to mind, repeats the list of heads and not each head."
    ),
    (wrong, quick_cure),
    (right,),
    run,
)
