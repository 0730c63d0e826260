"""Pitfalls: wrong and right code, and the results of both."""

import inspect
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from attnviz.analysis.word_vectors import WIDTH, Sentence
from attnviz.base.head_record import HeadData
from attnviz.base.message import Message
from attnviz.core import masks
from attnviz.core.rope import rotate

#: What a reader has imported before pasting either piece of code.
IMPORTS = """\
import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn
"""


@dataclass(frozen=True)
class Outcome:
    """The results of the wrong and the right code for one sentence.

    `largest` is the largest difference of a cell between the two pictures (NaN where only one has a number);
    `facts` say the difference in words; `table` holds rows of a small comparison, first row the headings.
    `error` is what PyTorch says where the wrong code raises. `wrong` and `largest` are None if nothing came of it.
    """

    wrong: HeadData | None
    right: HeadData
    largest: float | None
    facts: tuple[Message, ...]
    table: tuple[tuple[Message | str, ...], ...] = ()
    error: str = ""


@dataclass(frozen=True)
class Trap:
    """One mistake: `wrong` and `right` are the objects that run, and the page shows their source."""

    id: str
    title: Message
    why: Message
    wrong: tuple[Any, ...]
    right: tuple[Any, ...]
    run: Callable[[Sentence], Outcome]

    @property
    def wrong_code(self) -> str:
        return source_code(self.wrong)

    @property
    def right_code(self) -> str:
        return source_code(self.right)


def source_code(things: Sequence[Any]) -> str:
    """The source of functions and classes, as written in this package."""
    return "\n\n".join(textwrap.dedent(inspect.getsource(thing)).rstrip() for thing in things) + "\n"


def picture(
    values: Tensor,
    rows: tuple[str, ...],
    cols: tuple[str, ...] | None = None,
    *,
    allowed: Tensor | None = None,
) -> HeadData:
    """A matrix to draw. `allowed`: cells that may be attended to; other cells are drawn as hidden where they are 0."""
    array = values.detach().float().numpy()
    hidden = None if allowed is None else (~allowed).numpy() & (array == 0)
    return HeadData.of_values(array, rows, cols, hidden)


def largest_gap(wrong: Tensor, right: Tensor) -> float:
    """The largest absolute difference of two matrices; NaN when one of them holds NaN."""
    return float((wrong.detach().float() - right.detach().float()).abs().max())


def compare_matrices(
    wrong: Tensor,
    right: Tensor,
    rows: tuple[str, ...],
    *facts: Message,
    cols: tuple[str, ...] | None = None,
    allowed: Tensor | None = None,
    table: tuple[tuple[Message | str, ...], ...] = (),
) -> Outcome:
    """The outcome of two matrices over the same words, drawn with the same cells hidden."""
    bad, good = (picture(matrix, rows, cols, allowed=allowed) for matrix in (wrong, right))
    return Outcome(bad, good, largest_gap(wrong, right), facts, table)


def error_message(code: Callable[..., Any], *arguments: Any) -> str:
    """PyTorch's error message if `code` raises on these arguments; "" if it runs."""
    try:
        code(*arguments)
    except (RuntimeError, AssertionError) as error:
        return str(error)
    return ""


def rotate_by_position(x: Tensor, positions: Tensor) -> Tensor:
    """RoPE on queries or keys, (T, D): pairs of coordinates turned by their position."""
    return rotate(x, positions[:, None] / 100.0 ** (torch.arange(0, WIDTH, 2) / WIDTH), "interleaved")


# is_causal when there are fewer queries than keys.
def wrong_top_left(new_q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return F.scaled_dot_product_attention(new_q, k, v, is_causal=True)  # first query, first key


def right_top_left(new_q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    q_len, k_len = new_q.shape[-2], k.shape[-2]
    may_attend = torch.ones(q_len, k_len, dtype=torch.bool).tril(k_len - q_len)  # last query, last key
    return F.scaled_dot_product_attention(new_q, k, v, attn_mask=may_attend)


def run_top_left(s: Sentence) -> Outcome:
    length = len(s)
    new = max(1, length // 3)  # the words that came after the cache was filled
    values = torch.eye(length)  # with the identity as values, the output is the weights
    bad, good = wrong_top_left(s.q[-new:], s.k, values), right_top_left(s.q[-new:], s.k, values)
    aligned = masks.causal(new, length)
    return Outcome(
        picture(bad, s.words[-new:], s.words, allowed=torch.ones(new, length, dtype=torch.bool).tril()),
        picture(good, s.words[-new:], s.words, allowed=aligned),
        largest_gap(bad, good),
        (
            Message(
                "{n} new {n:word|words} on a cache of {cached}: the newest, {word}, sees {seen} of {k} words instead "
                "of all, "
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


TOP_LEFT = Trap(
    "top_left",
    Message("is_causal with a cache"),
    Message(
        "When decoding with a cache there are fewer queries than keys. PyTorch's is_causal lines up the first query "
        "with the first key; what is meant is the last query with the last key."
    ),
    (wrong_top_left,),
    (right_top_left,),
    run_top_left,
)
