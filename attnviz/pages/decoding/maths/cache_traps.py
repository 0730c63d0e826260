"""Mistakes with a cache: wrong and right code, and the result of both on the visitor's sentence."""

import torch
import torch.nn.functional as F
from torch import Tensor

from attnviz.analysis.traps import (
    TOP_LEFT,
    Outcome,
    Trap,
    error_message,
    largest_gap,
    picture,
    rotate_by_position,
    source_code,
)
from attnviz.analysis.word_vectors import WIDTH, Sentence
from attnviz.base.message import Message
from attnviz.core import masks


# New tokens after a cache, their positions counted from 0 again.
def wrong_unshifted_positions(new: Tensor, cached: Tensor) -> Tensor:
    return torch.arange(len(new))  # as if the prompt were not there


def right_unshifted_positions(new: Tensor, cached: Tensor) -> Tensor:
    return torch.arange(len(new)) + len(cached)  # they go on where the cache ends


def rotated_weights(q: Tensor, k: Tensor, cached: Tensor, positions: Tensor) -> Tensor:
    """Weights (new, T) of the new tokens over the rotated cache and themselves."""
    keys = torch.cat([cached, rotate_by_position(k, positions)])
    scores = rotate_by_position(q, positions) @ keys.T / WIDTH**0.5
    hidden = torch.ones(len(q), len(keys), dtype=torch.bool).triu(len(cached) + 1)
    return scores.masked_fill(hidden, -torch.inf).softmax(-1)


def run_unshifted_positions(s: Sentence) -> Outcome:
    new = max(1, len(s) // 3)
    cached = rotate_by_position(s.k[:-new], torch.arange(len(s) - new))
    bad, good = (
        rotated_weights(s.q[-new:], s.k[-new:], cached, make_positions(s.k[-new:], cached))
        for make_positions in (wrong_unshifted_positions, right_unshifted_positions)
    )
    full_pass = rotated_weights(s.q, s.k, s.k[:0], torch.arange(len(s)))[-new:]
    allowed = masks.causal(new, len(s))
    new_keys = slice(len(s) - new, None)
    return Outcome(
        picture(bad, s.words[-new:], s.words, allowed=allowed),
        picture(good, s.words[-new:], s.words, allowed=allowed),
        largest_gap(bad, good),
        (
            Message(
                "{n} new {n:word|words} on a cache of {cached}. {word}, at position {right}, is rotated as if it "
                "stood at "
                "{wrong}: a weight is off by up to {gap:.3f}. With shifted positions the weights are {exact:.1e} away "
                "from those of one pass over the whole sentence.",
                {
                    "n": new,
                    "cached": len(s) - new,
                    "word": s.words[-1],
                    "right": len(s) - 1,
                    "wrong": new - 1,
                    "gap": largest_gap(bad, good),
                    "exact": largest_gap(good, full_pass),
                },
            ),
            Message(
                "Among themselves the new words keep their distances, and share out their weight as they should: "
                "{same:.1e} apart. Only their distance to the cache is wrong, so that no first step, no test on a "
                "prompt alone and no shape shows it.",
                {
                    "same": largest_gap(
                        *(matrix[:, new_keys] / matrix[:, new_keys].sum(-1, keepdim=True) for matrix in (bad, good))
                    )
                },
            ),
        )
        if new < len(s)
        else (Message("With one word there is no cache yet, and both count from 0."),),
    )


# New keys and values appended along the heads, not along the tokens.
def wrong_dimension(cached: Tensor, new: Tensor) -> Tensor:
    """Keys or values (heads, tokens, width)."""
    return torch.cat([cached, new], dim=0)  # more heads, not more tokens


def right_dimension(cached: Tensor, new: Tensor) -> Tensor:
    """The same."""
    return torch.cat([cached, new], dim=-2)


def run_dimension(s: Sentence) -> Outcome:
    half = len(s) // 2
    if not half:
        alone = picture(torch.ones(1, 1), s.words)
        return Outcome(alone, alone, 0.0, (Message("With one word there is no cache yet."),))
    last_words = s.words[-2 * half :]  # the first half is cached, the second comes as a chunk of the same length
    q, k = s.q[-half:][None], s.k[-2 * half :][None]
    allowed = masks.causal(half, 2 * half)
    good = weights(q, right_dimension(k[:, :half], k[:, half:]), allowed)[0]
    both = weights(
        q, wrong_dimension(k[:, :half], k[:, half:]), allowed[:, half:]
    )  # (2, half, half): one head became two
    bad = torch.cat([torch.zeros(half, half), both[1]], -1)
    seen = allowed & (torch.arange(2 * half) >= half)
    error = error_message(wrong_dimension, k[:, : 2 * half - 1], k[:, -1:])
    return Outcome(
        picture(bad, last_words[-half:], last_words, allowed=seen),
        picture(good, last_words[-half:], last_words, allowed=allowed),
        largest_gap(bad, good),
        (
            Message(
                "A chunk of {n} {n:word|words} on a cache of {n}: nothing raises. One head of {all} keys has "
                "become two of {n}, and q is broadcast over both: the second one, drawn, has forgotten the cache.",
                {"n": half, "all": 2 * half},
            ),
            Message(
                "What it forgets draws {share:.0%} of {word}'s weight on the right side.",
                {"share": float(good[-1, :half].sum()), "word": last_words[-1]},
            ),
            Message("One word at a time it does raise, as soon as the cache holds two: {error}", {"error": error})
            if error
            else Message("One word on a cache of one passes as well: {n} keys in all.", {"n": 2}),
        ),
    )


def weights(q: Tensor, k: Tensor, allowed: Tensor) -> Tensor:
    """Attention weights (B, Q, K), read off as the output for identity values."""
    values = torch.eye(k.shape[-2]).expand(len(k), -1, -1)
    return F.scaled_dot_product_attention(q.expand(len(k), -1, -1), k, values, attn_mask=allowed)


CACHE_TRAPS: dict[str, Trap] = {
    trap.id: trap
    for trap in (
        TOP_LEFT,  # a trap of masks as much as of caches
        Trap(
            "unshifted_positions",
            Message("A cache, positions not shifted"),
            Message(
                "Keys are rotated before they are cached. New tokens must go on counting where the cache ends; counted "
                "from 0 again, they stand among the first words of the prompt."
            ),
            (wrong_unshifted_positions,),
            (right_unshifted_positions,),
            run_unshifted_positions,
        ),
        Trap(
            "wrong_dimension",
            Message("Keys appended in the wrong dimension"),
            Message(
                "The tokens' axis of keys and values is the second from the end. With dim=0, or dim=1 where there is a "
                "batch axis too, the new keys become new heads: a chunk as long as the cache passes, and q broadcasts."
            ),
            (wrong_dimension,),
            (right_dimension,),
            run_dimension,
        ),
    )
}


def program(trap: Trap, words: tuple[str, ...], seed: int) -> str | None:
    """Program with the wrong and the right code, which prints the largest difference of a weight.

    None where the sentence is too short for the mistake.
    """
    if trap.id == "wrong_dimension" and len(words) < 2:
        return None
    helpers, compared = _COMPARED[trap.id]
    segments = [_VECTORS.format(words=words, seed=seed), source_code(helpers), trap.wrong_code, trap.right_code]
    code = "\n\n".join(segment.rstrip() + "\n" for segment in segments if segment.strip())
    return f'{code}\n\n{compared}print(f"largest difference of a weight: {{(bad - good).abs().max():.3f}}")\n'


_VECTORS = """\
import torch
import torch.nn.functional as F
from attnviz.core import masks
from attnviz.core.rope import rotate
from attnviz.analysis.word_vectors import WIDTH, sentence
from torch import Tensor

words = {words!r}
s = sentence(words, seed={seed})  # a random vector for each word
q, k = s.q, s.k  # (T, D)
"""
_TOP_LEFT = """\
n = max(1, len(words) // 3)  # new words; the others are in the cache
values = torch.eye(len(words))  # with the identity as values, the output is the weights
bad, good = (way(q[-n:], k, values) for way in (wrong_top_left, right_top_left))
"""
_UNSHIFTED = """\
n = max(1, len(words) // 3)  # new words; the others are in the cache
new, cached = k[-n:], rotate_by_position(k[:-n], torch.arange(len(words) - n))
ways = (wrong_unshifted_positions, right_unshifted_positions)
bad, good = (rotated_weights(q[-n:], new, cached, way(new, cached)) for way in ways)
"""
_DIMENSION = """\
n = len(words) // 2  # words in the cache, and as many new ones
new_q, cached, new = q[-n:], k[None, -2 * n : -n], k[None, -n:]  # one head
wrong, right = (way(cached, new) for way in (wrong_dimension, right_dimension))
print("keys (heads, tokens, width):", tuple(wrong.shape), tuple(right.shape))
allowed = torch.ones(n, 2 * n, dtype=torch.bool).tril(n)
good = weights(new_q[None], right, allowed)[0]
second = weights(new_q[None], wrong, allowed[:, n:])[1]  # the head that was not there
bad = torch.cat([torch.zeros(n, n), second], -1)
"""
#: trap -> what both sides call, and the lines that make `bad` and `good`
_COMPARED = {
    "top_left": ((), _TOP_LEFT),
    "unshifted_positions": ((rotate_by_position, rotated_weights), _UNSHIFTED),
    "wrong_dimension": ((weights,), _DIMENSION),
}
