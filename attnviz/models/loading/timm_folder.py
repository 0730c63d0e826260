"""Open a folder that timm saved as a model of pictures. Its attention is recorded as that of any torch model."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor, nn

from attnviz.base.message import Problem
from attnviz.models import model_files
from attnviz.models.catalogue import ModelEntry
from attnviz.models.file_faults import first_line

#: what a config may say of the model's shape; anything else that timm would take, a file to open among it, is left out
_SHAPE: Final = (
    *("img_size", "patch_size", "in_chans", "embed_dim", "depth", "num_heads", "mlp_ratio", "qkv_bias", "qk_norm"),
    *("init_values", "class_token", "reg_tokens", "no_embed_class", "pre_norm", "final_norm", "fc_norm"),
    "global_pool",
)


class TimmPictures(nn.Module):
    """A model of timm's that takes pixels by the name that models of transformers have for them."""

    main_input_name = "pixel_values"

    def __init__(self, inner: Any, config: Any) -> None:
        super().__init__()
        self.inner, self.config = inner, config

    @property
    def device(self) -> torch.device:
        return next(self.parameters()).device

    def forward(self, pixel_values: Tensor) -> dict[str, Any]:
        """The logits; of a model that names nothing, its vector."""
        output = self.inner(pixel_values)
        return {"logits": output if self.inner.num_classes else None, "vector": output}


def is_timm(folder: Path) -> bool:
    """Whether the config is of a kind that timm writes: it names an architecture of timm's and no model type."""
    raw = _read(folder)
    return isinstance(raw.get("architecture"), str) and "model_type" not in raw


def count_parameters(folder: Path, entry: ModelEntry) -> int:
    """Number of parameters, counted without allocating them; a Problem unless tokens are patches."""
    with torch.device("meta"):
        inner = _create_timm_model(_read(folder), entry)
    if not hasattr(inner, "patch_embed") or not hasattr(inner, "blocks"):
        raise Problem("{name} has no layer whose tokens are patches of the whole picture", name=entry.name)
    return sum(parameter.numel() for parameter in inner.parameters())


def fill_weights(folder: Path, weights: Mapping[str, Any], entry: ModelEntry) -> TimmPictures:
    """The model with all its weights from the files, in 32 bits."""
    raw = _read(folder)
    inner = _create_timm_model(raw, entry)
    wanted = inner.state_dict()
    both = wanted.keys() & weights.keys()
    wrong = sorted(name for name in both if list(wanted[name].shape) != list(weights[name].get_shape()))
    model_files.check_weights(sorted(wanted.keys() - weights.keys()), wrong, entry)
    inner.load_state_dict({name: weights[name][...] for name in wanted})
    model = TimmPictures(inner, _config(inner, raw))
    model.config.name_or_path = str(folder)
    return model


def _create_timm_model(raw: Mapping[str, Any], entry: ModelEntry) -> Any:
    """timm's model of this config, as it is before it learned anything."""
    model_files.check_layers(raw, entry)
    try:
        import timm
    except ImportError as error:
        raise Problem(
            "{name} is a model of timm's, which cannot be imported here: pip install timm ({reason})",
            name=entry.name,
            reason=first_line(error),
        ) from error
    kind = str(raw.get("architecture"))
    if not timm.is_model(kind):
        raise Problem("{name} is of a kind ({kind}) that timm does not have", name=entry.name, kind=kind[:80])
    model_args, classes = raw.get("model_args"), raw.get("num_classes")
    shape = {
        name: value for name, value in (model_args if isinstance(model_args, dict) else {}).items() if name in _SHAPE
    }
    shape["num_classes"] = classes if isinstance(classes, int) else 1000
    try:
        return timm.create_model(kind, pretrained=False, **shape)
    except Exception as error:
        raise model_files.config_problem(entry, error) from error


def _config(inner: Any, raw: Mapping[str, Any]) -> Any:
    """A config with transformers' names for the fields that pages read."""
    from transformers import PretrainedConfig

    about = raw.get("pretrained_cfg")
    how: dict[str, Any] = dict(about) if isinstance(about, dict) else {}
    names = raw.get("label_names")
    labels = {at: str(name) for at, name in enumerate(names)} if isinstance(names, list) else {}
    return PretrainedConfig(
        patch_size=tuple(int(side) for side in inner.patch_embed.patch_size),
        image_size=tuple(int(side) for side in inner.patch_embed.img_size),
        num_channels=int(getattr(inner.patch_embed.proj, "in_channels", 3)),
        num_register_tokens=int(getattr(inner, "num_reg_tokens", 0) or 0),
        has_distillation_token=hasattr(inner, "dist_token"),
        num_hidden_layers=len(inner.blocks),
        id2label=labels or {at: str(at) for at in range(int(inner.num_classes))},
        image_mean=_colour_triple(how.get("mean")),
        image_std=_colour_triple(how.get("std")),
        crop_share=float(how.get("crop_pct") or 1.0),
    )


def _colour_triple(value: Any) -> list[float] | None:
    """A number for each colour, where the config has them."""
    if isinstance(value, list | tuple) and all(isinstance(channel, int | float) for channel in value):
        return [float(channel) for channel in value]
    return None


def _read(folder: Path) -> dict[str, Any]:
    return model_files.read_json(folder / "config.json") or {}
