"""All heads of a stack: their small pictures, their measures, and the heads that stand out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields

import numpy as np

from attnviz.base.message import Message
from attnviz.models.capture import HeadMeasures, Yardstick, sweep, yardstick
from attnviz.runs.model_run import Stack

#: measure -> (its name, its definition with its range); the ids are fields of HeadMeasures
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
    "same_token": (Message("itself"), Message("Weight of each position on itself, from 0 to 1.")),
    "next_token": (
        Message("next token"),
        Message("Weight on the token just after, from 0 to 1. Always 0 under a causal mask."),
    ),
    "first_token": (
        Message("first token (sink)"),
        Message("Weight on the very first token, from 0 to 1. Many heads put the weight there that they do not need."),
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

    def tells_apart(self, name: str) -> bool:
        """Whether two heads differ in this measure: if not, no order and no dimming would say anything."""
        values = self.values[name][np.isfinite(self.values[name])]
        return bool(values.size) and bool(np.ptp(values) > 1e-6)

    def standouts(self) -> list[tuple[Message, tuple[int, int]]]:
        """For each pattern its strongest head, if it reaches STANDS_OUT_FROM: a sentence and (layer, head)."""
        found = []
        for name, message in STANDOUT.items():
            values = self.values.get(name)
            if values is None or not np.isfinite(values).any():
                continue
            best = int(np.nanargmax(values))
            if values[best] >= STANDS_OUT_FROM:
                layer, head = self.places[best]
                params = {"layer": layer, "head": head, "value": float(values[best])}
                found.append((Message(message.template, params), (layer, head)))
        return found


@dataclass(frozen=True)
class SweptLayer:
    """All heads of a layer in one go."""

    largest: np.ndarray  #: (H, q, k) the largest weight of each block, for a small picture; -1 where the mask hides all
    measures: dict[str, np.ndarray]  #: measure id -> (H,); empty where only pictures were asked for


def swept(stack: Stack, measured: bool = True) -> Iterator[SweptLayer]:
    """The pictures of all heads, layer by layer, and their measures if wanted: from weights that are computed once."""
    held = yardstick_of(stack) if measured else None
    with ThreadPoolExecutor(AT_ONCE) as threads:
        yield from threads.map(lambda index: swept_layer(stack, index, held), range(len(stack.layers)))


def yardstick_of(stack: Stack) -> Yardstick:
    """What all layers of a stack are measured with."""
    return yardstick(stack.layers[0], stack.key_ids)


def swept_layer(stack: Stack, index: int, held: Yardstick | None) -> SweptLayer:
    """One layer's heads; only their pictures without a yardstick."""
    found = sweep(stack.layers[index], held)
    names = () if found.measures is None else tuple(field.name for field in fields(HeadMeasures))
    given = {name: getattr(found.measures, name) for name in names}
    arrays = {name: value[0].float().cpu().numpy() for name, value in given.items() if value is not None}
    return SweptLayer(found.largest[0].cpu().numpy(), arrays)


def measured(stack: Stack, layers: Iterable[SweptLayer] | None = None) -> StackMeasures:
    """All measures of all heads, from a sweep over the layers, which is made when left out."""
    parts = [layer.measures for layer in layers or swept(stack)]
    values = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    places = tuple((index, head) for index, layer in enumerate(stack.layers) for head in range(layer.n_heads))
    return StackMeasures(values, places)


def answered(stack: Stack) -> tuple[str, ...]:
    """Ids of the measures that apply to this stack: those of repeated tokens only where a sentence looks at itself."""
    ours = stack.layers[0].kind == "self" and len(stack.keys) == stack.layers[0].shape[3]
    return tuple(name for name in MEASURES if ours or name not in ("duplicate_token", "induction"))
