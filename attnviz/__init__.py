"""attnviz: see attention, computed live.

    import attnviz as av

    loaded = av.load("smollm2-135m")
    trace = av.capture(model, input_ids=ids)

Each name is resolved when it is first used: importing the package costs nothing.

Letters used for tensor axes, in code and on screen:

    B  batch              H  query heads        G  key/value heads (G divides H)
    Q  query positions    K  key positions      D  width of one head
    M  model width        Dv width of one value head (equal to D unless stated otherwise)
    T  tokens of a sequence, where queries and keys are the same tokens

A mask is boolean and True means "may attend".
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from attnviz.core.attention import attend
    from attnviz.models.attribution.circuit import Ablation, Circuit, find_circuit
    from attnviz.models.capture import Edit, LogitAttribution, LogitLens, Trace, capture, intervene
    from attnviz.models.loading import load
    from attnviz.notebook import cost_of_heads, find_heads, show
    from attnviz.runs.heads.removal_costs import mean_outputs

__version__ = "0.1.0"

__all__ = [
    "Ablation",
    "Circuit",
    "Edit",
    "LogitAttribution",
    "LogitLens",
    "Trace",
    "attend",
    "capture",
    "cost_of_heads",
    "find_circuit",
    "find_heads",
    "intervene",
    "load",
    "mean_outputs",
    "show",
]

_HOME = {
    "attend": "attnviz.core.attention",
    "capture": "attnviz.models.capture",
    "intervene": "attnviz.models.capture",
    "Edit": "attnviz.models.capture",
    "Trace": "attnviz.models.capture",
    "LogitAttribution": "attnviz.models.capture",
    "LogitLens": "attnviz.models.capture",
    **dict.fromkeys(("Ablation", "Circuit", "find_circuit"), "attnviz.models.attribution.circuit"),
    "load": "attnviz.models.loading",
    "find_heads": "attnviz.notebook",
    "cost_of_heads": "attnviz.notebook",
    "show": "attnviz.notebook",
    "mean_outputs": "attnviz.runs.heads.removal_costs",
}


#: what goes beyond torch and NumPy, and the extra that brings it
_NEEDS = {"load": "models"}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'attnviz' has no attribute {name!r}; it has {', '.join(__all__)}")
    from attnviz.base.extras import must_have, needed_for

    if name in _NEEDS:
        must_have(_NEEDS[name], f"attnviz.{name}")
    with needed_for(f"attnviz.{name}"):
        return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
