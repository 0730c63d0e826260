"""What is missing when a part of attnviz is used without the packages that its extra brings. Knows words."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from attnviz.base.words import N_, _

#: which extra brings a package, for those that the library goes without until they are needed
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
    """One sentence: what needs which package, and how to install it."""

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
    """pandas, imported once somebody wants a table."""
    with explain_missing_extra(N_("A DataFrame")):
        import pandas as module
    return module


def require_extra(extra: str, what: str) -> None:
    """Refuse in one sentence where a package of the extra is not installed; nothing is imported to find out."""
    for package, brought_by in BRINGS.items():
        if brought_by == extra and find_spec(package) is None:
            raise ExtraMissing(what, package, extra)
