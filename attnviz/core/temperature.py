"""Attention at a temperature, down to 0, where the largest score gets all the weight."""

from __future__ import annotations

import math

from torch import Tensor

from attnviz.core.attention import Stages, attend

#: Temperatures up to this one are treated as 0. The same number is sent to the browser.
COLDEST = 1e-6


def attend_at(
    q: Tensor, k: Tensor, v: Tensor, temperature: float, divisor: float = 1.0, mask: Tensor | None = None
) -> Stages:
    """softmax(q.kT / (divisor T)) v with every stage; shapes as in `attend`.

    Here T is the temperature. At 0 the keys with the largest score share the weight equally; at infinity all keys do.
    `mask` is boolean, True where a query may attend.
    """
    if temperature > COLDEST:
        return attend(q, k, v, mask=mask, scale=1 / (divisor * temperature))
    allowed = attend(q, k, v, mask=mask, scale=1 / divisor).masked
    largest = (allowed == allowed.amax(-1, keepdim=True)) & (allowed > -math.inf)
    return attend(q, k, v, mask=largest, scale=0.0)
