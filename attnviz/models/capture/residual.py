"""The residual stream of one pass, and the way from it to a logit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from attnviz.base.message import Message, Problem
from attnviz.models.capture.head_selection import wide


@dataclass(frozen=True, eq=False)
class LogitPath:
    """What leads from the end of the residual stream to the logits: the final norm, and the unembedding.

    At the pass's own positions the norm is, its scale held fixed, the map x -> scale * gain * (x - mean(x)) + its bias,
    where the mean is taken off only if `centres`. `unembedding` (V, M) shares memory with the model; `factor` is what
    the model multiplies its logits by.
    """

    gain: Tensor  #: (M,)
    scale: Tensor  #: (B, Q)
    centres: bool
    unembedding: Tensor
    factor: float = 1.0
    norm: str = ""  #: the dotted name of the final norm

    def direction(self, token: int | Tensor, versus: int | Tensor | None, positions: Tensor) -> Tensor:
        """(B, M): the product with a vector of the stream is what that vector adds to the logit of `token` at a
        position of each row, or to its lead over `versus`.
        """
        row = self._row(token, len(positions))
        if versus is not None:
            row = row - self._row(versus, len(positions))
        found = self._before_the_norm(row)
        scale = wide(self.scale)[torch.arange(len(positions), device=self.scale.device), positions]
        return found * scale[:, None] * self.factor

    def towards(self, rows: Tensor) -> Tensor:
        """The same for vectors (B, Q', M) in the unembedding's space, at the first Q' positions: (B, Q', M)."""
        scale = wide(self.scale)[:, : rows.shape[1], None]
        made: Tensor = self._before_the_norm(rows) * scale * self.factor
        return made

    def _before_the_norm(self, rows: Tensor) -> Tensor:
        found = rows * wide(self.gain)
        return found - found.mean(-1, keepdim=True) if self.centres else found

    def _row(self, token: int | Tensor, batch: int) -> Tensor:
        ids = torch.as_tensor(token, device=self.unembedding.device).reshape(-1)
        if len(ids) not in (1, batch) or not 0 <= int(ids.min()) <= int(ids.max()) < len(self.unembedding):
            raise Problem(
                "token={token} must be a token id from 0 to {last}, or one for each of {batch} rows",
                token=str(token),
                last=len(self.unembedding) - 1,
                batch=batch,
            )
        return wide(self.unembedding[ids]).expand(batch, -1)


@dataclass(frozen=True, eq=False)
class Residual:
    """The residual stream at the input of each block, and at the end of the last one: `residual[i]` is (B, Q, M).

    `why` says why what a head adds to the stream does not reach the logits unchanged; None if it does.
    """

    streams: tuple[Tensor, ...]
    path: LogitPath | None = None
    why: Message | None = None  #: why a logit cannot be taken apart
    blocks: tuple[str, ...] = ()  #: the blocks' dotted names

    def __len__(self) -> int:
        return len(self.streams)

    def __getitem__(self, place: int) -> Tensor:
        return self.streams[place]

    def __iter__(self) -> Iterator[Tensor]:
        return iter(self.streams)

    def tensors(self) -> dict[str, Tensor]:
        """All tensors by name, for a file."""
        found = {f"residual.{number}": stream for number, stream in enumerate(self.streams)}
        if self.path is not None:
            found |= {f"path.{name}": getattr(self.path, name) for name in ("gain", "scale", "unembedding")}
        return found

    def plain(self) -> dict[str, Any]:
        """Everything else, as JSON can say it."""
        held = self.path
        path = None if held is None else {"centres": held.centres, "factor": held.factor, "norm": held.norm}
        why = None if self.why is None else [self.why.template, self.why.params]
        return {"path": path, "why": why, "blocks": list(self.blocks)}

    @staticmethod
    def of(plain: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> Residual:
        """The inverse of `tensors` and `plain`."""
        count = sum(name.startswith("residual.") for name in tensors)
        path = None
        if plain["path"] is not None:
            gain, scale, unembedding = (tensors[f"path.{name}"] for name in ("gain", "scale", "unembedding"))
            path = LogitPath(gain=gain, scale=scale, unembedding=unembedding, **plain["path"])
        why = None if plain["why"] is None else Message(*plain["why"])
        streams = tuple(tensors[f"residual.{number}"] for number in range(count))
        return Residual(streams, path, why, tuple(plain["blocks"]))


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
