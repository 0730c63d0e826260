"""Other ways than 1/sqrt(d_k) to keep softmax from saturating, each computed by a call of `attend`."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from attnviz.base.message import Problem, Several
from attnviz.core.attention import Stages, attend
from attnviz.core.variants import attend_at


@dataclass(frozen=True)
class Alternative:
    """One way of making weights from q and k, with at most one number to choose."""

    id: str
    parameter: str | None = None  #: its letter, as in the formula
    default: float = 1.0
    low: float = 1.0
    high: float = 1.0


_ALL = (
    Alternative("raw"),
    Alternative("sqrt"),
    Alternative("temperature", "T", default=2.0, low=0.0, high=100.0),
    Alternative("inverse", "a", default=1.0, low=0.1, high=64.0),
    Alternative("qk-norm", "g", default=10.0, low=0.1, high=100.0),
    Alternative("softcap", "c", default=5.0, low=0.1, high=100.0),
    Alternative("log-n", "N", default=512.0, low=2.0, high=4096.0),
    Alternative("sink", "b", default=0.0, low=-20.0, high=20.0),
)
ALTERNATIVES: dict[str, Alternative] = {one.id: one for one in _ALL}
#: Ids that a visitor chooses from; raw and scaled are always shown.
CHOICES = tuple(one.id for one in _ALL[2:])


def check(alternative: str, parameter: float) -> None:
    """Raise a Problem when there is no such alternative, or its number is out of range."""
    if alternative not in ALTERNATIVES:
        raise Problem(
            "alternative={alternative} must be one of {allowed}",
            alternative=alternative,
            allowed=Several(ALTERNATIVES),
        )
    one = ALTERNATIVES[alternative]
    if one.parameter and not one.low <= parameter <= one.high:
        raise Problem(
            "{alternative}: {name}={value} must lie between {low} and {high}",
            alternative=alternative,
            name=one.parameter,
            value=parameter,
            low=one.low,
            high=one.high,
        )


def stages(
    q: Tensor, k: Tensor, v: Tensor, alternative: str, parameter: float | Tensor = 1.0, mask: Tensor | None = None
) -> Stages:
    """Attention of q (..., H, Q, D) on k (..., H, K, D), made the way `alternative` makes it.

    temperature T: softmax(q.k / (sqrt(D) T)), and T = 0 is its limit, all weight on the largest.
    inverse a: softmax(a q.k / D).   qk-norm g: softmax(g cos(q, k)).
    softcap c: softmax(c tanh(q.k / sqrt(D) / c)).   log-n N: softmax(ln K / ln N * q.k / sqrt(D)).
    sink b: softmax over the keys and one more logit b, which takes weight and gives nothing.
    When `parameter` is a tensor, gradients flow to it (qk-norm's learned scale).
    `mask` is True where a query may attend.
    """
    d_k, n_keys = q.shape[-1], k.shape[-2]
    root = 1.0 / math.sqrt(d_k)
    if alternative == "raw":
        return attend(q, k, v, mask=mask, scale=None)
    if alternative == "temperature":
        return attend_at(q, k, v, float(parameter), divisor=math.sqrt(d_k), mask=mask)
    if alternative == "inverse":
        return attend(q, k, v, mask=mask, scale=float(parameter) / d_k)
    if alternative == "qk-norm":
        return attend(_unit(q) * parameter, _unit(k), v, mask=mask, scale=None)
    if alternative == "softcap":
        return attend(q, k, v, mask=mask, softcap=float(parameter))
    if alternative == "log-n":
        return attend(q, k, v, mask=mask, scale=root * math.log(n_keys) / math.log(float(parameter)))
    if alternative == "sink":
        return attend(q, k, v, mask=mask, sinks=torch.full((q.shape[-3],), float(parameter), dtype=q.dtype))
    return attend(q, k, v, mask=mask)


def _unit(x: Tensor) -> Tensor:
    return torch.nn.functional.normalize(x, dim=-1)
