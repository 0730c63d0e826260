"""// where / was meant."""

from __future__ import annotations

import math

from torch import Tensor

from attnviz.base.message import Message
from attnviz.runs.traps.trap import Outcome, Trap, largest_gap, picture
from attnviz.runs.word_vectors import Sentence


def wrong(q: Tensor, k: Tensor) -> Tensor:
    return (q @ k.T // math.sqrt(q.shape[-1])).softmax(-1)  # rounds every score down


def right(q: Tensor, k: Tensor) -> Tensor:
    return (q @ k.T / math.sqrt(q.shape[-1])).softmax(-1)


def error_in_training(q: Tensor, k: Tensor) -> str:
    """PyTorch's error message when a gradient has to pass through `//`."""
    try:
        wrong(q.clone().requires_grad_(), k)[:, 0].sum().backward()
    except RuntimeError as error:
        return str(error)
    return "–"


def run(s: Sentence) -> Outcome:
    bad, good = wrong(s.q, s.k), right(s.q, s.k)
    floored = s.q @ s.k.T // math.sqrt(s.q.shape[-1])
    return Outcome(
        picture(bad, s.words),
        picture(good, s.words),
        largest_gap(bad, good),
        (
            Message(
                "{n} scores are left with {distinct} different values, all whole numbers.",
                {"n": floored.numel(), "distinct": int(floored.unique().numel())},
            ),
            Message("A training step stops with: {error}.", {"error": error_in_training(s.q, s.k)}),
        ),
    )


TRAP = Trap(
    "floor_division",
    Message("// where / was meant"),
    Message(
        "One more slash rounds every score down to a whole number. Shapes, dtype and row sums stay right. "
        "PyTorch refuses to differentiate it, so it lives on in code that never trains: inference, evaluation, NumPy."
    ),
    (wrong,),
    (right,),
    run,
)
