"""Stages of a model that looks inside windows (Swin): each with its own patches, twice as wide as in the one before."""

from __future__ import annotations

import torch
from torch import Tensor

from attnviz.base.message import Message, Problem
from attnviz.models.capture import LayerPlace, RecordedLayer, Trace
from attnviz.models.catalogue import LoadedModel
from attnviz.models.pictures import (
    PatchGrid,
    PreparedPicture,
    Windows,
    looks_in_windows,
    of_all_patches,
    seen_in_windows,
    windows_of,
)
from attnviz.pages.pictures.maths.picture_record import STAGES, PatchStack, PictureRun

MOST_PATCHES = 1024  #: a stage of more patches is left out: each of its heads has a number for every pair of them


def windowed(loaded: LoadedModel, trace: Trace, prepared: PreparedPicture) -> dict[RecordedLayer, Windows]:
    """The windows of each layer that has some; empty for a model that has none."""
    height, width = prepared.size
    found = {layer: windows_of(loaded.model, layer, height, width) for layer in trace.layers}
    known = {layer: windows for layer, windows in found.items() if windows is not None}
    if not known and looks_in_windows(loaded.model):
        raise Problem(
            "{name} looks inside windows in code of its own, from which its weights cannot be read. Swin and Swin v2 "
            "can be shown.",
            name=loaded.name,
        )
    return known


def stages(found: dict[RecordedLayer, Windows], prepared: PreparedPicture) -> tuple[PatchStack, ...]:
    """A stack of layers for each stage, the finest first."""
    made = []
    for stage in sorted({windows.stage for windows in found.values()}):
        layers = {layer: windows for layer, windows in found.items() if windows.stage == stage}
        first = next(iter(layers.values()))
        if _is_left_out(first):
            continue
        height, width = prepared.size
        grid = PatchGrid(first.rows, first.columns, (), (height / first.rows, width / first.columns))
        whole = tuple(of_all_patches(layer, windows) for layer, windows in layers.items())
        cuts = tuple((windows.side, windows.shift) for windows in layers.values())
        made.append(PatchStack(STAGES[min(stage, len(STAGES) - 1)], whole, grid, windows=cuts))
    return tuple(made)


def left_out(found: dict[RecordedLayer, Windows]) -> tuple[Message, ...]:
    """A sentence for each stage that `stages` leaves out."""
    sizes = {windows.stage: windows for windows in found.values() if _is_left_out(windows)}
    return tuple(
        Message(
            "Stage {number} of {rows} × {columns} patches is left out: every head of it has {pairs} weights, and "
            "stages of up to {most} patches are shown. What is hidden here is hidden there, too.",
            {
                "number": stage + 1,
                "rows": windows.rows,
                "columns": windows.columns,
                "pairs": f"{(windows.rows * windows.columns) ** 2:,}",
                "most": f"{MOST_PATCHES:,}",
            },
        )
        for stage, windows in sorted(sizes.items())
    )


def _is_left_out(windows: Windows) -> bool:
    return windows.rows * windows.columns > MOST_PATCHES


def coarser(hidden: tuple[int, ...], fine: PatchGrid, grid: PatchGrid) -> tuple[int, ...]:
    """The patches of a grid that are hidden wholly when these patches of a finer one are."""
    if (fine.rows, fine.columns) == (grid.rows, grid.columns):
        return hidden
    covered = set(hidden)
    return tuple(patch for patch in range(grid.patches) if set(finer((patch,), fine, grid)) <= covered)


def finer(hidden: tuple[int, ...], fine: PatchGrid, grid: PatchGrid) -> tuple[int, ...]:
    """The patches of the finer grid whose middles lie in these patches of a grid."""
    wanted = set(hidden)
    inside = []
    for patch in range(fine.patches):
        row, column = divmod(patch, fine.columns)
        place = int((row + 0.5) * grid.rows / fine.rows) * grid.columns + int(
            (column + 0.5) * grid.columns / fine.columns
        )
        if place in wanted:
            inside.append(patch)
    return tuple(inside)


def unseen(run: PictureRun, hidden: tuple[int, ...]) -> dict[LayerPlace, Tensor]:
    """Masks that hide patches of the run's first stack in the windows of every layer, also of stages not on show."""
    base, masks = run.stacks[0].grid, {}
    for layer, windows in run.windows.items():
        grid = PatchGrid(windows.rows, windows.columns)
        here = finer(hidden, grid, base) if grid.patches > base.patches else coarser(hidden, base, grid)
        covered = torch.zeros(grid.patches, dtype=torch.bool)
        covered[list(here)] = True
        masks[layer.place] = seen_in_windows(windows, covered)
    return masks
