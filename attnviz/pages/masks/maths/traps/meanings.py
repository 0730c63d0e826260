"""Mistakes in what a mask means, and in which part of it is used."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnviz.base.message import Message
from attnviz.runs.traps import Outcome, Trap, largest_gap, picture
from attnviz.runs.word_vectors import LONGEST, WIDTH, Sentence


# True: attend here, or hide here?
def wrong_meaning(mha: nn.MultiheadAttention, x: Tensor, may_attend: Tensor, is_word: Tensor) -> tuple[Tensor, Tensor]:
    _, causal = mha(x, x, x, attn_mask=may_attend)  # True hides here: the past is gone
    _, padded = mha(x, x, x, key_padding_mask=is_word)  # and here too: the words are gone
    return causal, padded


def right_meaning(mha: nn.MultiheadAttention, x: Tensor, may_attend: Tensor, is_word: Tensor) -> tuple[Tensor, Tensor]:
    _, causal = mha(x, x, x, attn_mask=~may_attend)
    _, padded = mha(x, x, x, key_padding_mask=~is_word)
    return causal, padded


def same_with_sdpa(mha: nn.MultiheadAttention, x: Tensor, may_attend: Tensor) -> Tensor:
    """Here True means attend; with the identity as values, the output is the weights."""
    assert mha.in_proj_weight is not None
    q, k, _ = F.linear(x, mha.in_proj_weight, mha.in_proj_bias).chunk(3, -1)
    return F.scaled_dot_product_attention(q, k, torch.eye(len(x)), attn_mask=may_attend)


def module(s: Sentence) -> nn.MultiheadAttention:
    """One head with this sentence's projections."""
    mha = nn.MultiheadAttention(WIDTH, num_heads=1, bias=False).eval()
    with torch.no_grad():
        mha.in_proj_weight.copy_(torch.cat([s.w_q.T, s.w_k.T, s.w_v.T]))
    return mha


@torch.no_grad()
def run_meaning(s: Sentence) -> Outcome:
    length, mha = len(s), module(s)
    causal = torch.ones(length, length, dtype=torch.bool).tril()
    is_word = torch.arange(length) < max(1, length - 2)
    (bad, bad_padding), (good, _good_padding) = (
        wrong_meaning(mha, s.x, causal, is_word),
        right_meaning(mha, s.x, causal, is_word),
    )
    lost = int(bad.isnan().any(-1).sum())
    on_padding = float(bad_padding[0, ~is_word].nansum()) if bool((~is_word).any()) else 0.0
    sdpa = float((same_with_sdpa(mha, s.x, causal) - good).abs().max())
    return Outcome(
        picture(bad, s.words, allowed=~causal),
        picture(good, s.words, allowed=causal),
        largest_gap(bad.nan_to_num(), good),
        (
            Message(
                "With True read as hide, every word sees the future only, and {word} sees nothing: NaN in {rows} of "
                "{n} rows.",
                {"word": s.words[-1], "rows": lost, "n": length},
            ),
            Message(
                "The same slip in key_padding_mask puts {share:.0%} of the first word's weight on padding.",
                {"share": on_padding},
            ),
            Message(
                "F.scaled_dot_product_attention takes the very same mask as True = attend: it is {gap:.1e} away from "
                "the right side.",
                {"gap": sdpa},
            ),
        ),
    )


MEANING = Trap(
    "meaning",
    Message("True: attend here, hide there"),
    Message(
        "F.scaled_dot_product_attention and FlexAttention attend where a boolean mask is True. nn.MultiheadAttention "
        "hides where it is True, in attn_mask and in key_padding_mask. Both accept both: no shape ever complains."
    ),
    (wrong_meaning,),
    (right_meaning,),
    run_meaning,
)


# A mask that a function accepts and ignores.
def wrong_ignored_mask(q: Tensor, k: Tensor, mask: Tensor | None = None) -> Tensor:
    scores = q @ k.T / math.sqrt(q.shape[-1])
    if mask is not None:
        scores.masked_fill(~mask, -torch.inf)  # returns a new tensor, which is not kept
    return scores.softmax(-1)


def right_ignored_mask(q: Tensor, k: Tensor, mask: Tensor | None = None) -> Tensor:
    scores = q @ k.T / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    return scores.softmax(-1)


def run_ignored_mask(s: Sentence) -> Outcome:
    causal = torch.ones(len(s), len(s), dtype=torch.bool).tril()
    bad, good = wrong_ignored_mask(s.q, s.k, causal), right_ignored_mask(s.q, s.k, causal)
    forbidden = bad.masked_fill(causal, 0.0)
    return Outcome(
        picture(bad, s.words, allowed=causal),
        picture(good, s.words, allowed=causal),
        largest_gap(bad, good),
        (
            Message(
                "{word} gives {share:.0%} of its attention to words it may not see; over all rows {mean:.0%}. "
                "With and without the mask the result is the same.",
                {
                    "word": s.words[0],
                    "share": float(forbidden[0].sum()),
                    "mean": float(forbidden.sum(-1).mean()),
                },
            ),
        ),
    )


IGNORED_MASK = Trap(
    "ignored_mask",
    Message("A mask accepted and ignored"),
    Message(
        "masked_fill without the underscore returns a new tensor. The argument is accepted, nothing fails, and the "
        "model reads the future. The same happens to a keyword that a function swallows with **kwargs. Test that "
        "changing a hidden word changes nothing."
    ),
    (wrong_ignored_mask,),
    (right_ignored_mask,),
    run_ignored_mask,
)


# One mask for the longest text, cropped at the wrong corner.
def wrong_cropped_mask(q: Tensor, k: Tensor, longest_mask: Tensor) -> Tensor:
    q_len, k_len = q.shape[-2], k.shape[-2]
    may_attend = longest_mask[..., :q_len, :k_len]  # the rows of the first words, whichever words ask
    return (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(~may_attend, -torch.inf).softmax(-1)


def right_cropped_mask(q: Tensor, k: Tensor, longest_mask: Tensor) -> Tensor:
    q_len, k_len = q.shape[-2], k.shape[-2]
    may_attend = longest_mask[..., k_len - q_len : k_len, :k_len]  # the rows of the words that ask
    return (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(~may_attend, -torch.inf).softmax(-1)


def run_cropped_mask(s: Sentence) -> Outcome:
    length = len(s)
    new = max(1, length // 3)  # the words that came after the cache was filled
    longest_mask = torch.ones(LONGEST, LONGEST, dtype=torch.bool).tril()
    bad, good = (way(s.q[-new:], s.k, longest_mask) for way in (wrong_cropped_mask, right_cropped_mask))
    whole = largest_gap(wrong_cropped_mask(s.q, s.k, longest_mask), right_cropped_mask(s.q, s.k, longest_mask))
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


CROPPED_MASK = Trap(
    "cropped_mask",
    Message("The longest mask, cropped at the wrong corner"),
    Message(
        "A model keeps one causal mask for its longest text and cuts out what it needs. [..., :q, :k] cuts at the top "
        "left; queries that continue a cache stand at the end of the keys, and need the rows from k - q to k."
    ),
    (wrong_cropped_mask,),
    (right_cropped_mask,),
    run_cropped_mask,
)


PADS = 3


# Padding on the left, and positions that count the padding too.
def wrong_left_padding(attention_mask: Tensor) -> Tensor:
    return torch.arange(len(attention_mask))  # the padding is counted


def right_left_padding(attention_mask: Tensor) -> Tensor:
    return (attention_mask.cumsum(-1) - 1).clamp(min=0)  # the first word is at 0


def absolute(x: Tensor, positions: Tensor) -> Tensor:
    """Vectors with sinusoidal positions added, (T, M)."""
    angle = positions[:, None] / 100.0 ** (torch.arange(0, WIDTH, 2) / WIDTH)
    return x + torch.stack([angle.sin(), angle.cos()], -1).flatten(1)


def rotated(x: Tensor, positions: Tensor) -> Tensor:
    """RoPE on queries or keys, (T, D): pairs of coordinates turned by their position."""
    angle = positions[:, None] / 100.0 ** (torch.arange(0, WIDTH, 2) / WIDTH)
    even, odd = x[:, 0::2], x[:, 1::2]
    turned = (even * angle.cos() - odd * angle.sin(), even * angle.sin() + odd * angle.cos())
    return torch.stack(turned, -1).flatten(1)


def weights(q: Tensor, k: Tensor, attention_mask: Tensor) -> Tensor:
    """Causal attention that never looks at padding, (T, T); padding rows are left uniform."""
    allowed = torch.ones(len(q), len(k), dtype=torch.bool).tril() & attention_mask.bool()
    return (q @ k.T / WIDTH**0.5).masked_fill(~allowed, torch.finfo(q.dtype).min).softmax(-1)


def run_left_padding(s: Sentence) -> Outcome:
    padded = torch.cat([torch.zeros(PADS, WIDTH), s.x])
    attention_mask = torch.cat([torch.zeros(PADS, dtype=torch.long), torch.ones(len(s), dtype=torch.long)])
    alone = _absolute_weights(s, s.x, torch.arange(len(s)), torch.ones(len(s), dtype=torch.long))
    bad, good = (
        _absolute_weights(s, padded, positions(attention_mask), attention_mask)[PADS:, PADS:]
        for positions in (wrong_left_padding, right_left_padding)
    )
    rope_bad, rope_good = (
        _rope_weights(s, padded, way(attention_mask), attention_mask)
        for way in (wrong_left_padding, right_left_padding)
    )
    allowed = torch.ones(len(s), len(s), dtype=torch.bool).tril()
    return Outcome(
        picture(bad, s.words, allowed=allowed),
        picture(good, s.words, allowed=allowed),
        largest_gap(bad, good),
        (
            Message(
                "{pads} places of padding on the left, masked as they should be. Counting them moves a weight by up to "
                "{gap:.3f}; with shifted positions the padded sentence is {exact:.1e} away from the bare one.",
                {"pads": PADS, "gap": largest_gap(bad, alone), "exact": largest_gap(good, alone)},
            ),
            Message(
                "With RoPE only distances count, and the slip does nothing: {gap:.1e}.",
                {"gap": largest_gap(rope_bad, rope_good)},
            ),
        ),
    )


def _absolute_weights(s: Sentence, x: Tensor, positions: Tensor, attention_mask: Tensor) -> Tensor:
    placed = absolute(x, positions)
    return weights(placed @ s.w_q, placed @ s.w_k, attention_mask)


def _rope_weights(s: Sentence, x: Tensor, positions: Tensor, attention_mask: Tensor) -> Tensor:
    return weights(rotated(x @ s.w_q, positions), rotated(x @ s.w_k, positions), attention_mask)[PADS:, PADS:]


LEFT_PADDING = Trap(
    "left_padding",
    Message("Padding on the left, positions not shifted"),
    Message(
        "Masking the padding is half of it: a model with absolute positions (learned or sinusoidal) must also start to "
        "count at the first word, or the same sentence means something else in every batch."
    ),
    (wrong_left_padding,),
    (right_left_padding,),
    run_left_padding,
)
