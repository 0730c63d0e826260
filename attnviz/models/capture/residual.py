"""Residual stream of one pass, and the linear maps from each point of it to a logit."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, relu, silu

from attnviz.base.message import Message, Problem
from attnviz.models.capture.forward_pass import block_name
from attnviz.models.capture.head_selection import to_float32
from attnviz.models.capture.metric import LogitSum
from attnviz.models.capture.recorded_layer import RecordedLayer

# A norm, factor, layer or activation of one pass, linearised by freezing its scale.
TENSORS, NUMBERS = ("matrix", "gain", "scale", "bias"), ("name", "centres", "eps", "function")  #: of a `FrozenMap`

#: functions of one number that stand in an output head, by name
ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "gelu": gelu,
    "gelu_tanh": partial(gelu, approximate="tanh"),
    "relu": relu,
    "silu": silu,
    "tanh": torch.tanh,
}


@dataclass(frozen=True, eq=False)
class FrozenMap:
    """The map x -> scale * gain * (y - mean(y)) + bias, where y is matrix @ x; fields that are None are left out.

    The mean is subtracted only if it `centres`. A norm has a gain (M,) and its scale (B, Q) at each position of the
    pass. A layer has a matrix. An activation has its slopes (B, Q, M) as scale, and the remainder as bias.
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
        """Its tensors, by the names of their fields."""
        return {name: value for name in TENSORS if (value := getattr(self, name)) is not None}

    def to_json(self) -> dict[str, Any]:
        """All fields but tensors, as JSON values."""
        return {name: getattr(self, name) for name in NUMBERS}

    def pull_back(self, direction: Tensor, at: Tensor) -> Tensor:
        """Pull a direction (B, n, M) after the map back to one before it, at positions (B, n)."""
        if self.scale is not None:
            direction = direction * vectors_at(self.scale if self.scale.dim() == 3 else self.scale[..., None], at)
        if self.gain is not None:
            direction = direction * to_float32(self.gain)
        if self.centres:
            direction = direction - direction.mean(-1, keepdim=True)
        return direction if self.matrix is None else direction @ to_float32(self.matrix)

    def offset(self, direction: Tensor, at: Tensor) -> Tensor:
        """Contribution of the bias along a direction after the map, (B, n)."""
        if self.bias is None:
            return direction.new_zeros(direction.shape[:2])
        bias = to_float32(self.bias) if self.bias.dim() == 1 else vectors_at(self.bias, at)
        return (direction * bias).sum(-1)

    @property
    def has_own_scale(self) -> bool:
        """Whether the map can be applied to vectors from outside the pass."""
        return self.scale is None or bool(self.function) or self.eps is not None

    def apply(self, x: Tensor) -> Tensor:
        """Apply the map to any vectors (..., M); a norm uses the scale of each vector."""
        if self.function:
            return ACTIVATIONS[self.function](x)
        if self.matrix is not None:
            x = x @ to_float32(self.matrix).mT
        if self.centres:
            x = x - x.mean(-1, keepdim=True)
        if self.eps is not None:
            x = x * (x.square().mean(-1, keepdim=True) + self.eps).rsqrt()
        if self.gain is not None:
            x = x * to_float32(self.gain)
        return x if self.bias is None else x + to_float32(self.bias)


def vectors_at(tensor: Tensor, at: Tensor) -> Tensor:
    """Vectors (B, n, M) of a tensor (B or 1, Q, M) at positions (B, n), float32."""
    rows = torch.arange(len(at), device=tensor.device) if len(tensor) > 1 else torch.zeros_like(at[:, 0])
    return to_float32(tensor[rows[:, None], at])


_FAR = 1e3  #: a probe so long that what a norm adds below its root does not count
_NEAR = 1e-6  #: what makes of it one so short that this counts most


def freeze_norm(name: str, norm: nn.Module, inputs: Tensor, outputs: Tensor) -> FrozenMap | None:
    """Freeze a norm at the scale of this pass; None for a module that is no such map.

    LayerNorm, RMSNorm and similar norms are. `inputs` and `outputs` are those of the pass, (B, Q, M).
    """
    probe = _make_probe(inputs.shape[-1], inputs).expand(1, 1, *inputs.shape[2:])  # a norm of heads may differ by head
    with torch.no_grad():
        up, down, shifted, near = (
            to_float32(norm(vector)[0, 0]) for vector in (probe, -probe, probe + _FAR, probe * _NEAR)
        )
    unit = to_float32(probe[0, 0]) / to_float32(probe[0, 0]).square().mean().sqrt()
    gain, bias = (up - down) / 2 / unit, (up + down) / 2
    centres = bool((shifted - up).abs().max() <= 1e-2 * (up.abs().max() + 1e-6))
    x = to_float32(inputs)
    if centres:
        x = x - x.mean(-1, keepdim=True)
    shape, target = gain * x, to_float32(outputs) - bias
    scale = (shape * target).sum(-1) / (shape * shape).sum(-1).clamp_min(1e-30)
    wrong = (scale[..., None] * shape - target).abs().max()
    allowed = 1e-4 if inputs.dtype in (torch.float32, torch.float64) else 3e-2
    if not bool(wrong <= allowed * (1e-6 + target.abs().max())):
        return None
    eps = _measure_eps(gain, scale, to_float32(probe[0, 0]) * _NEAR, near - bias, x)
    return FrozenMap(name, None, gain, scale, bias if bool(bias.any()) else None, centres, eps)


def _measure_eps(gain: Tensor, scale: Tensor, probe: Tensor, target: Tensor, x: Tensor) -> float | None:
    """Measure a norm's eps from its output, less its bias, for a short probe (M,).

    None if its scale at `x` is no function of eps.
    """
    shape = gain * probe
    eps = float((shape.square().sum() / (shape * target).sum()).square() - probe.square().mean())
    expected = (x.square().mean(-1) + max(eps, 0.0)).rsqrt()
    return max(eps, 0.0) if bool(((expected - scale).abs() <= 1e-2 * expected).all()) else None


def _make_probe(width: int, like: Tensor) -> Tensor:
    """Long probe (1, 1, M) whose numbers add up to 0 and are nowhere 0."""
    probe = torch.ones(width, dtype=torch.float32, device=like.device)
    probe[1::2] = -1.0
    if width % 2 and width > 1:
        probe[-3:] = torch.tensor([1.0, 1.0, -2.0], device=like.device)
    return (probe * _FAR).to(like.dtype)[None, None]


@dataclass(frozen=True, eq=False)
class LogitPath:
    """Path from the end of the residual stream to the logits: the final norm and the unembedding.

    `unembedding` (V, M) shares memory with the model; `factor` is what the model multiplies its logits by, and
    `softcap` what it caps them at in the end. `steps` come in the order of the pass and are mostly one, the final norm.
    """

    steps: tuple[FrozenMap, ...]
    unembedding: Tensor
    bias: Tensor | None = None  #: (V,)
    factor: float = 1.0
    softcap: float | None = None
    output: str = ""  #: the dotted name of the output layer

    def direction(self, metric: LogitSum, batch: int) -> tuple[Tensor, Tensor]:
        """Direction (B, M) of a sum of logits, and the bias's share (B,)."""
        ids = metric.ids_for(batch, len(self.unembedding)).to(self.unembedding.device)
        rows = to_float32(self.unembedding[ids]) * self.factor  # (B, n, M)
        factors = metric.factors.to(rows)
        bias = rows.new_zeros(batch) if self.bias is None else to_float32(self.bias[ids]) @ factors
        return torch.einsum("bnm,n->bm", rows, factors), bias

    def logits(self, streams: Tensor) -> Tensor | None:
        """Logits (..., V) before a soft-cap of any stream vectors (..., M), each under its own norm.

        None if the scale of a norm on the path is not known.
        """
        if not all(step.has_own_scale for step in self.steps):
            return None
        for step in self.steps:
            streams = step.apply(to_float32(streams))
        logits = to_float32(streams) @ to_float32(self.unembedding).mT * self.factor
        return logits if self.bias is None else logits + to_float32(self.bias)

    def apply_softcap(self, logits: Tensor) -> Tensor:
        """Logits after the model's soft-cap, if it has one."""
        return logits if self.softcap is None else self.softcap * (logits / self.softcap).tanh()


PATH_NUMBERS = ("factor", "softcap", "output")  #: of a `LogitPath`


@dataclass(frozen=True, eq=False)
class LogitDirections:
    """Directions (B, n, M) of some logits, pulled back to every point of the stream."""

    streams: tuple[Tensor, ...]  #: on the stream at the input of each block, and at its end
    heads: tuple[tuple[Tensor, Tensor], ...]  #: on the output projection of each block's self- and cross-attention
    block_biases: tuple[Tensor, ...]  #: (B, n): what the biases of a block's norms add along them
    biases: Mapping[str, Tensor]  #: (B, n): the same for all norms and layers on the way, by their names


@dataclass(frozen=True, eq=False)
class Residual:
    """The residual stream at the input of each block, and at the end of the last one: `residual[i]` is (B, Q, M).

    `why` says why what a head adds to the stream cannot be followed to the logits; None if it can. With a `path` and a
    `why`, the end of the stream alone can.
    """

    streams: tuple[Tensor, ...]
    path: LogitPath | None = None
    why: Message | None = None  #: why a logit cannot be taken apart
    blocks: tuple[str, ...] = ()  #: the blocks' dotted names
    #: what stands between a part and the stream, or on the stream: "start"; "3.attention"; "3.between" self- and
    #: cross-attention; "3.middle" behind the last attention; "3.end"
    maps: Mapping[str, FrozenMap] = field(default_factory=dict)
    embedded: Mapping[str, Tensor] = field(default_factory=dict)  #: vectors added to the tokens', "positions", "types"
    mlps: tuple[str, ...] = ()  #: the part of each block that adds to the stream beside attention; "" where none does
    mlp_writes: tuple[Tensor, ...] = ()  #: what each of them answered, (B, Q, M); not in a file
    encoder: "Residual | None" = None  #: the stream of the blocks before, where these are a decoder's; not in a file

    def __len__(self) -> int:
        return len(self.streams)

    def __getitem__(self, index: int) -> Tensor:
        if not self.streams:
            raise Problem("the residual stream of this model was not read: {why}", why=self.why)
        return self.streams[index]

    def __iter__(self) -> Iterator[Tensor]:
        return iter(self.streams)

    def stream_at(self, block: str) -> Tensor | None:
        """The stream at the input of a block, by its dotted name; None where the block is not known."""
        if block in self.blocks:
            return self.streams[self.blocks.index(block)]
        return None if self.encoder is None else self.encoder.stream_at(block)

    def layers_inside(self, layers: Sequence[RecordedLayer]) -> list[tuple[int, RecordedLayer]]:
        """The layers that write into this stream, each with the number of its block."""
        numbers = {name: number for number, name in enumerate(self.blocks)}
        found = ((numbers.get(block_name(layer.name) or ""), layer) for layer in layers)
        return [(number, layer) for number, layer in found if number is not None]

    def require_path(self, through_blocks: bool = True) -> LogitPath:
        """Path to the logits; raises a Problem if it is not known, through all blocks or after the last one."""
        if self.path is None or (through_blocks and self.why is not None):
            raise Problem("a logit of this model cannot be taken apart by heads: {why}", why=self.why)
        return self.path

    def find_directions(self, rows: Tensor, at: Tensor) -> LogitDirections:
        """Pull directions (B, n, M) at the unembedding back through all blocks, at positions (B, n).

        The scale of every norm is frozen at its value in this pass.
        """
        biases: dict[str, Tensor] = {}
        direction = rows
        for step in reversed(self.require_path().steps):
            direction, _ = pull_back_direction(step, direction, at, biases)
        places, heads, inside = [direction], [], []
        for number in reversed(range(len(self.blocks))):
            end, middle, between, attention = (
                self.maps.get(f"{number}.{location}") for location in ("end", "middle", "between", "attention")
            )
            direction, first = pull_back_direction(end, direction, at, biases)
            direction, second = pull_back_direction(middle, direction, at, biases)
            onto_heads, third = pull_back_direction(attention, direction, at, biases)
            direction, fourth = pull_back_direction(between, direction, at, biases)
            places.append(direction)
            heads.append((onto_heads if between is None else direction, onto_heads))
            inside.append(first + second + third + fourth)
        return LogitDirections(tuple(places[::-1]), tuple(heads[::-1]), tuple(inside[::-1]), biases)

    @property
    def linearised(self) -> Message | None:
        """Message about what is frozen beyond the final norm's scale; None if nothing is."""
        norms = any(frozen_map.scale is not None for frozen_map in self.maps.values())
        bent = any(step.function for step in self.require_path().steps)
        if norms and bent:
            return Message(
                "the scale of every norm on the way is held at what it was, and the activation of the output head is "
                "taken by its slope there"
            )
        if norms:
            return Message("the scale of every norm on the way is held at what it was")
        return Message("the activation of the output head is taken by its slope") if bent else None

    def _all_maps(self) -> dict[str, FrozenMap]:
        steps = self.path.steps if self.path else ()
        return {**self.maps, **{f"path.{number}": step for number, step in enumerate(steps)}}

    def tensors(self) -> dict[str, Tensor]:
        """All its tensors by name, for a file."""
        tensors = {f"residual.{number}": stream for number, stream in enumerate(self.streams)}
        tensors |= {f"embedded.{name}": vectors for name, vectors in self.embedded.items()}
        for key, frozen_map in self._all_maps().items():
            tensors |= {f"map.{key}.{name}": tensor for name, tensor in frozen_map.tensors().items()}
        if self.path is not None:
            tensors["path.unembedding"] = self.path.unembedding
            tensors |= {} if self.path.bias is None else {"path.bias": self.path.bias}
        return tensors

    def to_json(self) -> dict[str, Any]:
        """All fields but tensors, as JSON values."""
        return {
            "path": self.path and {name: getattr(self.path, name) for name in PATH_NUMBERS},
            "why": self.why and [self.why.template, self.why.params],
            "blocks": list(self.blocks),
            "mlps": list(self.mlps),
            "maps": {key: frozen_map.to_json() for key, frozen_map in self._all_maps().items()},
        }

    @staticmethod
    def from_json(plain: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> "Residual":
        """Rebuild it from the results of `to_json` and `tensors`."""
        streams = tuple(tensors[f"residual.{n}"] for n in range(sum(name.startswith("residual.") for name in tensors)))
        maps = {
            key: FrozenMap(**fields, **_tensors_below(f"map.{key}.", tensors)) for key, fields in plain["maps"].items()
        }
        path, path_fields = None, plain["path"]
        if path_fields:
            steps = tuple(maps[key] for key in sorted(maps) if key.startswith("path."))
            path = LogitPath(steps, tensors["path.unembedding"], tensors.get("path.bias"), **path_fields)
        return Residual(
            streams,
            path,
            plain["why"] and Message(*plain["why"]),
            tuple(plain["blocks"]),
            {key: frozen_map for key, frozen_map in maps.items() if not key.startswith("path.")},
            _tensors_below("embedded.", tensors),
            tuple(plain["mlps"]),
        )


def _tensors_below(start: str, tensors: Mapping[str, Tensor]) -> dict[str, Any]:
    """Tensors whose names begin with `start`, by the rest of their names."""
    return {name.removeprefix(start): tensor for name, tensor in tensors.items() if name.startswith(start)}


def pull_back_direction(
    step: FrozenMap | None, direction: Tensor, at: Tensor, biases: dict[str, Tensor]
) -> tuple[Tensor, Tensor]:
    """Direction before a map, and the bias's contribution (B, n), which is also added to `biases`."""
    if step is None:
        return direction, direction.new_zeros(direction.shape[:2])
    added = step.offset(direction, at)
    if step.bias is not None:
        biases[step.name] = biases[step.name] + added if step.name in biases else added
    return step.pull_back(direction, at), added


def project_onto(direction: Tensor, vectors: Tensor, at: Tensor) -> Tensor:
    """Products (B, n) of directions (B, n, M) with vectors (B or 1, Q, M) at positions (B, n)."""
    return (direction * vectors_at(vectors, at)).sum(-1)
