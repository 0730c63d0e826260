"""A norm as the linear map that it is once its scale is held fixed, measured on the norm itself."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from attnviz.models.capture.head_selection import wide

_FAR = 1e3  #: a probe so long that what a norm adds below its root does not count


def measured_norm(norm: nn.Module, given: Tensor, answered: Tensor) -> tuple[Tensor, Tensor, bool] | None:
    """(gain (M,), scale (B, Q), whether the mean is taken off), so that scale * gain * (x - mean) + bias is the answer.

    LayerNorm, RMSNorm and their kin are all of this form; None for a norm that is not. `given` and `answered` are
    (B, Q, M), as the norm saw them.
    """
    width = given.shape[-1]
    probe = _alternating(width, given)
    with torch.no_grad():
        up, down, shifted = (wide(norm(each)[0, 0]) for each in (probe, -probe, probe + _FAR))
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
    return gain, scale, centres


def _alternating(width: int, like: Tensor) -> Tensor:
    """A long vector whose numbers add up to 0 and are nowhere 0, (1, 1, M)."""
    probe = torch.ones(width, dtype=torch.float32, device=like.device)
    probe[1::2] = -1.0
    if width % 2:
        probe[-1] = -probe[:-1].sum() or 1.0
        probe[-3:] = torch.tensor([1.0, 1.0, -2.0], device=like.device) if width >= 3 else probe[-3:]
    return (probe * _FAR).to(like.dtype)[None, None]
