"""Attention at a temperature, down to 0, where the largest score gets all the weight."""

from __future__ import annotations

from torch import Tensor

from attnviz.core.attention import Stages, attend

#: Temperatures up to this one are treated as 0. The same number is sent to the browser.
COLDEST = 1e-6


def attend_at(q: Tensor, k: Tensor, v: Tensor, temperature: float, divisor: float = 1.0) -> Stages:
    """softmax(q.kT / (divisor T)) v with every stage; shapes as in `attend`.

    Here T is the temperature. At 0 the keys with the largest score share the weight equally; at infinity all keys do.
    """
    if temperature > COLDEST:
        return attend(q, k, v, scale=1 / (divisor * temperature))
    plain = attend(q, k, v, scale=1 / divisor)
    largest = plain.scaled == plain.scaled.amax(-1, keepdim=True)
    return attend(q, k, v, mask=largest, scale=0.0)
