"""Keys and values viewed with the length of the queries."""

from __future__ import annotations

import math

from torch import Tensor

from attnviz.base.message import Message
from attnviz.runs.traps.trap import Outcome, Trap, error_of, largest_gap, picture
from attnviz.runs.word_vectors import WIDTH, Sentence

HEADS = 4


def wrong(x_q: Tensor, x_kv: Tensor, w_q: Tensor, w_k: Tensor, n_heads: int) -> Tensor:
    """x_q (Q, M), x_kv (K, M) -> weights (H, Q, K)."""
    length, width = x_q.shape
    d = width // n_heads
    q = (x_q @ w_q).view(length, n_heads, d).transpose(0, 1)
    k = (x_kv @ w_k).view(length, n_heads, d).transpose(0, 1)  # the queries' length
    return (q @ k.mT / math.sqrt(d)).softmax(-1)


def right(x_q: Tensor, x_kv: Tensor, w_q: Tensor, w_k: Tensor, n_heads: int) -> Tensor:
    """The same."""
    d = x_q.shape[-1] // n_heads
    q = (x_q @ w_q).view(len(x_q), n_heads, d).transpose(0, 1)
    k = (x_kv @ w_k).view(len(x_kv), n_heads, d).transpose(0, 1)  # their own length
    return (q @ k.mT / math.sqrt(d)).softmax(-1)


def run(s: Sentence) -> Outcome:
    asking = max(1, len(s) // 3)  # the last words ask the whole sentence, as a decoder asks an encoder or a cache
    words, arguments = s.words[-asking:], (s.x[-asking:], s.x, s.w_q, s.w_k, HEADS)
    good = right(*arguments)
    alone = largest_gap(wrong(s.x, s.x, s.w_q, s.w_k, HEADS), right(s.x, s.x, s.w_q, s.w_k, HEADS))
    error = error_of(wrong, *arguments)
    bad = None if error else wrong(*arguments)
    return Outcome(
        None if bad is None else picture(bad[0], words, s.words),
        picture(good[0], words, s.words),
        None if bad is None else largest_gap(bad, good),
        (
            Message(
                "Queries: {q}. Keys: {k}. view is asked to lay out {given} numbers as {q} x {heads} x {d}, which takes "
                "{wanted}. (Drawn: head 0.)",
                {
                    "q": asking,
                    "k": len(s),
                    "heads": HEADS,
                    "d": WIDTH // HEADS,
                    "wanted": asking * WIDTH,
                    "given": (s.x @ s.w_k).numel(),
                },
            )
            if asking < len(s)
            else Message("With one word there are as many queries as keys, and both are the same."),
            Message(
                "In self-attention both lengths are one: over the whole sentence the two pieces of code are "
                "{gap:.3f} apart, so it works until the first cross-attention or the first cache.",
                {"gap": alone},
            ),
        ),
        error=error,
    )


TRAP = Trap(
    "query_length",
    Message("Keys viewed with the queries' length"),
    Message(
        "One variable for the length, taken from x, and used to cut q, k and v into heads. Keys and values have a "
        "length of their own as soon as they come from another sequence or from a cache."
    ),
    (wrong,),
    (right,),
    run,
)
