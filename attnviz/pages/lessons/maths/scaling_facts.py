"""Lesson 3, why scores are divided by the square root of d_k."""

from __future__ import annotations

import math

import numpy as np
import torch

from attnviz.base.head_edit import HeadEdit
from attnviz.core.measures import entropy
from attnviz.pages.lessons.maths.subject import Facts, Subject
from attnviz.pages.scaling.maths import growing_width, saturation, variance

USUAL, WIDE = 64, 512


def spread(_subject: Subject) -> Facts:
    """How large a dot product of random q and k typically is: the root of its measured variance."""
    measured = variance.first(variance.Config(d_k=USUAL))
    typical = math.sqrt(measured.raw.variance)
    near = {"one": 1.0, "root": math.sqrt(USUAL), "all": float(USUAL)}
    right = min(near, key=lambda name: abs(math.log(near[name] / typical)))
    values = {
        "d_k": USUAL,
        "root": math.sqrt(USUAL),
        "typical": typical,
        "scaled": math.sqrt(measured.scaled.variance),
        "pairs": measured.pairs,
    }
    return Facts(values, right)


def saturated(_subject: Subject) -> Facts:
    row = growing_width.run(growing_width.Config(d_k=WIDE))
    return Facts({"d_k": WIDE, "n": row.config.n_keys, "raw": row.raw.largest, "scaled": row.scaled.largest})


def off(subject: Subject) -> Facts:
    """The told row with and without scaling."""
    row = subject.row
    before, after = subject.matrix(), subject.matrix(HeadEdit(scale="none"))
    one, other = (
        torch.from_numpy(np.where(each.hidden[row], 0.0, each.values[row])).double() for each in (before, after)
    )
    sharper = float(entropy(one) - entropy(other))
    right = "same" if abs(sharper) < 1e-9 else "sharper" if sharper > 0 else "flatter"
    values = {
        "token": before.row_name(row),
        "key": before.col_name(int(other.argmax())),
        "before": float(one[int(other.argmax())]),
        "after": float(other.max()),
    }
    return Facts(values, right)


def gradient(_subject: Subject) -> Facts:
    """How much of a change in the scores softmax lets through: the median norm of its Jacobian."""
    at = {name: _median_norm(name) for name in ("raw", "sqrt")}
    right = "less" if at["raw"] < at["sqrt"] else "more" if at["raw"] > at["sqrt"] else "same"
    return Facts({"d_k": WIDE, "raw": at["raw"], "scaled": at["sqrt"], "times": at["sqrt"] / at["raw"]}, right)


def _median_norm(alternative: str) -> float:
    measured = saturation.run(saturation.Config(alternative=alternative))
    nearest = int(np.argmin(np.abs(np.log(measured.d_k / WIDE))))
    return float(measured.bands["jacobian"].middle[nearest])


def too_much(_subject: Subject) -> Facts:
    """Divided by d_k itself instead of its root."""
    row = growing_width.run(growing_width.Config(d_k=WIDE))
    weights = torch.softmax(torch.from_numpy(row.raw.logits).double() / WIDE, 0)
    largest, even = float(weights.max()), 1 / len(weights)
    near = {"even": even, "same": row.scaled.largest, "one": 1.0}
    right = min(near, key=lambda name: abs(near[name] - largest))
    return Facts({"d_k": WIDE, "largest": largest, "even": even, "scaled": row.scaled.largest}, right)
