"""True: attend here, or hide here?"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnviz.base.message import Message
from attnviz.runs.traps.trap import Outcome, Trap, largest_gap, picture
from attnviz.runs.word_vectors import WIDTH, Sentence


def wrong(mha: nn.MultiheadAttention, x: Tensor, may_attend: Tensor, is_word: Tensor) -> tuple[Tensor, Tensor]:
    _, causal = mha(x, x, x, attn_mask=may_attend)  # True hides here: the past is gone
    _, padded = mha(x, x, x, key_padding_mask=is_word)  # and here too: the words are gone
    return causal, padded


def right(mha: nn.MultiheadAttention, x: Tensor, may_attend: Tensor, is_word: Tensor) -> tuple[Tensor, Tensor]:
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
def run(s: Sentence) -> Outcome:
    length, mha = len(s), module(s)
    causal = torch.ones(length, length, dtype=torch.bool).tril()
    is_word = torch.arange(length) < max(1, length - 2)
    (bad, bad_padding), (good, _good_padding) = wrong(mha, s.x, causal, is_word), right(mha, s.x, causal, is_word)
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


TRAP = Trap(
    "meaning",
    Message("True: attend here, hide there"),
    Message(
        "F.scaled_dot_product_attention and FlexAttention attend where a boolean mask is True. nn.MultiheadAttention "
        "hides where it is True, in attn_mask and in key_padding_mask. Both accept both: no shape ever complains."
    ),
    (wrong,),
    (right,),
    run,
)
