"""is_causal when there are fewer queries than keys."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from attnviz.base.message import Message
from attnviz.runs.traps.trap import Outcome, Trap, largest_gap, picture
from attnviz.runs.word_vectors import Sentence


def wrong(new_q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return F.scaled_dot_product_attention(new_q, k, v, is_causal=True)  # first query, first key


def right(new_q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    q_len, k_len = new_q.shape[-2], k.shape[-2]
    may_attend = torch.ones(q_len, k_len, dtype=torch.bool).tril(k_len - q_len)  # last query, last key
    return F.scaled_dot_product_attention(new_q, k, v, attn_mask=may_attend)


def run(s: Sentence) -> Outcome:
    length = len(s)
    new = max(1, length // 3)  # the words that came after the cache was filled
    values = torch.eye(length)  # with the identity as values, the output is the weights
    bad, good = wrong(s.q[-new:], s.k, values), right(s.q[-new:], s.k, values)
    aligned = torch.ones(new, length, dtype=torch.bool).tril(length - new)
    return Outcome(
        picture(bad, s.words[-new:], s.words, allowed=torch.ones(new, length, dtype=torch.bool).tril()),
        picture(good, s.words[-new:], s.words, allowed=aligned),
        largest_gap(bad, good),
        (
            Message(
                "{n} new words on a cache of {cached}: the newest, {word}, sees {seen} of {k} words instead of all, "
                "and not itself.",
                {
                    "n": new,
                    "cached": length - new,
                    "word": s.words[-1],
                    "seen": int((bad[-1] > 0).sum()),
                    "k": length,
                },
            )
            if new < length
            else Message("With one word there are as many queries as keys, and both alignments are the same."),
        ),
    )


TRAP = Trap(
    "top_left",
    Message("is_causal with a cache"),
    Message(
        "When decoding with a cache there are fewer queries than keys. PyTorch's is_causal lines up the first query "
        "with the first key; what is meant is the last query with the last key."
    ),
    (wrong,),
    (right,),
    run,
)
