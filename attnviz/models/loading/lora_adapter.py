"""A folder with a LoRA adapter, added to its base: W + B A times alpha / r, on linear layers.

What makes an adapter more than that is refused by name, because weights that are nearly right look right.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeGuard

from attnviz.base.message import Message, MessageList, Problem
from attnviz.models import model_files
from attnviz.models.catalogue import ModelEntry

if TYPE_CHECKING:
    from torch import Tensor, nn

CONFIG: Final = "adapter_config.json"
FILE: Final = "adapter_model.safetensors"
HIGHEST_RANK: Final = 1 << 16  #: more than any matrix is wide
_KEY: Final = re.compile(r"(?:base_model\.model\.)?(?P<layer>.+)\.lora_(?P<side>[AB])(?:\.default)?\.weight")
#: settings that, when they say anything, make the adapter compute something else than W + B A alpha / r
_MORE: Final = (
    "alora_invocation_tokens",
    "alpha_pattern",
    "arrow_config",
    "layer_replication",
    "lora_bias",
    "megatron_config",
    "modules_to_save",
    "rank_pattern",
    "target_parameters",
    "trainable_token_indices",
    "use_dora",
    "use_qalora",
)
_PLAIN_STARTS: Final = (True, False, None, "gaussian")  #: the others change the base's weights as well


@dataclass(frozen=True)
class Adapter:
    """A validated adapter config."""

    folder: Path
    base: str  #: a model's name, as for `load`
    rank: int
    scale: float
    targets: tuple[str, ...]  #: ends of the names of the layers that it must hold; empty where they are not listed


def is_adapter(folder: Path) -> bool:
    return (folder / CONFIG).is_file()


def adapter_base(folder: Path) -> str | None:
    """The name of an adapter's base, if the folder holds an adapter that says one."""
    base = (model_files.read_json(folder / CONFIG) or {}).get("base_model_name_or_path")
    return base if isinstance(base, str) and base else None


def read(folder: Path, entry: ModelEntry) -> Adapter:
    """The adapter in a folder, or in words why it cannot be added."""
    config = model_files.read_json(folder / CONFIG)
    if config is None:
        raise Problem("The adapter_config.json of {name} cannot be read", name=entry.name)
    kind, start = config.get("peft_type"), config.get("init_lora_weights")
    if kind != "LORA":
        raise Problem("{name} is an adapter of the kind {kind}; only LoRA is added here", name=entry.name, kind=kind)
    more = [f"{setting}={config[setting]}" for setting in _MORE if config.get(setting)]
    more += [f"bias={config['bias']}"] if config.get("bias", "none") != "none" else []
    more += [f"init_lora_weights={start}"] if start not in _PLAIN_STARTS else []
    if more:
        raise Problem(
            "{name} is more than LoRA on linear layers ({settings}), and only that is added here",
            name=entry.name,
            settings=MessageList([setting[:60] for setting in more]),
        )
    rank, alpha, base = config.get("r"), config.get("lora_alpha"), adapter_base(folder)
    if rank is None or not _is_number(alpha) or base is None:
        raise Problem("The adapter_config.json of {name} lacks its rank, its alpha or its base", name=entry.name)
    if not isinstance(rank, int) or isinstance(rank, bool) or not 1 <= rank <= HIGHEST_RANK:
        raise Problem(
            "The adapter_config.json of {name} says r={rank}; a rank is a whole number from 1 to {most}",
            name=entry.name,
            rank=str(rank)[:40],
            most=f"{HIGHEST_RANK:,}",
        )
    if not (folder / FILE).is_file():
        raise Problem("{name} is a LoRA adapter with no adapter_model.safetensors beside its config", name=entry.name)
    scale = alpha / (math.sqrt(rank) if config.get("use_rslora") else rank)
    listed = config.get("target_modules")
    narrowed = config.get("layers_to_transform") is not None or config.get("exclude_modules")
    return Adapter(
        folder, base, rank, scale, tuple(map(str, listed)) if isinstance(listed, list) and not narrowed else ()
    )


def add(model: nn.Module, adapter: Adapter, entry: ModelEntry) -> tuple[Message, ...]:
    """Put the sums in the place of the base's weights, which are not written to; returns notices about it."""
    import torch

    with model_files.open_weights((adapter.folder / FILE,), entry, mapped=False) as weights, torch.no_grad():
        pairs = _pairs(weights.slices, model, adapter, entry)
        ends = tuple(f".{target}" for target in adapter.targets)
        target_layers = [name for name, _layer in model.named_modules() if ends and f".{name}".endswith(ends)]
        if absent := [name for name in target_layers if name not in pairs]:
            raise Problem(
                "{name} lacks its matrices for {count} layers that its config lists, such as {layer}",
                name=entry.name,
                count=len(absent),
                layer=absent[0],
            )
        for name, (a, b) in pairs.items():
            layer: Any = model.get_submodule(name)
            delta = (b[...].float() @ a[...].float()).to(layer.weight.device) * adapter.scale  # (out, in)
            delta = delta if _is_linear(layer) else delta.T
            layer.weight = torch.nn.Parameter(
                (layer.weight.float() + delta).to(layer.weight.dtype), requires_grad=False
            )
    notice = Message(
        "The LoRA adapter {name} was added to {base}: {count} weight matrices, by {scale} B A",
        {"name": entry.name, "base": adapter.base, "count": len(pairs), "scale": f"{adapter.scale:g}"},
    )
    return (notice, *weights.notices)


def _pairs(
    slices: Mapping[str, Any], model: nn.Module, adapter: Adapter, entry: ModelEntry
) -> dict[str, tuple[Tensor, Tensor]]:
    """A and B by the name of their layer in the model, with the shapes that fit."""
    matrices: dict[str, dict[str, Any]] = {}
    for key, matrix in slices.items():
        match = _KEY.fullmatch(key)
        if match is None:
            raise Problem(
                "{name} holds {key}: that is more than LoRA on linear layers, and only that is added here",
                name=entry.name,
                key=key,
            )
        sides = matrices.setdefault(_module_name(match["layer"], model, adapter, entry), {})
        if match["side"] in sides:
            raise Problem("{name} holds {key} twice, under two names", name=entry.name, key=key)
        sides[match["side"]] = matrix
    for name, sides in matrices.items():
        shapes = [list(sides[side].get_shape()) if side in sides else [] for side in "AB"]
        layer: Any = model.get_submodule(name)
        shape = list(layer.weight.shape)
        wide, high = shape[::-1] if _is_linear(layer) else shape
        if shapes != [[adapter.rank, wide], [high, adapter.rank]]:
            raise Problem(
                "The matrices of {name} for {layer} have the shapes {shapes}, which do not fit {shape} at rank {rank}",
                name=entry.name,
                layer=name,
                shapes=shapes,
                shape=shape,
                rank=adapter.rank,
            )
    return {name: (sides["A"], sides["B"]) for name, sides in matrices.items()}


def _module_name(name: str, model: Any, adapter: Adapter, entry: ModelEntry) -> str:
    """The layer's name in our model, which may be with or without the head that the adapter was trained under."""
    prefix = f"{model.base_model_prefix}."
    modules = dict(model.named_modules())
    for known in (name, name.removeprefix(prefix), prefix + name):
        layer = modules.get(known)
        if layer is not None and (_is_linear(layer) or type(layer).__name__ == "Conv1D"):
            return known
        if layer is not None:
            raise Problem(
                "{name} changes {layer}, which is not a linear layer; only those are changed here",
                name=entry.name,
                layer=known,
            )
    raise Problem("{name} changes {layer}, which {base} does not have", name=entry.name, layer=name, base=adapter.base)


def _is_linear(layer: object) -> bool:
    from torch import nn

    return type(layer) is nn.Linear


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e9  # NaN is not, either
