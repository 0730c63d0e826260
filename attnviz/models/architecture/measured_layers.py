"""Layers of a model whose family has no rules here, measured by running the model on the meta device."""

from __future__ import annotations

from typing import Any

from attnviz.base.message import Problem
from attnviz.core.costs import Parameters
from attnviz.models.architecture.layer_spec import LayerKind, LayerSpec
from attnviz.models.architecture.meta_device import MeasuredCache, measure_on_meta

SHORT, LONG = 8, 16


def measured_layers(config: Any) -> tuple[LayerSpec, ...]:
    """One layer per attention module, and one per cache layer; heads cannot be measured, so their numbers are 0."""
    try:
        short, long = measure_on_meta(config, SHORT), measure_on_meta(config, LONG)
    except Exception as error:
        raise Problem(
            "There are no rules for model_type={model_type}, and its model cannot be built to measure it: {reason}",
            model_type=config.model_type,
            reason=str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__,
        ) from error
    if long.failure:
        raise Problem(
            "There are no rules for model_type={model_type}, and measuring its model failed: {reason}",
            model_type=config.model_type,
            reason=str(long.failure),
        )
    width = int(getattr(config, "hidden_size", 0) or 0)
    modules = [
        LayerSpec(i, "decoder", "self", "none", width, parameters=Parameters(other=module.parameters))
        for i, module in enumerate(long.modules)
    ]
    caches = [_cache_layer(a, b, width) for a, b in zip(short.cache, long.cache, strict=True)]
    return (*modules, *caches)


def _cache_layer(short: MeasuredCache, long: MeasuredCache, width: int) -> LayerSpec:
    """A layer from its cache after a short and a long text: numbers per token, and numbers of fixed size.

    `width` is the model width M.
    """
    elements = (long.elements - short.elements) // (LONG - SHORT)
    per_token = (long.nbytes - short.nbytes) // (LONG - SHORT) // 2  # in 16-bit numbers: some indices are float32
    fixed = long.elements - elements * LONG
    kind: LayerKind = "linear" if not per_token else "window" if long.window else "full"
    wide = long.nbytes - 2 * per_token * LONG - 2 * fixed  # a float32 number takes two bytes more than a 16-bit one
    return LayerSpec(
        long.index,
        "decoder",
        "cross" if long.role == "cross" else "self",
        kind,
        width,
        window=long.window,
        cached=per_token,
        fixed=fixed - min(fixed, wide // 2),
        fixed_float32=min(fixed, wide // 2),
    )
