"""timm, for tests that compare with it. It wants torchvision for datasets and augmentation, which no test uses."""

import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import torch

from tests.models.tiny import changed

SMALL = {"img_size": 32, "patch_size": 8, "embed_dim": 24, "depth": 2, "num_heads": 3, "num_classes": 5}

#: a model's name, and more of its arguments
MODELS = {
    "ViT": ("vit_tiny_patch16_224", {}),
    "ViT with q and k normalised": ("vit_tiny_patch16_224", {"qk_norm": True}),
    "DeiT with a distillation token": ("deit_tiny_distilled_patch16_224", {}),
    "DINOv2's shape with registers": ("vit_small_patch14_reg4_dinov2", {"init_values": 0.5}),
    "EVA-02, rotated in two axes": ("eva02_tiny_patch14_224", {}),
}


class _Named(type):
    """A class of which any name can be asked: enumerations are read while timm is imported."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return f"{cls.__name__}.{name}"


class _StandIn(MetaPathFinder, Loader):
    """Names in place of torchvision's, so that timm can be imported without it."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        return ModuleSpec(name, self, is_package=True) if name.split(".")[0] == "torchvision" else None

    def exec_module(self, module: ModuleType) -> None:
        def name(wanted: str) -> Any:
            if wanted.startswith("__"):
                raise AttributeError(wanted)
            return _Named(wanted, (), {})

        module.__getattr__ = name  # type: ignore[method-assign]


def timm() -> Any:
    """The library, imported with names in place of torchvision where that is missing."""
    finder = None if find_spec("torchvision") else _StandIn()
    if finder is not None:
        sys.meta_path.insert(0, finder)
    try:
        import timm as library
    finally:
        if finder is not None:
            sys.meta_path.remove(finder)
            for name in [each for each in sys.modules if each.split(".")[0] == "torchvision"]:
                del sys.modules[name]  # transformers asks whether it is there
    return library


def tiny(name):
    """A small random model of that kind."""
    kind, more = MODELS[name]
    torch.manual_seed(0)
    model = timm().create_model(kind, pretrained=False, **SMALL | more).eval()
    with torch.no_grad():  # weights as large as trained ones
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.normal_(0, 0.4)
    return model


def explicit(model, pixels):
    """The answer, and the weights of every layer as timm's own explicit path hands them to its dropout."""
    kept, layers = [], [name for name, each in model.named_modules() if hasattr(each, "attn_drop")]
    for name in layers:
        model.get_submodule(name).fused_attn = False
    drops = [f"{name}.attn_drop" for name in layers]
    with changed(model, drops, lambda _, weights: kept.append(weights) or weights, answers=True):
        return model(pixels), kept
