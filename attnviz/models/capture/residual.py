"""The residual stream of one pass, and the way from each place of it to a logit."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from attnviz.base.message import Message, Problem
from attnviz.models.capture.frozen_map import Frozen, picked
from attnviz.models.capture.head_selection import wide


@dataclass(frozen=True, eq=False)
class LogitPath:
    """What leads from the end of the residual stream to the logits: the final norm, and the unembedding.

    `unembedding` (V, M) shares memory with the model; `factor` is what the model multiplies its logits by, and
    `softcap` what it caps them at in the end. `steps` come in the order of the pass and are mostly one, the final norm.
    """

    steps: tuple[Frozen, ...]
    unembedding: Tensor
    bias: Tensor | None = None  #: (V,)
    factor: float = 1.0
    softcap: float | None = None
    output: str = ""  #: the dotted name of the output layer

    def rows(self, token: int | Tensor, versus: int | Tensor | None, batch: int) -> tuple[Tensor, Tensor]:
        """The direction (B, M) in front of the unembedding that is the logit of a token or its lead over `versus`, and
        what its bias adds to that (B,).
        """
        plus = self.ids("token", token, batch)
        row, bias = self._row(plus)
        if versus is not None:
            other, its_bias = self._row(self.ids("versus", versus, batch))
            row, bias = row - other, bias - its_bias
        return row, bias

    def _row(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        bias = torch.zeros(len(ids), device=ids.device) if self.bias is None else wide(self.bias[ids])
        return wide(self.unembedding[ids]) * self.factor, bias

    def ids(self, name: str, token: int | Tensor, batch: int) -> Tensor:
        """Ids (B,), one for each row."""
        ids = torch.as_tensor(token, device=self.unembedding.device).reshape(-1)
        if len(ids) not in (1, batch) or not 0 <= int(ids.min()) <= int(ids.max()) < len(self.unembedding):
            raise Problem(
                "{name}={token} must be a token id from 0 to {last}, or one for each of {batch} rows",
                name=name,
                token=str(token),
                last=len(self.unembedding) - 1,
                batch=batch,
            )
        return ids.expand(batch)

    def lead(self, logits: Tensor, token: int | Tensor, versus: int | Tensor | None) -> Tensor:
        """The logit of a token, or its lead, among a model's own logits (B, V): (B,)."""
        logits, batch = wide(logits), len(logits)
        own = logits.gather(1, self.ids("token", token, batch)[:, None])[:, 0]
        return own if versus is None else own - logits.gather(1, self.ids("versus", versus, batch)[:, None])[:, 0]

    def logits(self, streams: Tensor) -> Tensor | None:
        """The logits (..., V) of vectors of the stream (..., M) before a cap, each under its own norm; None where
        there is more on the way than norms whose scale is known.
        """
        if not all(step.has_own_scale for step in self.steps):
            return None
        for step in self.steps:
            streams = step.anew(wide(streams))
        made = wide(streams) @ wide(self.unembedding).mT * self.factor
        return made if self.bias is None else made + wide(self.bias)

    def capped(self, logits: Tensor) -> Tensor:
        """The logits as the model hands them on."""
        return logits if self.softcap is None else self.softcap * (logits / self.softcap).tanh()


PATH_NUMBERS = ("factor", "softcap", "output")  #: of a `LogitPath`


@dataclass(frozen=True, eq=False)
class Ways:
    """Directions (B, n, M) of some vectors in front of the unembedding, at every place that leads to them."""

    places: tuple[Tensor, ...]  #: on the stream at the input of each block, and at its end
    heads: tuple[Tensor, ...]  #: on what the output projection of each block's attention answers
    inside: tuple[Tensor, ...]  #: (B, n): what the biases of a block's norms add along them
    biases: Mapping[str, Tensor]  #: (B, n): the same for all norms and layers on the way, by their names


@dataclass(frozen=True, eq=False)
class Residual:
    """The residual stream at the input of each block, and at the end of the last one: `residual[i]` is (B, Q, M).

    `why` says why what a head adds to the stream cannot be followed to the logits; None if it can.
    """

    streams: tuple[Tensor, ...]
    path: LogitPath | None = None
    why: Message | None = None  #: why a logit cannot be taken apart
    blocks: tuple[str, ...] = ()  #: the blocks' dotted names
    #: what stands between a part and the stream, or on the stream: "3.attention", "3.middle", "3.end"; "start"
    maps: Mapping[str, Frozen] = field(default_factory=dict)
    embedded: Mapping[str, Tensor] = field(default_factory=dict)  #: vectors added to the tokens', "positions", "types"
    mlps: tuple[str, ...] = ()  #: the part of each block that adds to the stream beside attention; "" where none does

    def __len__(self) -> int:
        return len(self.streams)

    def __getitem__(self, place: int) -> Tensor:
        return self.streams[place]

    def __iter__(self) -> Iterator[Tensor]:
        return iter(self.streams)

    def way(self) -> LogitPath:
        """What leads to the logits; a Problem where a logit cannot be taken apart."""
        if self.path is None:
            raise Problem("a logit of this model cannot be taken apart by heads: {why}", why=self.why)
        return self.path

    def ways(self, rows: Tensor, at: Tensor) -> Ways:
        """Where vectors (B, n, M) in front of the unembedding come from, at positions (B, n): every norm's scale is
        held at what it was.
        """
        biases: dict[str, Tensor] = {}
        direction = rows
        for step in reversed(self.way().steps):
            direction, _ = before(step, direction, at, biases)
        places, heads, inside = [direction], [], []
        for number in reversed(range(len(self.blocks))):
            end, middle, attention = (self.maps.get(f"{number}.{place}") for place in ("end", "middle", "attention"))
            direction, first = before(end, direction, at, biases)
            direction, second = before(middle, direction, at, biases)
            onto_heads, third = before(attention, direction, at, biases)
            places.append(direction)
            heads.append(onto_heads)
            inside.append(first + second + third)
        return Ways(tuple(places[::-1]), tuple(heads[::-1]), tuple(inside[::-1]), biases)

    @property
    def linearised(self) -> Message | None:
        """What is held at its value in this pass beyond the final norm's scale; None where nothing is."""
        norms = any(each.scale is not None for each in self.maps.values())
        bent = any(step.function for step in self.way().steps)
        if norms and bent:
            return Message(
                "the scale of every norm on the way is held at what it was, and the activation of the output head is "
                "taken by its slope there"
            )
        if norms:
            return Message("the scale of every norm on the way is held at what it was")
        return Message("the activation of the output head is taken by its slope") if bent else None

    def _all_maps(self) -> dict[str, Frozen]:
        steps = self.path.steps if self.path else ()
        return {**self.maps, **{f"path.{number}": step for number, step in enumerate(steps)}}

    def tensors(self) -> dict[str, Tensor]:
        """All tensors by name, for a file."""
        made = {f"residual.{number}": stream for number, stream in enumerate(self.streams)}
        made |= {f"embedded.{name}": vectors for name, vectors in self.embedded.items()}
        for place, each in self._all_maps().items():
            made |= {f"map.{place}.{name}": tensor for name, tensor in each.tensors().items()}
        if self.path is not None:
            made["path.unembedding"] = self.path.unembedding
            made |= {} if self.path.bias is None else {"path.bias": self.path.bias}
        return made

    def plain(self) -> dict[str, Any]:
        """Everything else, as JSON can say it."""
        return {
            "path": self.path and {name: getattr(self.path, name) for name in PATH_NUMBERS},
            "why": self.why and [self.why.template, self.why.params],
            "blocks": list(self.blocks),
            "mlps": list(self.mlps),
            "maps": {place: each.plain() for place, each in self._all_maps().items()},
        }

    @staticmethod
    def of(plain: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> "Residual":
        """The inverse of `tensors` and `plain`."""
        streams = tuple(tensors[f"residual.{n}"] for n in range(sum(name.startswith("residual.") for name in tensors)))
        maps = {
            place: Frozen(**fields, **_under(f"map.{place}.", tensors))
            for place, fields in plain.get("maps", {}).items()
        }
        path, said = None, plain["path"]
        if said:
            steps = tuple(maps[place] for place in sorted(maps) if place.startswith("path."))
            if "path.gain" in tensors:  # an older file, which knew the final norm alone, without its bias
                norm = Frozen(said["norm"], None, tensors["path.gain"], tensors["path.scale"], centres=said["centres"])
                steps = (norm,)
            numbers = {name: said[name] for name in PATH_NUMBERS if name in said}
            path = LogitPath(steps, tensors["path.unembedding"], tensors.get("path.bias"), **numbers)
        return Residual(
            streams,
            path,
            plain["why"] and Message(*plain["why"]),
            tuple(plain["blocks"]),
            {place: each for place, each in maps.items() if not place.startswith("path.")},
            _under("embedded.", tensors),
            tuple(plain.get("mlps", ())),
        )


def _under(start: str, tensors: Mapping[str, Tensor]) -> dict[str, Any]:
    """The tensors whose names begin so, by the rest of their names."""
    return {name.removeprefix(start): each for name, each in tensors.items() if name.startswith(start)}


def before(step: Frozen | None, direction: Tensor, at: Tensor, biases: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
    """The direction before a map, and what its bias adds, which is noted under the map's name."""
    if step is None:
        return direction, direction.new_zeros(direction.shape[:2])
    added = step.offset(direction, at)
    if step.bias is not None:
        biases[step.name] = biases[step.name] + added if step.name in biases else added
    return step.back(direction, at), added


def along(direction: Tensor, vectors: Tensor, at: Tensor) -> Tensor:
    """What vectors (B or 1, Q, M) at positions (B, n) are along directions (B, n, M): (B, n)."""
    return (direction * picked(vectors, at)).sum(-1)
