"""What a model is made of, around the head on show: every part with its shapes and its share of the parameters."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from torch import nn

from attnviz.runs.model_run import Stack

BlockRole = Literal["attention", "mlp", "norms"]

_NORM = re.compile(r"norm|^ln(_|\d|$)", re.IGNORECASE)
_ATTENTION = re.compile(r"attn|attention", re.IGNORECASE)
_EMBEDDING = re.compile(r"embed|^wte$|^wpe$|^shared$", re.IGNORECASE)


@dataclass(frozen=True)
class PartSize:
    """One part: how many parameters it has, and the name and shape (as stored) of each of its matrices."""

    parameters: int = 0
    matrices: tuple[tuple[str, tuple[int, ...]], ...] = ()


@dataclass(frozen=True)
class BlockParts:
    """One block."""

    attention: PartSize
    mlp: PartSize
    norms: PartSize

    @property
    def parameters(self) -> int:
        return self.attention.parameters + self.mlp.parameters + self.norms.parameters


@dataclass(frozen=True)
class ModelParts:
    """The way from tokens to the next one. Each parameter of the model is counted in exactly one part."""

    total: int
    width: int  #: of the vectors that pass from block to block
    embedding: PartSize
    blocks: tuple[BlockParts, ...]  #: of the stack on show; fewer than its layers where these share their weights
    after: PartSize  #: what follows the blocks: a norm, a pooler
    head: PartSize  #: the matrix that scores the next token; no parameters of its own where it is the embedding's
    tied: bool
    predicts: bool  #: whether there is such a matrix
    elsewhere: PartSize = field(default_factory=PartSize)  #: the blocks of the other stack

    def block_of(self, layer: int, layers: int) -> int:
        """The block that is run as this layer of so many."""
        return layer * len(self.blocks) // layers


def run(model: Any, stack: Stack) -> ModelParts:
    """Count the parameters of each part of the model that `stack` was recorded from."""
    named = list(model.named_parameters())
    towers = _towers(model)
    prefix = _tower_of(stack, towers)
    others = [tower for tower in towers if tower != prefix]
    embeddings, scores = model.get_input_embeddings(), model.get_output_embeddings()
    embedding_ids = {id(p) for p in embeddings.parameters()}
    head_ids = set() if scores is None else {id(p) for p in scores.parameters()}

    def place_of(name: str, parameter: nn.Parameter) -> Any:
        """The part that a parameter belongs to; in a block, its number and its role."""
        if _inside(name, prefix):
            number, *path = name[len(prefix) + 1 :].split(".")
            return int(number), _role(path)
        if any(_inside(name, other) for other in others):
            return "elsewhere"
        if id(parameter) in embedding_ids or any(_EMBEDDING.search(part) for part in name.split(".")):
            return "embedding"
        return "head" if id(parameter) in head_ids else "after"

    members: dict[Any, list[tuple[str, nn.Parameter]]] = {}
    for name, parameter in named:
        members.setdefault(place_of(name, parameter), []).append((name, parameter))
    blocks = tuple(
        BlockParts(*(_sized(members.get((at, role), ())) for role in ("attention", "mlp", "norms")))
        for at in range(towers[prefix])
    )
    tied = scores is not None and getattr(scores, "weight", None) is embeddings.weight
    head = _sized(members.get("head", ()))
    if tied:
        head = PartSize(head.parameters, (("", tuple(embeddings.weight.shape)),))
    return ModelParts(
        sum(parameter.numel() for _name, parameter in named),
        int(model.config.get_text_config().hidden_size),
        _sized(members.get("embedding", ())),
        blocks,
        _sized(members.get("after", ())),
        head,
        tied,
        scores is not None,
        _sized(members.get("elsewhere", ())),
    )


def _towers(model: nn.Module) -> dict[str, int]:
    """Lists of blocks, by their place in the model: the outermost lists whose members attend, and their lengths."""
    towers: dict[str, int] = {}
    for name, module in model.named_modules():
        if not isinstance(module, nn.ModuleList | nn.Sequential) or any(_inside(name, other) for other in towers):
            continue
        if any(_ATTENTION.search(part) for part, _parameter in module.named_parameters()):
            towers[name] = len(module)
    if not towers:
        raise LookupError(f"{type(model).__name__} has no list of blocks")
    return towers


def _tower_of(stack: Stack, towers: Mapping[str, int]) -> str:
    """The list that the stack's layers are in."""
    tower = stack.layers[0].tower
    wanted = [name for name in towers if tower and _inside(name, tower)]
    side = "encoder" if stack.id == "encoder" else "decoder"
    wanted = wanted or [name for name in towers if side in name.split(".")] or list(towers)
    return max(wanted, key=lambda name: towers[name])


def _role(path: Sequence[str]) -> BlockRole:
    """The part of a block that a parameter belongs to, from its name within the block."""
    if any(_NORM.search(part) for part in path):
        return "norms"
    return "attention" if any(_ATTENTION.search(part) for part in path) else "mlp"


def _inside(name: str, place: str) -> bool:
    return name.startswith(f"{place}.")


def _sized(named: Sequence[tuple[str, nn.Parameter]]) -> PartSize:
    """The size of a part; biases and norms count, and are not listed."""
    matrices = tuple((_short(name), tuple(p.shape)) for name, p in named if p.dim() > 1)
    return PartSize(sum(parameter.numel() for _name, parameter in named), matrices)


def _short(name: str) -> str:
    """The name of the module that a matrix belongs to; of names that say little, also what that stands in."""
    path = [part for part in name.removesuffix(".weight").split(".") if not part.isdigit()]
    return ".".join(path[-2:]) if len(path) > 1 and path[-1] in ("dense", "o", "weight", "kernel") else path[-1]
