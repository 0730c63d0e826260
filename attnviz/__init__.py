"""attnviz: see attention, computed live.

    import attnviz as av

    av.costs("llama-3.1-8b", tokens=8192)          # parameters, KV cache, FLOPs; .as_("MQA"), .plot()
    av.saturation(d_k=[16, 64, 256], scale=None)   # why scores are divided by the square root of d_k
    loaded = av.load("smollm2-135m")
    trace = av.capture(loaded, "The cat sat.")     # one pass; keeps q, k and v of every layer
    trace[3].weights(heads=2)                      # any head, under any mask and scale

The names by task; `help(av.capture)` says more of each:

    Attention by formula
        attend, HeadLayout, Attention, RoPE, KVCache, masks, positions, measures
    What scaling does, and what a model costs
        saturation, Saturation, costs, Costs
    A model's own attention
        load, LoadedModel, capture, Trace, RecordedLayer, HeadMeasure, show, NotebookView
    Change it
        intervene, Edit, ablate, knockout, patch, remask, rescale, steer, mean_outputs, knock_out_units, UnitEffects
    Many sentences
        find_heads, cost_of_heads, HeadTable, nearest_heads, NearestHeads, needle_in_haystack
    Why this token, and why this weight?
        LogitAttribution, LogitLens, ScoreAttribution, Cut, logit_diff, attention_weight,
        attribution_patching, activation_patching, Patching, Site, Effect, path_patching,
        find_circuit, Circuit, Ablation, head_circuits, HeadCircuits, composition_scores, Composition
    Training
        watch, TrainingWatch
    Errors
        Problem

Each name is resolved when it is first used: importing the package costs nothing.

Letters used for tensor axes, in code and on screen:

    B  batch              H  query heads        G  key/value heads (G divides H)
    Q  query positions    K  key positions      D  width of one head
    M  model width        Dv width of one value head (equal to D unless stated otherwise)
    T  tokens of a sequence, where queries and keys are the same tokens

A mask is boolean and True means "may attend".
"""

import warnings
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from attnviz.analysis.heads.nearest_heads import NearestHeads, nearest_heads
    from attnviz.analysis.heads.needles import needle_in_haystack
    from attnviz.analysis.heads.removal_costs import mean_outputs
    from attnviz.analysis.model_costs import Costs, costs
    from attnviz.analysis.saturation import Saturation, saturation
    from attnviz.analysis.unit_knockout import UnitEffects, knock_out_units
    from attnviz.base.message import Problem
    from attnviz.core import masks, measures, positions
    from attnviz.core.attention import attend
    from attnviz.core.cache import KVCache
    from attnviz.core.heads import HeadLayout
    from attnviz.core.modules import Attention
    from attnviz.core.rope import RoPE
    from attnviz.models.attribution.circuit import Ablation, Circuit, find_circuit
    from attnviz.models.attribution.head_circuits import Composition, HeadCircuits, composition_scores, head_circuits
    from attnviz.models.attribution.patching import (
        Effect,
        Patching,
        Site,
        activation_patching,
        attribution_patching,
    )
    from attnviz.models.attribution.path_patching import path_patching
    from attnviz.models.capture import (
        Cut,
        Edit,
        HeadMeasure,
        LogitAttribution,
        LogitLens,
        RecordedLayer,
        ScoreAttribution,
        Trace,
        ablate,
        attention_weight,
        capture,
        intervene,
        knockout,
        logit_diff,
        patch,
        remask,
        rescale,
        steer,
    )
    from attnviz.models.catalogue import LoadedModel
    from attnviz.models.loading import load
    from attnviz.notebook import HeadTable, NotebookView, TrainingWatch, cost_of_heads, find_heads, show, watch

    # for what reads types alone: with it, help(av) would print every method of every class
    __all__ = [
        "Ablation",
        "Attention",
        "Circuit",
        "Composition",
        "Costs",
        "Cut",
        "Edit",
        "Effect",
        "HeadCircuits",
        "HeadLayout",
        "HeadMeasure",
        "HeadTable",
        "KVCache",
        "LoadedModel",
        "LogitAttribution",
        "LogitLens",
        "NearestHeads",
        "NotebookView",
        "Patching",
        "Problem",
        "RecordedLayer",
        "RoPE",
        "Saturation",
        "ScoreAttribution",
        "Site",
        "Trace",
        "TrainingWatch",
        "UnitEffects",
        "ablate",
        "activation_patching",
        "attend",
        "attention_weight",
        "attribution_patching",
        "capture",
        "composition_scores",
        "cost_of_heads",
        "costs",
        "find_circuit",
        "find_heads",
        "head_circuits",
        "intervene",
        "knock_out_units",
        "knockout",
        "load",
        "logit_diff",
        "masks",
        "mean_outputs",
        "measures",
        "nearest_heads",
        "needle_in_haystack",
        "patch",
        "path_patching",
        "positions",
        "remask",
        "rescale",
        "saturation",
        "show",
        "steer",
        "watch",
    ]

__version__ = "0.1.0"

#: the public names by task and by the module that has them
TASKS: dict[str, dict[str, tuple[str, ...]]] = {
    "Attention by formula": {
        "attnviz.core.attention": ("attend",),
        "attnviz.core.heads": ("HeadLayout",),
        "attnviz.core.modules": ("Attention",),
        "attnviz.core.rope": ("RoPE",),
        "attnviz.core.cache": ("KVCache",),
        "attnviz.core": ("masks", "positions", "measures"),
    },
    "What scaling does, and what a model costs": {
        "attnviz.analysis.saturation": ("saturation", "Saturation"),
        "attnviz.analysis.model_costs": ("costs", "Costs"),
    },
    "A model's own attention": {
        "attnviz.models.loading": ("load",),
        "attnviz.models.catalogue": ("LoadedModel",),
        "attnviz.models.capture": ("capture", "Trace", "RecordedLayer", "HeadMeasure"),
        "attnviz.notebook": ("show", "NotebookView"),
    },
    "Change it": {
        "attnviz.models.capture": ("intervene", "Edit", "ablate", "knockout", "patch", "remask", "rescale", "steer"),
        "attnviz.analysis.heads.removal_costs": ("mean_outputs",),
        "attnviz.analysis.unit_knockout": ("knock_out_units", "UnitEffects"),
    },
    "Many sentences": {
        "attnviz.notebook": ("find_heads", "cost_of_heads", "HeadTable"),
        "attnviz.analysis.heads.nearest_heads": ("nearest_heads", "NearestHeads"),
        "attnviz.analysis.heads.needles": ("needle_in_haystack",),
    },
    "Why this token, and why this weight?": {
        "attnviz.models.capture": (
            "LogitAttribution", "LogitLens", "ScoreAttribution", "Cut", "logit_diff", "attention_weight",
        ),
        "attnviz.models.attribution.patching": (
            "attribution_patching", "activation_patching", "Patching", "Site", "Effect",
        ),
        "attnviz.models.attribution.path_patching": ("path_patching",),
        "attnviz.models.attribution.circuit": ("find_circuit", "Circuit", "Ablation"),
        "attnviz.models.attribution.head_circuits": (
            "head_circuits", "HeadCircuits", "composition_scores", "Composition",
        ),
    },
    "Training": {
        "attnviz.notebook": ("watch", "TrainingWatch"),
    },
    "Errors": {
        "attnviz.base.message": ("Problem",),
    },
}  # fmt: skip
_HOME = {name: module for modules in TASKS.values() for module, names in modules.items() for name in names}

#: names of the version before, and what they are called now
_OLD = {
    "Cell": ("attnviz.models.attribution.patching", "Site", "cell"),
    "exact_patching": ("attnviz.models.attribution.patching", "activation_patching", "activation_patching"),
    "silence": ("attnviz.models.capture", "ablate", "silence"),
}

#: what goes beyond torch and NumPy, and the extra that brings it
_NEEDS = {"load": "models"}


def __getattr__(name: str) -> Any:
    if name in _OLD:
        module, now, function = _OLD[name]
        warnings.warn(f"av.{name} is called av.{now} now", DeprecationWarning, stacklevel=2)
        return getattr(import_module(module), function)
    if name not in _HOME:
        close = get_close_matches(name, _HOME, 1)
        hint = f"did you mean {close[0]}?" if close else "help(av) lists the names by task"
        raise AttributeError(f"module 'attnviz' has no attribute {name!r}; {hint}")
    from attnviz.base.extras import explain_missing_extra, require_extra

    if name in _NEEDS:
        require_extra(_NEEDS[name], f"attnviz.{name}")
    with explain_missing_extra(f"attnviz.{name}"):
        if _HOME[name] == "attnviz.core":
            return import_module(f"attnviz.core.{name}")
        return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(_HOME)
