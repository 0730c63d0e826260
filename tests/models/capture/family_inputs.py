"""Random inputs with fixed seeds for a tiny model of any family: tokens, pictures or sound."""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from transformers import PreTrainedConfig, PreTrainedModel


def inputs_for(config: PreTrainedConfig, model_class: type[PreTrainedModel]) -> Iterator[dict[str, Any]]:
    """Inputs that the model may accept, most likely first."""
    main = model_class.main_input_name
    decoder = {"decoder_input_ids": _ids(6)} if config.is_encoder_decoder else {}
    if main in ("input_ids", "pixel_values"):
        size = _field(config, "image_size")
        size = size if isinstance(size, int) else 32
        channels = _field(config, "num_channels") or 3
        pixels = torch.randn(2, channels, size, size, generator=torch.Generator().manual_seed(2))
        orders = [text(config), text(config) | {"pixel_values": pixels}, {"input_ids": _ids(10)} | decoder]
        if main == "pixel_values":
            frames = _field(config, "num_frames") or _field(config, "frames_per_clip") or 4
            video = pixels[:, None].expand(-1, frames, -1, -1, -1)
            orders = [{"pixel_values": pixels}, {"pixel_values": video}, *orders]
        yield from orders
    elif main == "input_features":
        bins = _field(config, "num_mel_bins") or _field(config, "feature_size") or 80
        length = 2 * (_field(config, "max_source_positions") or 32)
        yield {main: torch.randn(2, bins, length)} | decoder
        yield {main: torch.randn(2, length, bins)} | decoder
    elif main == "input_values":
        yield {main: torch.randn(2, 4000)} | decoder
        yield {main: torch.randn(2, 1, 4000)}
    else:
        raise ValueError(f"takes {main}, which this script cannot make up")


def text(config: PreTrainedConfig, length: int = 10, side: str = "right") -> dict[str, Tensor]:
    """Token inputs for two sentences of `length` tokens, the second with three padding tokens on one side.

    Includes decoder tokens for a model with a decoder.
    """
    mask = torch.ones(2, length, dtype=torch.long)
    if side == "right":
        mask[-1, -3:] = 0
    elif side == "left":
        mask[-1, :3] = 0
    inputs = {"input_ids": _ids(length), "attention_mask": mask}
    return inputs | ({"decoder_input_ids": _ids(6)} if config.is_encoder_decoder else {})


def _ids(length: int) -> Tensor:
    return torch.randint(5, 100, (2, length), generator=torch.Generator().manual_seed(1))


def _field(config: PreTrainedConfig, name: str) -> Any:
    """A field of the config, or of the first sub-config that has it."""
    for place in (config, *(getattr(config, sub, None) for sub in config.sub_configs)):
        if getattr(place, name, None) is not None:
            return getattr(place, name)
    return None
