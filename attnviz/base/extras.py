"""Errors for a missing optional package: they name the extra that installs it."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from attnviz.base.words import N_, _

#: package -> the extra that installs it
BRINGS = {
    "transformers": "models",
    "safetensors": "models",
    "tokenizers": "models",
    "huggingface_hub": "models",
    "gguf": "models",
    "filelock": "models",
    "sentencepiece": "models",
    "plotly": "notebook",
    "pandas": "notebook",
    "resvg_py": "notebook",
    "quickjs": "notebook",
    "streamlit": "app",
    "starlette": "app",
    "uvicorn": "app",
    "prometheus_client": "app",
}


class ExtraMissing(ImportError):
    """A package of an extra is not installed; the message says how to install it."""

    def __init__(self, what: str, package: str, extra: str) -> None:
        sentence = _("{what} needs {package}, which is not installed: pip install 'attnviz[{extra}]' brings it")
        super().__init__(sentence.format(what=_(what), package=package, extra=extra), name=package)


@contextmanager
def explain_missing_extra(what: str) -> Iterator[None]:
    """Turn a missing package of an extra, imported inside the block, into a sentence that names the extra."""
    try:
        yield
    except ModuleNotFoundError as missing:
        package = (missing.name or "").split(".")[0]
        if package not in BRINGS:
            raise
        raise ExtraMissing(what, package, BRINGS[package]) from None


def pandas() -> Any:
    """The pandas module, imported on first use."""
    with explain_missing_extra(N_("A DataFrame")):
        import pandas as module
    return module


def load_figures(name: str) -> Any:
    """Module `name` of attnviz.figures, which stands above what computes and is loaded for a picture alone."""
    with explain_missing_extra(N_("A plot")):
        return import_module(f"attnviz.figures.{name}")


def require_extra(extra: str, what: str) -> None:
    """Raise ExtraMissing unless all packages of the extra are installed; nothing is imported."""
    for package, brought_by in BRINGS.items():
        if brought_by == extra and find_spec(package) is None:
            raise ExtraMissing(what, package, extra)
