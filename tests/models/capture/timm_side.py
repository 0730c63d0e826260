"""timm, for tests that compare with it. It wants torchvision for datasets and augmentation, which no test uses."""

import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any


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
