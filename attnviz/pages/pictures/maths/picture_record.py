"""What a pass over a picture leaves behind: layers by what looks, the answer, and what a visitor may change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from attnviz.base.message import Message
from attnviz.base.words import N_
from attnviz.models.capture import Edit, LayerPlace, RecordedLayer, Trace
from attnviz.models.catalogue import WeightsAre
from attnviz.models.pictures import PatchGrid, PreparedPicture, PromptedPicture, Windows

#: patches that look at patches; words that look at patches; the later stages of a model whose patches are merged
PictureStack = Literal["picture", "words", "stage2", "stage3", "stage4"]
STAGES: tuple[PictureStack, ...] = ("picture", "stage2", "stage3", "stage4")
MOST_WORDS = 12
_FIXED = N_(
    "{name} computes attention in code of its own: its weights can be looked at, and nothing in it can be hidden, "
    "silenced or given another scale."
)


@dataclass(frozen=True)
class HeadChange:
    """What a visitor changes: patches that nobody may look at, heads that hand on nothing, the scale of one head.

    Heads are named by stack, layer and head. `factor` multiplies the scale of `head`.
    """

    hidden: tuple[int, ...] = ()  #: patches, row by row from 0
    silenced: tuple[tuple[PictureStack, int, int], ...] = ()
    factor: float = 1.0
    head: tuple[PictureStack, int, int] = ("picture", 0, 0)

    def __bool__(self) -> bool:
        return bool(self.hidden or self.silenced or self.factor != 1.0)


@dataclass(frozen=True, eq=False)
class PictureAnswer:
    """What a model says of a picture: words, each with its probability; of a model that says nothing, a vector."""

    words: tuple[str, ...] = ()  #: one for a model that names a picture, several for one that writes
    shares: tuple[float, ...] = ()  #: the probability of each
    others: tuple[tuple[str, float], ...] = ()  #: of a model that names: the likeliest names, the first included
    vector: np.ndarray | None = None

    @property
    def said(self) -> str:
        return " ".join(self.words)

    @property
    def share(self) -> float:
        """The probability of all the words together."""
        return float(np.prod(self.shares)) if self.shares else 0.0


@dataclass(frozen=True, eq=False)
class PatchStack:
    """Layers whose keys are the same patches."""

    id: PictureStack
    layers: tuple[RecordedLayer, ...]
    grid: PatchGrid
    words: tuple[str, ...] = ()  #: in place of patches, what looks: the word that each query wrote
    windows: tuple[tuple[int, int], ...] = ()  #: of each layer that looks inside windows: their side and their shift

    @property
    def queries(self) -> int:
        return len(self.words) or self.grid.tokens

    @property
    def usual(self) -> int:
        """The row on show while none is chosen: the class token's, the first word's, or that of the middle patch."""
        if self.words or self.grid.first:
            return 0
        return (self.grid.rows // 2) * self.grid.columns + self.grid.columns // 2

    def has(self, layer: int, head: int) -> bool:
        return 0 <= layer < len(self.layers) and 0 <= head < self.layers[layer].n_heads


@dataclass(frozen=True, eq=False)
class TextTower:
    """Descriptions that a picture is compared with, their tokens, and the layers that read them all at once."""

    names: tuple[str, ...]
    tokens: tuple[tuple[str, ...], ...]
    layers: tuple[RecordedLayer, ...]


@dataclass(frozen=True, eq=False)
class PictureRun:
    """A picture as a model was given it, its answer, and its layers. Holds no model."""

    model: str
    name: str
    prepared: PreparedPicture
    trace: Trace
    stacks: tuple[PatchStack, ...]
    answer: PictureAnswer
    weights_are: WeightsAre = "trained"
    written: Tensor | None = None  #: of a model that writes: the token ids, (1, T)
    inputs: dict[str, Any] = field(default_factory=dict)
    windows: dict[RecordedLayer, Windows] = field(default_factory=dict)  #: of a model that looks inside windows
    texts: TextTower | None = None  #: of a model that compares pictures with descriptions
    prompt: PromptedPicture | None = None  #: of a model that was given words and the picture among them
    left_out: tuple[Message, ...] = ()  #: stages that are not among `stacks`, and why

    @property
    def notices(self) -> tuple[Message, ...]:
        """What was done to the picture before the model was given it, and what of the model is not to be had."""
        return (
            self.prepared.notices + self.left_out + (() if self.can_change else (Message(_FIXED, {"name": self.name}),))
        )

    @property
    def can_change(self) -> bool:
        """Whether patches can be hidden and heads silenced: not in a model that gives its weights only (Swin v2)."""
        return any(layer.exact for layer in self.trace.layers)

    def stack(self, name: str) -> PatchStack:
        """The stack of that id, else the first."""
        return next((each for each in self.stacks if each.id == name), self.stacks[0])

    @property
    def nbytes(self) -> int:
        return self.trace.nbytes + self.prepared.shown.nbytes


def seen_keys(grid: PatchGrid, hidden: Sequence[int]) -> Tensor:
    """Boolean (1, K): True at special tokens and at patches that are not hidden."""
    seen = torch.ones(1, grid.tokens, dtype=torch.bool)
    seen[0, [grid.first + patch for patch in hidden if 0 <= patch < grid.patches]] = False
    return seen


# What a visitor changes in a pass over a picture, as `intervene` takes it.
Masks = Mapping[LayerPlace, Tensor]  #: what may be seen in a layer once patches are hidden


def hiding(layers: Iterable[RecordedLayer], masks: Masks) -> list[Edit]:
    """The masks of these layers."""
    return [
        Edit(layers=layer.index, tower=layer.tower or None, mask=masks[layer.place])
        for layer in layers
        if layer.place in masks
    ]


def of_heads(run: PictureRun, change: HeadChange, masks: Masks) -> list[Edit]:
    """Heads that hand on nothing, and the scale of one, under the masks that stand in their layers."""
    edits = []
    for name, layer, head in change.silenced:
        found = run.stack(name).layers[layer]
        edits.append(Edit(layers=found.index, heads=head, kind=found.kind, tower=found.tower or None, silence=True))
    if change.factor != 1.0:
        name, layer, head = change.head
        found = run.stack(name).layers[layer]
        edits.append(
            Edit(
                layers=found.index,
                heads=head,
                kind=found.kind,
                tower=found.tower or None,
                mask=masks.get(found.place, "model"),
                factor=change.factor,
            )
        )
    return edits
