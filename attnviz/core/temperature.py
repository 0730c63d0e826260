"""Attention at a temperature, down to 0, where the largest score takes all."""

from __future__ import annotations

from torch import Tensor

from attnviz.core.attention import Stages, attend

#: A temperature not above this is 0. The browser is told the same number.
COLDEST = 1e-6


def attend_at(q: Tensor, k: Tensor, v: Tensor, temperature: float, divisor: float = 1.0) -> Stages:
    """softmax(q.kT / (divisor T)) v with every stage; shapes as in `attend`.

    T = 0 is the limit: keys that share the largest score share the weight. T = infinity is even.
    """
    if temperature > COLDEST:
        return attend(q, k, v, scale=1 / (divisor * temperature))
    plain = attend(q, k, v, scale=1 / divisor)
    largest = plain.scaled == plain.scaled.amax(-1, keepdim=True)
    return attend(q, k, v, mask=largest, scale=0.0)
