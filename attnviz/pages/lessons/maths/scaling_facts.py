"""Lesson 3, why scores are divided by the square root of d_k."""

import math

import numpy as np
import torch

from attnviz.core.measures import entropy
from attnviz.pages.lessons.maths.lesson_parts import (
    Facts,
    Subject,
    fact,
    nearest_answer,
)
from attnviz.pages.scaling.maths import saturation, variance

USUAL, WIDE = 64, 512


@fact
def spread(_subject: Subject) -> Facts:
    """How large a dot product of random q and k typically is: the root of its measured variance."""
    measured = variance.first_result(variance.Config(d_k=USUAL))
    typical = math.sqrt(measured.raw.variance)
    return Facts(
        {
            "d_k": USUAL,
            "root": math.sqrt(USUAL),
            "typical": typical,
            "scaled": math.sqrt(measured.scaled.variance),
            "pairs": measured.pairs,
        },
        right=nearest_answer({"one": 0.0, "root": math.log(USUAL) / 2, "all": math.log(USUAL)}, math.log(typical)),
    )


@fact
def saturated(subject: Subject) -> Facts:
    """The largest weight of the row: scores divided by d_k, by its root, and not at all."""
    key, width = subject.favourite_key, subject.query_numbers().q.size
    even, usual, raw = (float(subject.row_weights(scale)[key]) for scale in (1 / width, None, 1.0))
    matrix = subject.matrix()
    return Facts(
        {
            "token": matrix.row_name(subject.row),
            "key": matrix.col_name(key),
            "n": int((~matrix.hidden[subject.row]).sum()),
            "d_k": width,
            "even": even,
            "scaled": usual,
            "raw": raw,
        }
    )


@fact
def off(subject: Subject) -> Facts:
    """The row that lessons speak of, with and without scaling."""
    scaled, unscaled = (torch.from_numpy(subject.row_weights(scale)).double() for scale in (None, 1.0))
    entropy_drop, best = float(entropy(scaled) - entropy(unscaled)), int(unscaled.argmax())
    return Facts(
        {
            "token": subject.matrix().row_name(subject.row),
            "key": subject.matrix().col_name(best),
            "before": float(scaled[best]),
            "after": float(unscaled[best]),
        },
        right="same" if abs(entropy_drop) < 1e-9 else "sharper" if entropy_drop > 0 else "flatter",
    )


@fact
def gradient(_subject: Subject) -> Facts:
    """Median norm of softmax's Jacobian, raw and scaled: how much of a change in scores gets through."""
    raw, scaled = _median_norm("raw"), _median_norm("sqrt")
    return Facts(
        {"d_k": WIDE, "raw": raw, "scaled": scaled, "times": scaled / raw},
        right="less" if raw < scaled else "more" if raw > scaled else "same",
    )


def _median_norm(alternative: str) -> float:
    measured = saturation.run(saturation.Config(alternative=alternative))
    return float(measured.bands["jacobian"].middle[np.argmin(np.abs(np.log(measured.d_k / WIDE)))])


@fact
def too_much(subject: Subject) -> Facts:
    """Largest weight if scores are divided by d_k itself instead of its root."""
    facts = saturated(subject).values
    largest = float(subject.row_weights(1 / subject.query_numbers().q.size).max())
    even, usual = 1 / int(str(facts["n"])), float(subject.row_weights().max())
    answers = {"even": even, "same": usual, "one": 1}
    right = nearest_answer(answers, largest)
    return Facts(
        {**facts, "largest": largest, "even": even, "scaled": usual},
        right=right,
        also_right=tuple(name for name in answers if name != right and abs(answers[name] - answers[right]) < 1e-6),
    )
