"""The parts of a trap: wrong code, right code, and what the difference does to one sentence."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from torch import Tensor

from attnviz.base.message import Message
from attnviz.runs.word_vectors import Sentence

#: What a reader has imported before pasting either piece of code.
IMPORTS = """\
import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn
"""


@dataclass(frozen=True)
class TrapMatrix:
    """A matrix to look at: values (rows, cols), and which cells the mask hides."""

    values: np.ndarray
    rows: tuple[str, ...]
    cols: tuple[str, ...]
    kind: Literal["weights", "scores"] = "weights"
    hidden: np.ndarray | None = None


@dataclass(frozen=True)
class Outcome:
    """What both pieces of code gave for one sentence.

    `largest` is the largest difference of a cell between the two pictures (NaN where only one has a number);
    `facts` say the difference in words; `table` holds rows of a small comparison, first row the headings.
    `error` is what PyTorch says where the wrong code raises. `wrong` and `largest` are None if nothing came of it.
    """

    wrong: TrapMatrix | None
    right: TrapMatrix
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
        return source(self.wrong)

    @property
    def right_code(self) -> str:
        return source(self.right)


def source(things: Sequence[Any]) -> str:
    """The source of functions and classes, as written in this package."""
    return "\n\n".join(textwrap.dedent(inspect.getsource(thing)).rstrip() for thing in things) + "\n"


def picture(
    values: Tensor,
    rows: tuple[str, ...],
    cols: tuple[str, ...] | None = None,
    *,
    kind: Literal["weights", "scores"] = "weights",
    allowed: Tensor | None = None,
) -> TrapMatrix:
    """A matrix to draw. `allowed`: cells that may be attended to; other cells are drawn as hidden where they are 0."""
    array = values.detach().float().numpy()
    hidden = None if allowed is None else (~allowed).numpy() & (array == 0)
    return TrapMatrix(array, rows, rows if cols is None else cols, kind, hidden)


def largest_gap(wrong: Tensor, right: Tensor) -> float:
    """The largest absolute difference of two matrices; NaN when one of them holds NaN."""
    return float((wrong.detach().float() - right.detach().float()).abs().max())


def error_of(code: Callable[..., Any], *arguments: Any) -> str:
    """What PyTorch says when `code` raises on these arguments; "" when it runs."""
    try:
        code(*arguments)
    except RuntimeError as error:
        return str(error)
    return ""
