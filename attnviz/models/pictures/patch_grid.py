"""Which token of a picture model is which patch of the picture, and which tokens are no patch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnviz.base.message import Message, Problem


@dataclass(frozen=True)
class PatchGrid:
    """Tokens of a picture: the special ones first, then patches row by row."""

    rows: int
    columns: int
    special: tuple[Message, ...] = ()  #: what stands before the patches: the class token, registers
    patch: tuple[float, float] = (1.0, 1.0)  #: height and width of a patch in pixels of what the model is given

    @property
    def first(self) -> int:
        """The token of the first patch."""
        return len(self.special)

    @property
    def patches(self) -> int:
        return self.rows * self.columns

    @property
    def tokens(self) -> int:
        return self.first + self.patches

    @property
    def has_class(self) -> bool:
        """Whether the first token sums up the picture."""
        return self.special[:1] == (CLASS,)

    def at(self, token: int) -> tuple[int, int] | None:
        """Row and column of a token's patch; None for a special token."""
        if not self.first <= token < self.tokens:
            return None
        return divmod(token - self.first, self.columns)

    def name(self, token: int) -> Message:
        """What a token is called: rows and columns count from 1."""
        place = self.at(token)
        if place is None:
            return self.special[token]
        return Message("row {row}, column {column}", {"row": place[0] + 1, "column": place[1] + 1})


CLASS = Message("class token")


def pixels_of_patches(pictures: np.ndarray, side: int) -> np.ndarray:
    """Pictures (..., height, width) in patches, row by row, each with its pixels row by row: (..., P, side * side)."""
    rows, columns = pictures.shape[-2] // side, pictures.shape[-1] // side
    cut = pictures.reshape(*pictures.shape[:-2], rows, side, columns, side).swapaxes(-3, -2)
    return cut.reshape(*pictures.shape[:-2], rows * columns, side**2)


def grid_of(model: Any, height: int, width: int, tokens: int) -> PatchGrid:
    """The patches of a picture of this many pixels, in a layer that sees `tokens` tokens.

    Models say the side of a patch in their config. A layer that sees fewer tokens than there are patches belongs to a
    model that merges patches on the way (Swin): its grid is as much coarser.
    """
    config = vision_config(model)
    side = getattr(config, "patch_size", None)
    if side is None:
        raise Problem("{model} does not say how it cuts a picture into patches", model=type(model).__name__)
    down, across = (side, side) if isinstance(side, int) else (side[0], side[1])
    rows, columns = height // down, width // across
    extra = tokens - rows * columns
    while extra < 0 and rows % 2 == 0 and columns % 2 == 0:
        rows, columns, down, across = rows // 2, columns // 2, down * 2, across * 2
        extra = tokens - rows * columns
    if extra < 0 or rows * columns == 0:
        raise Problem(
            "{model} sees {tokens} tokens where a picture of {height} × {width} has {patches} patches",
            model=type(model).__name__,
            tokens=tokens,
            height=height,
            width=width,
            patches=rows * columns,
        )
    return PatchGrid(rows, columns, _special(config, extra), (float(down), float(across)))


def vision_config(model: Any) -> Any:
    """The part of a model's config that is about pictures."""
    config = model.config
    for name in ("vision_config", "encoder"):
        inner = getattr(config, name, None)
        if inner is not None and hasattr(inner, "patch_size"):
            return inner
    return config


def _special(config: Any, count: int) -> tuple[Message, ...]:
    """Names of the tokens before the patches: the class token, then registers or DeiT's distillation token."""
    registers = int(getattr(config, "num_register_tokens", 0) or 0)
    distilled = getattr(config, "model_type", "") == "deit" or getattr(config, "has_distillation_token", False)
    names: list[Message] = []
    for at in range(count):
        if at == 0:
            names.append(CLASS)
        elif distilled and at == 1:
            names.append(Message("distillation token"))
        elif registers and at <= registers:
            names.append(Message("register {number}", {"number": at}))
        else:
            names.append(Message("extra token {number}", {"number": at}))
    return tuple(names)


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
