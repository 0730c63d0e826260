"""Which token of a picture model is which patch of the picture, which are no patch, and how windows (Swin) cut it."""

from dataclasses import dataclass, replace
from math import isqrt
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnviz.base.message import Message, Problem
from attnviz.models.capture import RecordedLayer

APART = -50.0  #: a bias below this parts patches that a shift put into one window without their being neighbours


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
        return None if not self.first <= token < self.tokens else divmod(token - self.first, self.columns)

    def name(self, token: int) -> Message:
        """Name of a token: rows and columns count from 1."""
        position = self.at(token)
        if position is None:
            return self.special[token]
        return Message("row {row}, column {column}", {"row": position[0] + 1, "column": position[1] + 1})


CLASS = Message("class token")


def split_into_patches(pictures: np.ndarray, side: int) -> np.ndarray:
    """Pictures (..., height, width) in patches, row by row, each with its pixels row by row: (..., P, side * side)."""
    rows, columns = pictures.shape[-2] // side, pictures.shape[-1] // side
    cut = pictures.reshape(*pictures.shape[:-2], rows, side, columns, side).swapaxes(-3, -2)
    return cut.reshape(*pictures.shape[:-2], rows * columns, side**2)


def find_grid(model: Any, height: int, width: int, tokens: int) -> PatchGrid:
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
    while tokens < rows * columns and rows % 2 == 0 and columns % 2 == 0:
        rows, columns, down, across = rows // 2, columns // 2, down * 2, across * 2
    patches = rows * columns
    if not 0 < patches <= tokens:
        raise Problem(
            "{model} sees {tokens} tokens where a picture of {height} × {width} has {patches} patches",
            model=type(model).__name__,
            tokens=tokens,
            height=height,
            width=width,
            patches=patches,
        )
    return PatchGrid(rows, columns, _special(config, tokens - patches), (float(down), float(across)))


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
    distilled = getattr(config, "model_type", "") == "deit" or getattr(config, "has_distillation_token", False)
    names = [CLASS, Message("distillation token")] if distilled else [CLASS]
    registers = range(len(names), int(getattr(config, "num_register_tokens", 0) or 0) + 1)
    names += [Message("register {number}", {"number": at}) for at in registers]
    names += [Message("extra token {number}", {"number": at}) for at in range(len(names), count)]
    return tuple(names[:count])


MOST_SIDE = 448  #: pixels: a larger picture is made smaller, because every patch costs a token


def merge_factor(model: Any) -> int:
    """How many patches along a side become one token for the words: Qwen2-VL's 2, else 1."""
    return int(getattr(vision_config(model), "spatial_merge_size", 1) or 1)


def takes_text(model: Any) -> bool:
    """Whether a model is given words and a picture among them, as Qwen2-VL, LLaVA and PaliGemma are."""
    return getattr(model.config, "vision_config", None) is not None and image_token(model.config) is not None


def image_token(config: Any) -> int | None:
    """The token that stands for a patch of a picture."""
    token = getattr(config, "image_token_id", None)
    return int(token) if isinstance(token, int) else None


def has_two_encoders(model: Any) -> bool:
    """Whether a model has a tower for pictures and one for words, and says how well they fit."""
    both = all(getattr(model.config, f"{name}_config", None) is not None for name in ("vision", "text"))
    return both and image_token(model.config) is None and hasattr(model, "logit_scale")


def scores_independently(model: Any) -> bool:
    """Whether each description has a probability of its own (SigLIP) rather than a share of one (CLIP)."""
    return hasattr(model, "logit_bias")


def size_for(model: Any, height: int, width: int) -> tuple[int, int]:
    """The nearest height and width that whole groups of merged patches fill."""
    step = int(vision_config(model).patch_size) * merge_factor(model)
    times = min(1.0, MOST_SIDE / max(height, width))
    return max(step, round(height * times / step) * step), max(step, round(width * times / step) * step)


def cut_up(model: Any, values: Tensor) -> dict[str, Tensor]:
    """A picture (1, C, height, width) as the model takes it: patches (N, C * frames * side * side), and their grid."""
    config, side = vision_config(model), merge_factor(model)
    patch, frames = int(config.patch_size), int(getattr(config, "temporal_patch_size", 2) or 2)
    channels, height, width = values.shape[1:]
    rows, columns = height // patch, width // patch
    parts = values[0].reshape(channels, rows // side, side, patch, columns // side, side, patch)
    parts = parts.permute(1, 4, 2, 5, 0, 3, 6).unsqueeze(5)  # rows, columns, side, side, C, 1, patch, patch
    frames_repeated = parts.expand(*parts.shape[:5], frames, *parts.shape[6:])
    return {
        "pixel_values": frames_repeated.reshape(rows * columns, channels * frames * patch * patch),
        "image_grid_thw": torch.tensor([[1, rows, columns]]),
    }


def put_together(model: Any, patches: Tensor, grid: Tensor) -> Tensor:
    """Reassemble the picture (1, C, height, width) from patches: the inverse of `cut_up`."""
    config, side = vision_config(model), merge_factor(model)
    patch, frames = int(config.patch_size), int(getattr(config, "temporal_patch_size", 2) or 2)
    _, rows, columns = (int(size) for size in grid[0])
    parts = patches.reshape(rows // side, columns // side, side, side, -1, frames, patch, patch)[:, :, :, :, :, 0]
    return parts.permute(4, 0, 2, 5, 1, 3, 6).reshape(1, -1, rows * patch, columns * patch)


# Attention inside windows of a picture: which patch lies where, and such a layer as one of all patches.
@dataclass(frozen=True)
class Windows:
    """Patches of one stage, and the windows that its layer cuts them into: `side` patches wide, moved by `shift`."""

    stage: int  #: from 0; patches of each are twice as wide as those of the one before
    rows: int
    columns: int
    side: int
    shift: int

    def places(self) -> Tensor:
        """The patch at each place of each window, (windows, side * side); -1 beyond the picture."""
        high, wide = -(-self.rows // self.side) * self.side, -(-self.columns // self.side) * self.side
        numbers = torch.full((high, wide), -1)
        numbers[: self.rows, : self.columns] = torch.arange(self.rows * self.columns).view(self.rows, self.columns)
        shifted = numbers.roll((-self.shift, -self.shift), (0, 1))
        cut = shifted.view(high // self.side, self.side, wide // self.side, self.side)
        return cut.transpose(1, 2).reshape(-1, self.side**2)


def uses_windows(model: Any) -> bool:
    """Whether some layers of a model cut the picture into windows."""
    return any(hasattr(module, "shift_size") and hasattr(module, "window_size") for module in model.modules())


def find_windows(model: Any, layer: RecordedLayer, height: int, width: int) -> Windows | None:
    """How a recorded layer cuts a picture of this many pixels into windows; None where it does not."""
    path = layer.name.rsplit(".attention", 1)[0]
    block: Any = model.get_submodule(path) if ".blocks." in path else None
    if not hasattr(block, "shift_size") or not hasattr(block, "window_size"):
        return None
    stage = int(path.split(".blocks.")[0].rsplit(".", 1)[1])
    patch = int(vision_config(model).patch_size)
    rows, columns = -(-height // patch), -(-width // patch)
    for _ in range(stage):
        rows, columns = (rows + 1) // 2, (columns + 1) // 2
    return Windows(stage, rows, columns, isqrt(layer.shape[3]), int(block.shift_size))


def join_windows(layer: RecordedLayer, windows: Windows) -> RecordedLayer:
    """The same layer over all patches at once: a patch may look at those of its own window, and no others.

    Where windows reach beyond the picture only weights are given, since what lies there takes a share of them.
    """
    places, tokens = windows.places().to(layer.device), windows.rows * windows.columns
    if windows.rows % windows.side or windows.columns % windows.side or not layer.exact:  # what is put beyond is seen
        return replace(
            layer, q=None, k=None, v=None, bias=None, allowed=None, blocked=None, norms=None, w_o=None,
            reported=_pairs(layer.weights(), places, tokens),
        )  # fmt: skip
    bias = None if layer.bias is None else layer.bias.expand(len(places), layer.n_heads, *layer.shape[2:]).float()
    together = torch.ones(len(places), 1, *layer.shape[2:], dtype=torch.bool, device=layer.device)
    if bias is not None:
        together = (bias >= APART).all(1, keepdim=True)
        bias = _pairs(bias.where(together, 0.0), places, tokens)

    def to_patches(vectors: Tensor) -> Tensor:
        """Vectors of windows (W, H, N, D) as those of patches (1, H, T, D)."""
        by_patch = vectors.new_zeros(vectors.shape[1], tokens, vectors.shape[3])
        by_patch[:, places.flatten()] = vectors.transpose(0, 1).flatten(1, 2)  # (H, W*N, D)
        return by_patch[None]

    q, k, v = map(to_patches, layer.qkv)
    return replace(
        layer, q=q, k=k, v=v, bias=bias, allowed=_pairs(together.float(), places, tokens) > 0,
        causal=False, blocked=None, norms=None, w_o=None,
    )  # fmt: skip


def window_masks(windows: Windows, hidden: Tensor) -> Tensor:
    """(windows, 1, 1, side * side): False at the places of hidden patches; `hidden` (patches,) is True at those."""
    places = windows.places()
    return ((places < 0) | ~hidden[places.clamp_min(0)])[:, None, None]


def _pairs(in_windows: Tensor, places: Tensor, tokens: int) -> Tensor:
    """Numbers of pairs in windows (W, H, N, N) as those of pairs of patches (1, H, T, T), 0 across windows."""
    by_patch = in_windows.new_zeros(in_windows.shape[1], tokens, tokens)
    for at, inside in enumerate(places):
        in_picture = (inside >= 0).nonzero()[:, 0]
        rows, keys = inside[in_picture][:, None], inside[in_picture][None]
        by_patch[:, rows, keys] = in_windows[at][:, in_picture[:, None], in_picture[None]]
    return by_patch[None]
