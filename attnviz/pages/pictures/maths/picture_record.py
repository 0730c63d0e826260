"""Records of a forward pass over a picture: stacks of layers, the answer, and a visitor's changes.

A model with windowed attention (Swin) has stages; patches are twice as wide in each next stage.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from attnviz.base.message import Message, Problem
from attnviz.base.words import N_
from attnviz.models.capture import Edit, LayerKey, MaskChoice, RecordedLayer, Trace
from attnviz.models.catalogue import LoadedModel, WeightsAre
from attnviz.models.pictures import (
    PatchGrid,
    PreparedPicture,
    PromptedPicture,
    Windows,
    find_windows,
    join_windows,
    uses_windows,
    window_masks,
)

#: patches that look at patches; words that look at patches; the later stages of a model whose patches are merged
PictureStack = Literal["picture", "words", "stage2", "stage3", "stage4"]
STAGES: tuple[PictureStack, ...] = ("picture", "stage2", "stage3", "stage4")
MOST_PATCHES = 1024  #: a stage of more patches is left out: each of its heads has a number for every pair of them
_FIXED_ATTENTION = N_(
    "{name} computes attention in code of its own: its weights can be looked at, and nothing in it can be hidden, "
    "silenced or given another scale."
)


@dataclass(frozen=True)
class HeadChange:
    """A visitor's changes: hidden patches, silenced (ablated) heads, and the scale of one head.

    Heads are (stack, layer, head). `factor` multiplies the scale of `head`. False if nothing is changed.
    """

    hidden: tuple[int, ...] = ()  #: patches, row by row from 0
    silenced: tuple[tuple[PictureStack, int, int], ...] = ()
    factor: float = 1.0
    head: tuple[PictureStack, int, int] = ("picture", 0, 0)

    def __bool__(self) -> bool:
        return bool(self.hidden or self.silenced or self.factor != 1.0)


@dataclass(frozen=True, eq=False)
class PictureAnswer:
    """Answer of a model: tokens with their probabilities; empty for a model without an output head."""

    tokens: tuple[str, ...] = ()  #: one label of a classifier, or the tokens of a generated text
    shares: tuple[float, ...] = ()  #: the probability of each
    others: tuple[
        tuple[str, float], ...
    ] = ()  #: likeliest labels of a classifier with probabilities, the first included

    @property
    def text(self) -> str:
        return " ".join(self.tokens)

    @property
    def share(self) -> float:
        """Probability of the whole answer; 0 without one."""
        return float(np.prod(self.shares)) if self.shares else 0.0


@dataclass(frozen=True, eq=False)
class PatchStack:
    """Layers whose keys are the same grid of patches."""

    id: PictureStack
    layers: tuple[RecordedLayer, ...]
    grid: PatchGrid
    query_tokens: tuple[str, ...] = ()  #: tokens of the queries, if these are not patches
    windows: tuple[tuple[int, int], ...] = ()  #: (side, shift) of the windows of each layer; empty without windows

    @property
    def default_query(self) -> int:
        """Index of the row shown by default: the class token, the first word, or the middle patch."""
        if self.query_tokens or self.grid.first:
            return 0
        return (self.grid.rows // 2) * self.grid.columns + self.grid.columns // 2

    def has_head(self, layer: int, head: int) -> bool:
        return 0 <= layer < len(self.layers) and 0 <= head < self.layers[layer].n_heads


@dataclass(frozen=True, eq=False)
class TextEncoder:
    """Descriptions to compare a picture with, their tokens, and the layers of the text encoder."""

    names: tuple[str, ...]
    tokens: tuple[tuple[str, ...], ...]
    layers: tuple[RecordedLayer, ...]


@dataclass(frozen=True, eq=False)
class PictureRun:
    """A forward pass: the picture as prepared, the answer, and the layers. It holds no model."""

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
    texts: TextEncoder | None = None  #: of a model that compares pictures with descriptions
    prompt: PromptedPicture | None = None  #: of a model that was given words and the picture among them
    omitted_stages: tuple[Message, ...] = ()  #: stages that are not among `stacks`, and why

    @property
    def notices(self) -> tuple[Message, ...]:
        """Notices about the preparation of the picture, and about what the model cannot show."""
        fixed = () if self.can_change else (Message(_FIXED_ATTENTION, {"name": self.name}),)
        return self.prepared.notices + self.omitted_stages + fixed

    @property
    def can_change(self) -> bool:
        """Whether patches can be hidden and heads silenced; not if weights alone are recorded (Swin v2)."""
        return any(layer.exact for layer in self.trace.layers)

    def stack(self, name: str) -> PatchStack:
        """The stack with an id, or else the first."""
        return next((stack for stack in self.stacks if stack.id == name), self.stacks[0])

    @property
    def nbytes(self) -> int:
        return self.trace.nbytes + self.prepared.pixels.nbytes


def visible_keys(grid: PatchGrid, hidden: Sequence[int]) -> Tensor:
    """Boolean (1, K): True at special tokens and at patches that are not hidden."""
    seen = torch.ones(1, grid.tokens, dtype=torch.bool)
    seen[0, [grid.first + patch for patch in hidden if 0 <= patch < grid.patches]] = False
    return seen


# What a visitor changes in a pass over a picture, as `intervene` takes it.
Masks = Mapping[LayerKey, Tensor]  #: what may be seen in a layer once patches are hidden


def build_edits(run: PictureRun, change: HeadChange, masks: Masks) -> list[Edit]:
    """Edits for `intervene`: masks of all layers, ablated heads, and the scale of one head."""
    edits = [
        Edit(layer.index, kind=layer.kind, tower=layer.tower or None, mask=masks[layer.place])
        for layer in run.trace.layers
        if layer.place in masks
    ]
    for name, layer, head in change.silenced:
        recorded = run.stack(name).layers[layer]
        edits.append(
            Edit(layers=recorded.index, heads=head, kind=recorded.kind, tower=recorded.tower or None, silence=True)
        )
    if change.factor != 1.0:
        name, layer, head = change.head
        recorded = run.stack(name).layers[layer]
        mask: MaskChoice = masks.get(recorded.place, "model")
        edits.append(
            Edit(
                recorded.index, head, kind=recorded.kind, tower=recorded.tower or None, mask=mask, factor=change.factor
            )
        )
    return edits


def layer_windows(loaded: LoadedModel, trace: Trace, prepared: PreparedPicture) -> dict[RecordedLayer, Windows]:
    """Windows by layer; empty for a model without windows. Problem if they cannot be read."""
    height, width = prepared.size
    pairs = ((layer, find_windows(loaded.model, layer, height, width)) for layer in trace.layers)
    known = {layer: windows for layer, windows in pairs if windows is not None}
    if not known and uses_windows(loaded.model):
        raise Problem(
            "{name} looks inside windows in code of its own, from which its weights cannot be read. Swin and Swin v2 "
            "can be shown.",
            name=loaded.name,
        )
    return known


def stage_stacks(
    windows_by_layer: dict[RecordedLayer, Windows], prepared: PreparedPicture
) -> tuple[tuple[PatchStack, ...], tuple[Message, ...]]:
    """A stack for each stage, the finest first, and a notice for each stage with too many patches."""
    stacks, left_out = [], []
    height, width = prepared.size
    for stage in sorted({windows.stage for windows in windows_by_layer.values()}):
        layers = {layer: windows for layer, windows in windows_by_layer.items() if windows.stage == stage}
        first = next(iter(layers.values()))
        if first.rows * first.columns > MOST_PATCHES:
            left_out.append(
                Message(
                    "Stage {number} of {rows} × {columns} patches is left out: every head of it has {pairs} weights, "
                    "and stages of up to {most} patches are shown. What is hidden here is hidden there, too.",
                    {
                        "number": stage + 1,
                        "rows": first.rows,
                        "columns": first.columns,
                        "pairs": f"{(first.rows * first.columns) ** 2:,}",
                        "most": f"{MOST_PATCHES:,}",
                    },
                )
            )
            continue
        grid = PatchGrid(first.rows, first.columns, (), (height / first.rows, width / first.columns))
        joined_layers = tuple(join_windows(layer, windows) for layer, windows in layers.items())
        cuts = tuple((windows.side, windows.shift) for windows in layers.values())
        stacks.append(PatchStack(STAGES[min(stage, len(STAGES) - 1)], joined_layers, grid, windows=cuts))
    return tuple(stacks), tuple(left_out)


def coarsen_patches(hidden: tuple[int, ...], fine: PatchGrid, grid: PatchGrid) -> tuple[int, ...]:
    """Patches of `grid` that are covered entirely by hidden patches of a finer grid."""
    if (fine.rows, fine.columns) == (grid.rows, grid.columns):
        return hidden
    covered = set(hidden)
    return tuple(patch for patch in range(grid.patches) if set(refine_patches((patch,), fine, grid)) <= covered)


def refine_patches(hidden: tuple[int, ...], fine: PatchGrid, grid: PatchGrid) -> tuple[int, ...]:
    """Patches of the finer grid with centres inside these patches of `grid`."""
    row, column = np.divmod(np.arange(fine.patches), fine.columns)
    down = ((row + 0.5) * grid.rows / fine.rows).astype(int)
    across = ((column + 0.5) * grid.columns / fine.columns).astype(int)
    return tuple(np.flatnonzero(np.isin(down * grid.columns + across, hidden)).tolist())


def build_hiding_masks(run: PictureRun, hidden: tuple[int, ...]) -> dict[LayerKey, Tensor]:
    """Masks by layer that hide patches of the first stack in all windows, also in stages left out."""
    base, masks = run.stacks[0].grid, {}
    for layer, windows in run.windows.items():
        grid = PatchGrid(windows.rows, windows.columns)
        here = (
            refine_patches(hidden, grid, base) if grid.patches > base.patches else coarsen_patches(hidden, base, grid)
        )
        covered = torch.zeros(grid.patches, dtype=torch.bool)
        covered[list(here)] = True
        masks[layer.place] = window_masks(windows, covered)
    return masks
