"""New keys and values appended along the heads, not along the tokens."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from attnviz.base.message import Message
from attnviz.runs.traps.trap import Outcome, Trap, error_of, largest_gap, picture
from attnviz.runs.word_vectors import Sentence


def wrong(cached: Tensor, new: Tensor) -> Tensor:
    """Keys or values (heads, tokens, width)."""
    return torch.cat([cached, new], dim=0)  # more heads, not more tokens


def right(cached: Tensor, new: Tensor) -> Tensor:
    """The same."""
    return torch.cat([cached, new], dim=-2)


def run(s: Sentence) -> Outcome:
    half = len(s) // 2
    if not half:
        alone = torch.ones(1, 1)
        return Outcome(
            picture(alone, s.words),
            picture(alone, s.words),
            0.0,
            (Message("With one word there is no cache yet."),),
        )
    words = s.words[-2 * half :]  # the first half is cached, the second comes as a chunk of the same length
    q, k = s.q[-half:][None], s.k[-2 * half :][None]
    allowed = torch.ones(half, 2 * half, dtype=torch.bool).tril(half)
    good = weights(q, right(k[:, :half], k[:, half:]), allowed)[0]
    both = weights(q, wrong(k[:, :half], k[:, half:]), allowed[:, half:])  # (2, half, half): one head became two
    bad = torch.cat([torch.zeros(half, half), both[1]], -1)
    error = error_of(wrong, k[:, : 2 * half - 1], k[:, -1:])
    return Outcome(
        picture(
            bad,
            words[-half:],
            words,
            allowed=torch.cat([torch.zeros(half, half, dtype=torch.bool), allowed[:, half:]], 1),
        ),
        picture(good, words[-half:], words, allowed=allowed),
        largest_gap(bad, good),
        (
            Message(
                "A chunk of {n} words on a cache of {n}: nothing raises. One head of {all} keys has become two of {n}, "
                "and q is broadcast over both: the second one, drawn, has forgotten the cache.",
                {"n": half, "all": 2 * half},
            ),
            Message(
                "What it forgets draws {share:.0%} of {word}'s weight on the right side.",
                {"share": float(good[-1, :half].sum()), "word": words[-1]},
            ),
            Message("One word at a time it does raise, as soon as the cache holds two: {error}", {"error": error})
            if error
            else Message("One word on a cache of one passes as well: {n} keys in all.", {"n": 2}),
        ),
    )


def weights(q: Tensor, k: Tensor, allowed: Tensor) -> Tensor:
    """With the identity as values, the output is the weights."""
    values = torch.eye(k.shape[-2]).expand(len(k), -1, -1)
    return F.scaled_dot_product_attention(q.expand(len(k), -1, -1), k, values, attn_mask=allowed)


TRAP = Trap(
    "wrong_dimension",
    Message("Keys appended in the wrong dimension"),
    Message(
        "The tokens' axis of keys and values is the second from the end. With dim=0, or dim=1 where there is a batch "
        "axis too, the new keys become new heads: a chunk as long as the cache passes, and q broadcasts."
    ),
    (wrong,),
    (right,),
    run,
)
