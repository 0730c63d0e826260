"""Pictures cut into patches beforehand, as Qwen2-VL takes them: patches that will be merged lie side by side."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from attnviz.models.pictures.patch_grid import vision_config

MOST_SIDE = 448  #: pixels: a larger picture is made smaller, because every patch costs a token


def merged(model: Any) -> int:
    """How many patches along a side become one token for the words: Qwen2-VL's 2, else 1."""
    return int(getattr(vision_config(model), "spatial_merge_size", 1) or 1)


def size_for(model: Any, height: int, width: int) -> tuple[int, int]:
    """The nearest height and width that whole groups of merged patches fill."""
    step = int(vision_config(model).patch_size) * merged(model)
    times = min(1.0, MOST_SIDE / max(height, width))
    return max(step, round(height * times / step) * step), max(step, round(width * times / step) * step)


def cut_up(model: Any, values: Tensor) -> dict[str, Tensor]:
    """A picture (1, C, height, width) as the model takes it: patches (N, C * frames * side * side), and their grid."""
    config, side = vision_config(model), merged(model)
    patch, frames = int(config.patch_size), int(getattr(config, "temporal_patch_size", 2) or 2)
    channels, height, width = values.shape[1:]
    rows, columns = height // patch, width // patch
    parts = values[0].reshape(channels, rows // side, side, patch, columns // side, side, patch)
    parts = parts.permute(1, 4, 2, 5, 0, 3, 6).unsqueeze(5)  # rows, columns, side, side, C, 1, patch, patch
    whole = parts.expand(*parts.shape[:5], frames, *parts.shape[6:])
    return {
        "pixel_values": whole.reshape(rows * columns, channels * frames * patch * patch),
        "image_grid_thw": torch.tensor([[1, rows, columns]]),
    }


def put_together(model: Any, patches: Tensor, grid: Tensor) -> Tensor:
    """The picture (1, C, height, width) that patches were cut from: what `cut_up` did, undone."""
    config, side = vision_config(model), merged(model)
    patch, frames = int(config.patch_size), int(getattr(config, "temporal_patch_size", 2) or 2)
    _, rows, columns = (int(each) for each in grid[0])
    parts = patches.reshape(rows // side, columns // side, side, side, -1, frames, patch, patch)[:, :, :, :, :, 0]
    return parts.permute(4, 0, 2, 5, 1, 3, 6).reshape(1, -1, rows * patch, columns * patch)


def vision_order(model: Any, rows: int, columns: int) -> Tensor:
    """The place of each patch, row by row, in a vision tower that keeps patches to be merged side by side, (P,)."""
    side = merged(model)
    numbers = torch.arange(rows * columns).view(rows // side, columns // side, side, side)
    return numbers.transpose(1, 2).reshape(-1)
