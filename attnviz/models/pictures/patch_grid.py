"""Which token of a picture model is which patch of the picture, and which tokens are no patch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from attnviz.core.message import Message, Problem


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
