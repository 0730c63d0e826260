"""One mask for the longest text, cropped at the wrong corner."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from attnviz.base.message import Message
from attnviz.runs.traps.trap import Outcome, Trap, largest_gap, picture
from attnviz.runs.word_vectors import LONGEST, Sentence


def wrong(q: Tensor, k: Tensor, longest_mask: Tensor) -> Tensor:
    q_len, k_len = q.shape[-2], k.shape[-2]
    may_attend = longest_mask[..., :q_len, :k_len]  # the rows of the first words, whichever words ask
    return (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(~may_attend, -torch.inf).softmax(-1)


def right(q: Tensor, k: Tensor, longest_mask: Tensor) -> Tensor:
    q_len, k_len = q.shape[-2], k.shape[-2]
    may_attend = longest_mask[..., k_len - q_len : k_len, :k_len]  # the rows of the words that ask
    return (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(~may_attend, -torch.inf).softmax(-1)


def run(s: Sentence) -> Outcome:
    length = len(s)
    new = max(1, length // 3)  # the words that came after the cache was filled
    longest_mask = torch.ones(LONGEST, LONGEST, dtype=torch.bool).tril()
    bad, good = (way(s.q[-new:], s.k, longest_mask) for way in (wrong, right))
    whole = largest_gap(wrong(s.q, s.k, longest_mask), right(s.q, s.k, longest_mask))
    last = longest_mask[length - new : length, :length]
    return Outcome(
        picture(bad, s.words[-new:], s.words, allowed=longest_mask[:new, :length]),
        picture(good, s.words[-new:], s.words, allowed=last),
        largest_gap(bad, good),
        (
            Message(
                "{n} new words on a cache of {cached}: {word} is given the row of word {n} and sees {seen} of {k} "
                "words, not itself. Over all new words {bad} of {good} pairs are kept.",
                {
                    "n": new,
                    "cached": length - new,
                    "word": s.words[-1],
                    "seen": int((bad[-1] > 0).sum()),
                    "k": length,
                    "bad": int((bad > 0).sum()),
                    "good": int(last.sum()),
                },
            )
            if new < length
            else Message("With one word there is no cache, and both corners are the same."),
            Message(
                "Without a cache both crops are one: over the whole sentence the two are {gap:.3f} apart, so training "
                "shows nothing.",
                {"gap": whole},
            ),
        ),
    )


TRAP = Trap(
    "cropped_mask",
    Message("The longest mask, cropped at the wrong corner"),
    Message(
        "A model keeps one causal mask for its longest text and cuts out what it needs. [..., :q, :k] cuts at the top "
        "left; queries that continue a cache stand at the end of the keys, and need the rows from k - q to k."
    ),
    (wrong,),
    (right,),
    run,
)
