"""The residual stream of one pass, the way from it to a logit, and what each head adds to one."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from attnviz.base.message import Message, Problem
from attnviz.models.capture.head_selection import wide
from attnviz.models.capture.recorded_layer import RecordedLayer


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
        scale = wide(self.scale)[torch.arange(len(positions), device=self.scale.device), positions]
        return self._before_the_norm(row) * scale[:, None] * self.factor

    def towards(self, rows: Tensor) -> Tensor:
        """The same for vectors (B, Q', M) in the unembedding's space, at the first Q' positions: (B, Q', M)."""
        return self._before_the_norm(rows) * wide(self.scale)[:, : rows.shape[1], None] * self.factor

    def _before_the_norm(self, rows: Tensor) -> Tensor:
        scaled = rows * wide(self.gain)
        return scaled - scaled.mean(-1, keepdim=True) if self.centres else scaled

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


PATH_TENSORS, PATH_NUMBERS = ("gain", "scale", "unembedding"), ("centres", "factor", "norm")  #: of a `LogitPath`


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
        streams = {f"residual.{number}": stream for number, stream in enumerate(self.streams)}
        return streams | {f"path.{name}": getattr(self.path, name) for name in PATH_TENSORS if self.path is not None}

    def plain(self) -> dict[str, Any]:
        """Everything else, as JSON can say it."""
        return {
            "path": self.path and {name: getattr(self.path, name) for name in PATH_NUMBERS},
            "why": self.why and [self.why.template, self.why.params],
            "blocks": list(self.blocks),
        }

    @staticmethod
    def of(plain: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> "Residual":
        """The inverse of `tensors` and `plain`."""
        streams = tuple(tensors[f"residual.{n}"] for n in range(sum(name.startswith("residual.") for name in tensors)))
        held: dict[str, Any] = {name: tensors[f"path.{name}"] for name in PATH_TENSORS if plain["path"]}
        path = plain["path"] and LogitPath(**held, **plain["path"])
        return Residual(streams, path, plain["why"] and Message(*plain["why"]), tuple(plain["blocks"]))


_FAR = 1e3  #: a probe so long that what a norm adds below its root does not count


def measured_norm(norm: nn.Module, given: Tensor, answered: Tensor) -> tuple[Tensor, Tensor, bool] | None:
    """(gain (M,), scale (B, Q), whether the mean is taken off), so that scale * gain * (x - mean) + bias is the answer.

    LayerNorm, RMSNorm and their kin are all of this form; None for a norm that is not. `given` and `answered` are
    (B, Q, M), as the norm saw them.
    """
    probe = _alternating(given.shape[-1], given)
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
    return (gain, scale, centres) if bool(wrong <= allowed * (1e-6 + target.abs().max())) else None


def _alternating(width: int, like: Tensor) -> Tensor:
    """A long vector whose numbers add up to 0 and are nowhere 0, (1, 1, M)."""
    probe = torch.ones(width, dtype=torch.float32, device=like.device)
    probe[1::2] = -1.0
    if width % 2 and width > 1:
        probe[-3:] = torch.tensor([1.0, 1.0, -2.0], device=like.device)
    return (probe * _FAR).to(like.dtype)[None, None]


@dataclass(frozen=True, eq=False)
class LogitAttribution:
    """A logit, or the lead of one over another, taken apart: `attention` is the part that all attention layers add."""

    heads: Tensor  #: (B, L, H); NaN where a layer has fewer heads
    biases: Tensor  #: (B, L): of the output projections' biases
    layers: tuple[str, ...] = ()  #: the layers' dotted names

    @property
    def attention(self) -> Tensor:
        """(B,)"""
        return self.heads.nansum((1, 2)) + self.biases.sum(1)

    def top(self, n: int = 5, row: int = 0) -> list[tuple[int, int, float]]:
        """(layer, head, what it adds) of the heads that add most, up or down."""
        flat = self.heads[row].flatten()
        order = flat.nan_to_num(0.0).abs().argsort(descending=True)[:n].tolist()
        width = self.heads.shape[2]
        return [(place // width, place % width, float(flat[place])) for place in order]


def attribute(
    layers: tuple[RecordedLayer, ...],
    residual: Residual,
    token: int | Tensor,
    versus: int | Tensor | None,
    positions: Tensor,
) -> LogitAttribution:
    """The contributions at one position of each row, the final norm's scale held fixed."""
    if residual.path is None:
        raise Problem("a logit of this model cannot be taken apart by heads: {why}", why=residual.why)
    first, last, length = int(positions.min()), int(positions.max()), residual.path.scale.shape[1]
    if not 0 <= first <= last < length:
        raise Problem(
            "position={position} must be from 0 to {last}", position=positions.flatten()[0].item(), last=length - 1
        )
    direction = residual.path.direction(token, versus, positions)  # (B, M)
    rows, widest = torch.arange(len(positions), device=direction.device), max(layer.n_heads for layer in layers)
    heads, biases = [], []
    for layer in layers:
        assert layer.w_o is not None
        through = (direction @ wide(layer.w_o)).unflatten(1, (layer.n_heads, -1))  # (B, H, Dv)
        outputs = layer.cropped(slice(first, last + 1), slice(None)).head_outputs()
        added = (outputs[rows, :, positions - first] * through).sum(-1)  # (B, H)
        heads.append(nn.functional.pad(added, (0, widest - layer.n_heads), value=torch.nan))
        biases.append(direction.new_zeros(len(direction)) if layer.b_o is None else direction @ wide(layer.b_o))
    return LogitAttribution(torch.stack(heads, 1), torch.stack(biases, 1), tuple(layer.name for layer in layers))
