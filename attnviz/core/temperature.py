"""Attention at a temperature, down to 0, where the largest score takes all."""

from __future__ import annotations

import math

from torch import Tensor

from attnviz.core.attention import Stages, attend

#: A temperature not above this is 0. The browser is told the same number.
COLDEST = 1e-6


def attend_at(
    q: Tensor, k: Tensor, v: Tensor, temperature: float, divisor: float = 1.0, mask: Tensor | None = None
) -> Stages:
    """softmax(q.kT / (divisor T)) v with every stage; shapes as in `attend`.

    T = 0 is the limit: keys that share the largest score share the weight. T = infinity is even.
    `mask` is True where a query may attend.
    """
    if temperature > COLDEST:
        return attend(q, k, v, mask=mask, scale=1 / (divisor * temperature))
    allowed = attend(q, k, v, mask=mask, scale=1 / divisor).masked
    largest = (allowed == allowed.amax(-1, keepdim=True)) & (allowed > -math.inf)
    return attend(q, k, v, mask=largest, scale=0.0)
