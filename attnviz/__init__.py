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
    from attnviz.analysis.heads.nearest_heads import NearestHeads, nearest_heads
    from attnviz.analysis.heads.removal_costs import mean_outputs
    from attnviz.base.message import Problem
    from attnviz.core.attention import attend
    from attnviz.models.attribution.circuit import Ablation, Circuit, find_circuit
    from attnviz.models.attribution.head_circuits import Composition, HeadCircuits, composition_scores, head_circuits
    from attnviz.models.attribution.patching import Cell, Patching, attribution_patching, exact_patching
    from attnviz.models.attribution.path_patching import path_patching
    from attnviz.models.capture import (
        Cut,
        Edit,
        LogitAttribution,
        LogitLens,
        RecordedLayer,
        ScoreAttribution,
        Trace,
        capture,
        intervene,
        patch,
        remask,
        rescale,
        silence,
    )
    from attnviz.models.catalogue import LoadedModel
    from attnviz.models.loading import load
    from attnviz.notebook import HeadTable, NotebookView, cost_of_heads, find_heads, show

__version__ = "0.1.0"

__all__ = [
    "Ablation",
    "Cell",
    "Circuit",
    "Composition",
    "Cut",
    "Edit",
    "HeadCircuits",
    "HeadTable",
    "LoadedModel",
    "LogitAttribution",
    "LogitLens",
    "NearestHeads",
    "NotebookView",
    "Patching",
    "Problem",
    "RecordedLayer",
    "ScoreAttribution",
    "Trace",
    "attend",
    "attribution_patching",
    "capture",
    "composition_scores",
    "cost_of_heads",
    "exact_patching",
    "find_circuit",
    "find_heads",
    "head_circuits",
    "intervene",
    "load",
    "mean_outputs",
    "nearest_heads",
    "patch",
    "path_patching",
    "remask",
    "rescale",
    "show",
    "silence",
]

_NAMES = {
    "attnviz.base.message": ("Problem",),
    "attnviz.core.attention": ("attend",),
    "attnviz.models.attribution.circuit": ("Ablation", "Circuit", "find_circuit"),
    "attnviz.models.attribution.head_circuits": (
        "Composition", "HeadCircuits", "composition_scores", "head_circuits",
    ),
    "attnviz.models.attribution.path_patching": ("path_patching",),
    "attnviz.models.attribution.patching": ("Cell", "Patching", "attribution_patching", "exact_patching"),
    "attnviz.models.capture": (
        "Cut", "Edit", "LogitAttribution", "LogitLens", "RecordedLayer", "ScoreAttribution", "Trace", "capture",
        "intervene", "patch", "remask", "rescale", "silence",
    ),
    "attnviz.models.catalogue": ("LoadedModel",),
    "attnviz.models.loading": ("load",),
    "attnviz.notebook": ("HeadTable", "NotebookView", "cost_of_heads", "find_heads", "show"),
    "attnviz.analysis.heads.nearest_heads": ("NearestHeads", "nearest_heads"),
    "attnviz.analysis.heads.removal_costs": ("mean_outputs",),
}  # fmt: skip
_HOME = {name: module for module, names in _NAMES.items() for name in names}


#: what goes beyond torch and NumPy, and the extra that brings it
_NEEDS = {"load": "models"}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'attnviz' has no attribute {name!r}; it has {', '.join(__all__)}")
    from attnviz.base.extras import explain_missing_extra, require_extra

    if name in _NEEDS:
        require_extra(_NEEDS[name], f"attnviz.{name}")
    with explain_missing_extra(f"attnviz.{name}"):
        return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
