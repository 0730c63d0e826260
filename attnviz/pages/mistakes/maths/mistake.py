"""A mistake: its program as a diff, and what the wrong and the right program make of a sentence."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from attnviz.core.modules import seeded_generator

Side = Literal["wrong", "right"]
#: What a program begins with: imports, and vectors of the sentence.
BEGINNING = """\
import math
import torch
import torch.nn.functional as F
from torch import nn
from attnviz.analysis.word_vectors import sentence

s = sentence({words!r}, seed={seed})  # a random vector for each word
x, q, k = s.x, s.q, s.k  # (T, M), (T, D), (T, D)
causal = torch.ones(len(s), len(s), dtype=torch.bool).tril()
torch.manual_seed({seed})
"""


class Line(NamedTuple):
    """A line of the diff: `sign` is " " in both programs, "-" in the wrong one alone, "+" in the right one alone."""

    sign: str
    text: str


@dataclass(frozen=True)
class Mistake:
    """A mistake. `code` is a diff of both programs, `use` computes `weights` with it, `check` is the test of them."""

    title: str
    why: str
    code: str
    use: str
    test: str  #: what `check` asserts, in words
    check: str

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        return tuple(Line(line[:1] or " ", line[1:]) for line in self.code.splitlines())

    @cached_property
    def wrong_code(self) -> tuple[Line, ...]:
        """The lines of the wrong program."""
        return tuple(line for line in self.lines if line.sign != "+")

    @cached_property
    def wrong_lines(self) -> tuple[int, ...]:
        """The numbers of its wrong lines, from 1."""
        return tuple(number for number, line in enumerate(self.wrong_code, 1) if line.sign == "-")

    def program(self, side: Side) -> str:
        """The program of about ten lines."""
        omitted = "+" if side == "wrong" else "-"
        return "".join(f"{line.text}\n" for line in self.lines if line.sign != omitted)

    def notebook(self, side: Side, words: tuple[str, ...], seed: int) -> str:
        """The program with all that it needs and what it prints, and its test, to be pasted."""
        parts = [
            BEGINNING.format(words=words, seed=seed),
            self.program(side),
            self.use + "print(weights)\n",
            self.check,
        ]
        return "\n".join(parts)


@dataclass(frozen=True)
class Run:
    """What a program computes: weights (T, T) or (heads, T, T), None where it stops with an `error`."""

    weights: np.ndarray | None
    error: str
    passes: bool  #: whether the mistake's test passes


@dataclass(frozen=True)
class Comparison:
    """Both programs on one sentence: their weights (Q, K), of the head that differs most where there are several."""

    wrong: Run
    right: Run
    head: int | None
    cell: tuple[int, int]  #: (query, key) that differs most
    apart: int  #: how many weights are more than TOLERANCE apart

    def run_of(self, side: Side) -> Run:
        return self.wrong if side == "wrong" else self.right

    def weights(self, side: Side) -> np.ndarray | None:
        made = self.run_of(side)
        return made.weights if made.weights is None or self.head is None else made.weights[self.head]


TOLERANCE = 0.005  #: weights that are less apart are written alike


def compare(mistake: Mistake, words: tuple[str, ...], seed: int) -> Comparison:
    """Run both programs and their test on the words."""
    wrong, right = (run(mistake, side, words, seed) for side in ("wrong", "right"))
    if wrong.weights is None or right.weights is None:
        has_heads = right.weights is not None and right.weights.ndim == 3
        return Comparison(wrong, right, 0 if has_heads else None, (0, 0), 0)
    gaps = np.nan_to_num(np.abs(wrong.weights - right.weights), nan=2.0)
    *head, query, key = (int(i) for i in np.unravel_index(gaps.argmax(), gaps.shape))
    head_gaps = gaps[head[0]] if head else gaps
    return Comparison(wrong, right, head[0] if head else None, (query, key), int((head_gaps > TOLERANCE).sum()))


def run(mistake: Mistake, side: Side, words: tuple[str, ...], seed: int) -> Run:
    """Run one program as it is shown, and its test."""
    names: dict[str, Any] = {}
    with seeded_generator(seed):
        try:
            exec(BEGINNING.format(words=words, seed=seed) + mistake.program(side) + mistake.use, names)
        except (RuntimeError, AssertionError) as stopped:
            return Run(None, str(stopped), False)
        weights = names["weights"].detach().float().numpy()
        try:
            exec(mistake.check, names)
        except (RuntimeError, AssertionError):
            return Run(weights, "", False)
    return Run(weights, "", True)
