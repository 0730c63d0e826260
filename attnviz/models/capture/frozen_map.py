"""A part of a model held at what it was in one pass, where it is linear: a norm, a factor, a layer, an activation."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, relu, silu

from attnviz.models.capture.head_selection import wide

TENSORS, NUMBERS = ("matrix", "gain", "scale", "bias"), ("name", "centres", "eps", "function")  #: of a `Frozen`

#: functions of one number that stand in an output head, by name
ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "gelu": gelu,
    "gelu_tanh": partial(gelu, approximate="tanh"),
    "relu": relu,
    "silu": silu,
    "tanh": torch.tanh,
}


@dataclass(frozen=True, eq=False)
class Frozen:
    """The map x -> scale * gain * (y - mean(y)) + bias, where y is matrix @ x and what is None is left out.

    The mean is taken off only if it `centres`. A norm has a gain (M,) and its scale (B, Q) at each position of the
    pass; a layer its matrix; an activation its slopes (B, Q, M) at the point, and as bias what they leave over.
    """

    name: str
    matrix: Tensor | None = None  #: (M, the width before)
    gain: Tensor | None = None  #: (M,), or (1,) for a factor
    scale: Tensor | None = None  #: (B, Q), or slopes (B, Q, M)
    bias: Tensor | None = None  #: (M,) or (B, Q, M)
    centres: bool = False
    eps: float | None = None  #: of a norm whose scale is 1 / sqrt(mean square + eps)
    function: str = ""  #: of an activation: its name in `ACTIVATIONS`

    def tensors(self) -> dict[str, Tensor]:
        """The tensors that it holds, by the names of their fields."""
        return {name: value for name in TENSORS if (value := getattr(self, name)) is not None}

    def plain(self) -> dict[str, Any]:
        """Everything else, as JSON can say it."""
        return {name: getattr(self, name) for name in NUMBERS}

    def back(self, direction: Tensor, at: Tensor) -> Tensor:
        """The direction (B, n, M) before the map of one after it, at positions (B, n)."""
        if self.scale is not None:
            direction = direction * picked(self.scale if self.scale.dim() == 3 else self.scale[..., None], at)
        if self.gain is not None:
            direction = direction * wide(self.gain)
        if self.centres:
            direction = direction - direction.mean(-1, keepdim=True)
        return direction if self.matrix is None else direction @ wide(self.matrix)

    def offset(self, direction: Tensor, at: Tensor) -> Tensor:
        """What the bias adds along a direction after the map, (B, n)."""
        if self.bias is None:
            return direction.new_zeros(direction.shape[:2])
        bias = wide(self.bias) if self.bias.dim() == 1 else picked(self.bias, at)
        return (direction * bias).sum(-1)

    @property
    def has_own_scale(self) -> bool:
        """Whether it is known what it makes of other vectors than those of the pass."""
        return self.scale is None or bool(self.function) or self.eps is not None

    def anew(self, x: Tensor) -> Tensor:
        """What it makes of other vectors (..., M): a norm under the scale of each."""
        if self.function:
            return ACTIVATIONS[self.function](x)
        if self.matrix is not None:
            x = x @ wide(self.matrix).mT
        if self.centres:
            x = x - x.mean(-1, keepdim=True)
        if self.eps is not None:
            x = x * (x.square().mean(-1, keepdim=True) + self.eps).rsqrt()
        if self.gain is not None:
            x = x * wide(self.gain)
        return x if self.bias is None else x + wide(self.bias)


def picked(tensor: Tensor, at: Tensor) -> Tensor:
    """The vectors (B, n, M) of a tensor (B or 1, Q, M) at positions (B, n)."""
    rows = torch.arange(len(at), device=tensor.device) if len(tensor) > 1 else torch.zeros_like(at[:, 0])
    return wide(tensor[rows[:, None], at])


_FAR = 1e3  #: a probe so long that what a norm adds below its root does not count
_NEAR = 1e-6  #: what makes of it one so short that this counts most


def measured_norm(name: str, norm: nn.Module, given: Tensor, answered: Tensor) -> Frozen | None:
    """The norm at this pass, whose answer is that map; None for a module that is not of this form.

    LayerNorm, RMSNorm and their kin are. `given` and `answered` are (B, Q, M), as the norm saw them.
    """
    probe = _alternating(given.shape[-1], given)
    with torch.no_grad():
        up, down, shifted, near = (wide(norm(each)[0, 0]) for each in (probe, -probe, probe + _FAR, probe * _NEAR))
    unit = wide(probe[0, 0]) / wide(probe[0, 0]).square().mean().sqrt()
    gain, bias = (up - down) / 2 / unit, (up + down) / 2
    centres = bool((shifted - up).abs().max() <= 1e-2 * (up.abs().max() + 1e-6))
    x = wide(given)
    if centres:
        x = x - x.mean(-1, keepdim=True)
    shape, target = gain * x, wide(answered) - bias
    scale = (shape * target).sum(-1) / (shape * shape).sum(-1).clamp_min(1e-30)
    wrong = (scale[..., None] * shape - target).abs().max()
    allowed = 1e-4 if given.dtype in (torch.float32, torch.float64) else 3e-2
    if not bool(wrong <= allowed * (1e-6 + target.abs().max())):
        return None
    found = Frozen(name, gain=gain, scale=scale, bias=bias if bool(bias.any()) else None, centres=centres)
    return replace(found, eps=_below_the_root(found, wide(probe[0, 0]) * _NEAR, near, x))


def _below_the_root(norm: Frozen, probe: Tensor, answered: Tensor, x: Tensor) -> float | None:
    """The eps of a norm by its answer to a short probe (M,); None where its scale at `x` is another function."""
    target = answered if norm.bias is None else answered - norm.bias
    assert norm.gain is not None
    assert norm.scale is not None
    shape = norm.gain * probe
    eps = float((shape.square().sum() / (shape * target).sum()).square() - probe.square().mean())
    expected = (x.square().mean(-1) + max(eps, 0.0)).rsqrt()
    return max(eps, 0.0) if bool(((expected - norm.scale).abs() <= 1e-2 * expected).all()) else None


def _alternating(width: int, like: Tensor) -> Tensor:
    """A long vector whose numbers add up to 0 and are nowhere 0, (1, 1, M)."""
    probe = torch.ones(width, dtype=torch.float32, device=like.device)
    probe[1::2] = -1.0
    if width % 2 and width > 1:
        probe[-3:] = torch.tensor([1.0, 1.0, -2.0], device=like.device)
    return (probe * _FAR).to(like.dtype)[None, None]
