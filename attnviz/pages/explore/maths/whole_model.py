"""A whole model in numbers: measures of all heads of a stack, and the parameters of all parts."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
import torch
from torch import nn

from attnviz.analysis.model_run import Stack
from attnviz.base.message import Message
from attnviz.models.capture import make_yardstick, sweep_layer
from attnviz.models.capture.all_heads import Yardstick

#: measure -> (its name, its definition with its range); the ids are those of `Yardstick.rows`
MEASURES: dict[str, tuple[Message, Message]] = {
    "entropy_share": (
        Message("spread"),
        Message("Entropy of a row over the largest its mask allows: 0 is all on one token, 1 is even over all."),
    ),
    "effective_keys": (
        Message("effective keys"),
        Message("exp(entropy): how many evenly attended tokens have this entropy. From 1 to the number of tokens."),
    ),
    "largest_weight": (Message("largest weight"), Message("The biggest weight in a row, from 0 to 1.")),
    "mean_distance": (
        Message("distance"),
        Message("How many positions away a row looks on average: the weighted mean of |query - key|."),
    ),
    "previous_token": (
        Message("previous token"),
        Message("Weight on the token just before, from 0 to 1. The first token has none and is left out."),
    ),
    "same_token": (
        Message("itself"),
        Message(
            "Weight of each position on itself, from 0 to 1: the mean over all rows. Under a causal mask the first has "
            "1, for it sees nothing else."
        ),
    ),
    "next_token": (
        Message("next token"),
        Message("Weight on the token just after, from 0 to 1. Always 0 under a causal mask."),
    ),
    "first_token": (
        Message("first token (sink)"),
        Message(
            "Weight on the very first token, from 0 to 1: the mean over all rows, the first token’s own among them. "
            "Many heads put the weight there that they do not need."
        ),
    ),
    "duplicate_token": (
        Message("duplicates"),
        Message("Weight on earlier copies of the same token, from 0 to 1; rows without an earlier copy are left out."),
    ),
    "induction": (
        Message("induction"),
        Message("Weight on what followed earlier copies of the same token (A B ... A looks at B), from 0 to 1."),
    ),
    "entropy": (Message("entropy, nats"), Message("Entropy of a row in nats: 0 is all on one token.")),
}

#: measure -> the sentence about the head with the highest value
STANDOUT: dict[str, Message] = {
    "previous_token": Message("Layer {layer} head {head} looks at the previous token: {value:.2f}"),
    "induction": Message("Layer {layer} head {head} looks at what followed the same token before: {value:.2f}"),
    "duplicate_token": Message("Layer {layer} head {head} looks at earlier copies of the token: {value:.2f}"),
    "first_token": Message("Layer {layer} head {head} looks at the first token: {value:.2f}"),
    "next_token": Message("Layer {layer} head {head} looks at the next token: {value:.2f}"),
    "same_token": Message("Layer {layer} head {head} looks at the token itself: {value:.2f}"),
}
STANDS_OUT_FROM = 0.5
AT_ONCE = 2  #: layers swept at the same time: no more work in all, and a sentence's pictures stand in half the time


@dataclass(frozen=True)
class StackMeasures:
    """Every measure of every head of a stack: one number for each of N heads, in layer order."""

    values: dict[str, np.ndarray]  #: measure id -> (N,), NaN where no row can be measured
    places: tuple[tuple[int, int], ...]  #: (layer, head) of each

    @cached_property
    def standouts(self) -> list[tuple[Message, tuple[int, int]]]:
        """The strongest head of each pattern, if it reaches STANDS_OUT_FROM: a sentence and (layer, head)."""
        strongest = []
        for name, message in STANDOUT.items():
            values = np.nan_to_num(self.values.get(name, np.zeros(1)), nan=-1.0)
            best = int(values.argmax())
            if values[best] >= STANDS_OUT_FROM:
                layer, head = self.places[best]
                fields = {"layer": layer, "head": head, "value": float(values[best])}
                strongest.append((Message(message.template, fields), (layer, head)))
        return strongest


@dataclass(frozen=True)
class LayerPictures:
    """Thumbnails and measures of all H heads of one layer."""

    largest: np.ndarray  #: (H, q, k) the largest weight of each block, for a small picture; -1 where the mask hides all
    measures: dict[str, np.ndarray]  #: measure id -> (H,); empty where only pictures were asked for


def sweep_model(stack: Stack) -> Iterator[LayerPictures]:
    """Yield the thumbnails of all heads, layer by layer, without measures."""
    with ThreadPoolExecutor(AT_ONCE) as threads:
        yield from threads.map(lambda index: sweep_one_layer(stack, index, None), range(len(stack.layers)))


def build_yardstick(stack: Stack) -> Yardstick:
    """Build the yardstick that all layers of a stack are measured with."""
    return make_yardstick(stack.layers[0], torch.tensor([stack.keys.ids]))


def sweep_one_layer(stack: Stack, index: int, measuring: Yardstick | None) -> LayerPictures:
    """Compute the thumbnails of one layer, and its measures unless `measuring` is None."""
    layer = sweep_layer(stack.layers[index], measuring)
    arrays = {name: value[0].float().cpu().numpy() for name, value in layer.measures.items()}
    return LayerPictures(layer.largest[0].cpu().numpy(), arrays)


def measure_heads(stack: Stack, layers: Iterable[LayerPictures]) -> StackMeasures:
    """Concatenate the measures of all layers."""
    layer_measures = [layer.measures for layer in layers]
    values = {name: np.concatenate([measures[name] for measures in layer_measures]) for name in layer_measures[0]}
    return StackMeasures(values, stack.places)


def applicable_measures(stack: Stack) -> tuple[str, ...]:
    """Ids of the measures that apply to this stack. Those of repeated tokens need self-attention."""
    itself = stack.layers[0].kind == "self" and len(stack.keys) == stack.layers[0].shape[3]
    return tuple(name for name in MEASURES if itself or name not in ("duplicate_token", "induction"))


BlockRole = Literal["attention", "mlp", "norms"]

_NORM = re.compile(r"norm|^ln(_|\d|$)", re.IGNORECASE)
_ATTENTION = re.compile(r"attn|attention", re.IGNORECASE)
_EMBEDDING = re.compile(r"embed|^wte$|^wpe$|^shared$", re.IGNORECASE)


@dataclass(frozen=True)
class PartSize:
    """Size of one part: its number of parameters, and the name and stored shape of each matrix."""

    parameters: int = 0
    matrices: tuple[tuple[str, tuple[int, ...]], ...] = ()


@dataclass(frozen=True)
class ModelParts:
    """All parts of a model, from tokens to the next token. Each parameter is counted in exactly one part."""

    total: int
    width: int  #: of the vectors that pass from block to block
    embedding: PartSize
    #: of the stack on show, each part by its role; fewer than its layers where these share their weights
    blocks: tuple[dict[BlockRole, PartSize], ...]
    final_layers: PartSize  #: what follows the blocks: a norm, a pooler
    lm_head: PartSize  #: the matrix that scores the next token; no parameters of its own where it is the embedding's
    is_tied: bool
    has_lm_head: bool  #: whether there is such a matrix
    other_stack: PartSize = field(default_factory=PartSize)  #: the blocks of the other stack

    def block_index(self, layer: int, layers: int) -> int:
        """Index of the block that runs as layer `layer` of `layers`; several layers can share one."""
        return layer * len(self.blocks) // layers


def count_parts(model: Any, stack: Stack) -> ModelParts:
    """Count the parameters of each part of the model that `stack` was recorded from."""
    block_lists = _find_block_lists(model)
    prefix = _find_stack_blocks(stack, block_lists)
    other_lists = [block_list for block_list in block_lists if block_list != prefix]
    embeddings, scores = model.get_input_embeddings(), model.get_output_embeddings()
    embedding_ids = {id(p) for p in embeddings.parameters()}
    head_ids = set() if scores is None else {id(p) for p in scores.parameters()}

    def classify_parameter(name: str, parameter: nn.Parameter) -> Any:
        """The part that a parameter belongs to; in a block, its number and its role."""
        if _is_inside(name, prefix):
            number, *path = name[len(prefix) + 1 :].split(".")
            role = "attention" if any(_ATTENTION.search(segment) for segment in path) else "mlp"
            return int(number), "norms" if any(_NORM.search(segment) for segment in path) else role
        if any(_is_inside(name, block_list) for block_list in other_lists):
            return "elsewhere"
        if id(parameter) in embedding_ids or any(_EMBEDDING.search(segment) for segment in name.split(".")):
            return "embedding"
        return "head" if id(parameter) in head_ids else "after"

    members: dict[Any, list[tuple[str, nn.Parameter]]] = {}
    for name, parameter in model.named_parameters():
        members.setdefault(classify_parameter(name, parameter), []).append((name, parameter))
    blocks = tuple(
        {role: _measure_size(members.get((at, role), ())) for role in get_args(BlockRole)}
        for at in range(block_lists[prefix])
    )
    tied = scores is not None and getattr(scores, "weight", None) is embeddings.weight
    head = _measure_size(members.get("head", ()))
    if tied:
        head = PartSize(head.parameters, (("", tuple(embeddings.weight.shape)),))
    return ModelParts(
        sum(parameter.numel() for parameter in model.parameters()),
        int(model.config.get_text_config().hidden_size),
        _measure_size(members.get("embedding", ())),
        blocks,
        _measure_size(members.get("after", ())),
        head,
        tied,
        scores is not None,
        _measure_size(members.get("elsewhere", ())),
    )


def _find_block_lists(model: nn.Module) -> dict[str, int]:
    """Find the outermost lists of blocks with attention: path in the model -> number of blocks."""
    block_lists: dict[str, int] = {}
    for name, module in model.named_modules():
        if not isinstance(module, nn.ModuleList | nn.Sequential) or any(
            _is_inside(name, outer) for outer in block_lists
        ):
            continue
        if any(_ATTENTION.search(parameter_name) for parameter_name, _parameter in module.named_parameters()):
            block_lists[name] = len(module)
    if not block_lists:
        raise LookupError(f"{type(model).__name__} has no list of blocks")
    return block_lists


def _find_stack_blocks(stack: Stack, block_lists: Mapping[str, int]) -> str:
    """Path of the list of blocks that holds the stack's layers."""
    tower, side = stack.layers[0].tower, "encoder" if stack.id == "encoder" else "decoder"
    candidates = [name for name in block_lists if tower and _is_inside(name, tower)]
    candidates = candidates or [name for name in block_lists if side in name.split(".")] or list(block_lists)
    return max(candidates, key=block_lists.__getitem__)


def _is_inside(name: str, module_name: str) -> bool:
    return name.startswith(f"{module_name}.")


def _measure_size(named: Sequence[tuple[str, nn.Parameter]]) -> PartSize:
    """Measure a part: all its parameters count, only matrices are listed."""
    matrices = tuple((_shorten_name(name), tuple(p.shape)) for name, p in named if p.dim() > 1)
    return PartSize(sum(parameter.numel() for _name, parameter in named), matrices)


def _shorten_name(name: str) -> str:
    """Name of a matrix's module, with its parent where the name alone says little."""
    path = [segment for segment in name.removesuffix(".weight").split(".") if not segment.isdigit()]
    return ".".join(path[-2:]) if len(path) > 1 and path[-1] in ("dense", "o", "weight", "kernel") else path[-1]
