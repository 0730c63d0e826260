"""A model of timm's, as the rest of the app calls a model of pictures."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn


class TimmPictures(nn.Module):
    """A model of timm's that takes pixels by the name that models of transformers have for them."""

    main_input_name = "pixel_values"

    def __init__(self, inner: Any, config: Any) -> None:
        super().__init__()
        self.inner, self.config = inner, config

    @property
    def device(self) -> torch.device:
        return next(self.parameters()).device

    def can_generate(self) -> bool:
        """It writes no words."""
        return False

    def forward(self, pixel_values: Tensor) -> dict[str, Any]:
        """The logits; of a model that names nothing, its vector."""
        given = self.inner(pixel_values)
        return {"logits": given if self.inner.num_classes else None, "vector": given}
