"""From a transformers config to the attention layers it describes: by the rules of its family, or measured."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from attnviz.base.message import Problem, require_whole
from attnviz.core.costs import Parameters, count_parameters, kv_elements
from attnviz.core.heads import HeadLayout
from attnviz.core.latent import LatentLayout
from attnviz.models.architecture.configs import LIMITS, FamilyRules, Flag
from attnviz.models.architecture.layer_spec import LayerKind, LayerSpec, recurrent_state_size
from attnviz.models.architecture.meta_device import MeasuredCache, measure_on_meta

_KINDS: dict[str, LayerKind] = {
    "full_attention": "full",
    "attention": "full",
    "sliding_attention": "window",
    "local": "window",
    "global": "full",
    "chunked_attention": "chunk",
    "linear_attention": "linear",
    "conv": "linear",
    "mamba": "linear",
    "hybrid": "hybrid",
}


class UnknownLayer(Problem):
    """The config names a kind of layer that no rule describes."""


def read(config: Any, family: FamilyRules) -> tuple[LayerSpec, ...]:
    """Every attention layer of the model: encoder first; in a decoder layer, self-attention before cross-attention."""
    return tuple(_SHAPES[family.shape](config, family))


def size_from_config(config: Any, name: str) -> int:
    """A size from the config; raises a Problem unless it is a whole number within its limits."""
    return require_whole(name, getattr(config, name, None), 1, LIMITS.get(name, 1 << 24))


def _flag(config: Any, flag: Flag) -> bool:
    return bool(getattr(config, flag, False)) if isinstance(flag, str) else flag


def _layout(config: Any, family: FamilyRules, heads: int | None = None) -> HeadLayout:
    heads = heads or size_from_config(config, "num_attention_heads")
    shared = size_from_config(config, "num_key_value_heads") if getattr(config, "num_key_value_heads", None) else heads
    kv_heads = shared if family.shares_heads else heads
    if getattr(config, "multi_query", None) is not None:  # Falcon, GPT-BigCode
        new = getattr(config, "new_decoder_architecture", False)
        kv_heads = size_from_config(config, "num_kv_heads") if new else 1 if config.multi_query else heads
    width = size_from_config(config, "head_dim") if getattr(config, "head_dim", None) else None
    if config.model_type in ("falcon", "esm", "phi", "stablelm", "opt"):
        width = None  # in these families head_dim is computed from other fields, or not used
    d_model = size_from_config(config, "hidden_size")
    if width is None and family.shape in ("decoder", "hybrid") and d_model >= heads:
        width = d_model // heads  # transformers also rounds down when heads do not divide d_model
    return HeadLayout(d_model, heads, kv_heads, width)


def _count(config: Any, family: FamilyRules, layout: HeadLayout, **more: Any) -> Parameters:
    """Attention parameters of one layer, with the family's additions to the standard projections."""
    standard = count_parameters(
        layout,
        qkv_bias=_flag(config, family.qkv_bias),
        out_bias=_flag(config, family.out_bias),
        qk_norm=family.qk_norm if _flag(config, family.qk_norm_flag) else None,
        sinks=_flag(config, family.sinks),
        gated=_flag(config, family.gated),
        **more,
    )
    return replace(
        standard,
        biases=standard.biases - (0 if family.key_bias else layout.kv_heads * layout.qk_width),
        norms=standard.norms + (layout.n_heads * layout.v_width if family.sub_norm else 0),
        other=standard.other + family.extra_per_width * layout.qk_width,
    )


def _layer(index: int, kind: LayerKind, layout: HeadLayout, count: Parameters, **more: Any) -> LayerSpec:
    """A layer of a decoder that looks at itself and caches its keys and values, unless `more` says otherwise."""
    return LayerSpec(
        index,
        kind=kind,
        d_model=layout.d_model,
        n_heads=layout.n_heads,
        n_kv_heads=layout.kv_heads,
        d_head=layout.qk_width,
        d_value=layout.v_width,
        parameters=count,
        **{"stack": "decoder", "role": "self", "cached": kv_elements(layout), **more},
    )


def _kinds(config: Any, n: int) -> list[tuple[LayerKind, int | None]]:
    """Kind and window (in tokens, or None) of each of `n` layers, as transformers assigns them."""
    types = getattr(config, "layer_types", None) or getattr(config, "attention_layers", None)
    if types is None:
        slides, chunks = (getattr(config, field, None) for field in ("sliding_window", "attention_chunk_size"))
        types = ["sliding_attention" if slides else "chunked_attention" if chunks else "full_attention"] * n
    windows = {"window": ("sliding_window", "local_attention", "window_size"), "chunk": ("attention_chunk_size",)}
    kinds: list[tuple[LayerKind, int | None]] = []
    for name in types[:n]:
        kind = _KINDS.get(name)
        if kind is None:
            raise UnknownLayer("layer type {name} is not supported", name=repr(name))
        lengths = (getattr(config, field, None) for field in windows.get(kind, ()))
        kinds.append((kind, next((int(w) for w in lengths if w), None)))
    return kinds


def _decoder(config: Any, family: FamilyRules) -> Iterator[LayerSpec]:
    layout = _layout(config, family)
    count = _count(config, family, layout)
    slides = getattr(config, "attention_layers", None) is None  # GPT-Neo's local layers still cache every token
    repeats = getattr(config, "new_decoder_architecture", False)  # Falcon 40B caches keys once per query head
    transformers_cached = None if family.cache and not repeats else 2 * layout.n_heads * layout.qk_width * family.cache
    for i, (kind, window) in enumerate(_kinds(config, size_from_config(config, "num_hidden_layers"))):
        yield _layer(i, kind, layout, count, window=window, slides=slides, transformers_cached=transformers_cached)
        if config.model_type == "gpt2" and config.add_cross_attention:
            yield _layer(i, "full", layout, count, role="cross")


def _encoder(config: Any, family: FamilyRules) -> Iterator[LayerSpec]:
    layout = _layout(config, family)
    count = _count(config, family, layout)
    n = size_from_config(config, "num_hidden_layers")
    with_own = getattr(config, "num_hidden_groups", n)  # ALBERT runs one layer's weights many times
    more: dict[str, Any] = {} if getattr(config, "is_decoder", False) else {"cached": 0, "stack": "encoder"}
    for i, (kind, window) in enumerate(_kinds(config, n)):
        yield _layer(i, kind, layout, count if i < with_own else Parameters(), window=window, **more)


def _latent(config: Any, family: FamilyRules) -> Iterator[LayerSpec]:
    rank = config.q_lora_rank
    mla = LatentLayout(
        size_from_config(config, "hidden_size"),
        size_from_config(config, "num_attention_heads"),
        rank,
        size_from_config(config, "kv_lora_rank"),
        config.qk_nope_head_dim,
        config.qk_rope_head_dim,
        size_from_config(config, "v_head_dim"),
    )
    count = mla.parameters
    if getattr(config, "attention_bias", False):
        count = replace(count, biases=(rank or 0) + mla.kv_rank + mla.d_rope + mla.d_model)
    for i in range(size_from_config(config, "num_hidden_layers")):
        yield _layer(i, "latent", mla.expanded, count, cached=mla.elements(), compressed=mla)


def _hybrid(config: Any, family: FamilyRules) -> Iterator[LayerSpec]:
    """Layers of families in which layers differ in more than their window."""
    n = size_from_config(config, "num_hidden_layers")
    sharing = getattr(config, "kv_sharing_modes", None) or [None] * n
    layer_configs = getattr(config, "per_layer_config", None) or [config] * n
    for i, ((kind, window), mode, layer_config) in enumerate(
        zip(_kinds(config, n), sharing, layer_configs, strict=True)
    ):
        fixed, fixed_float32 = recurrent_state_size(config) if kind in ("linear", "hybrid") else (0, 0)
        state: dict[str, Any] = {"fixed": fixed, "fixed_float32": fixed_float32}
        if kind == "linear":
            yield LayerSpec(i, "decoder", "self", kind, size_from_config(config, "hidden_size"), **state)
            continue
        layout = _layout(layer_config, family)
        count = _count(config, family, layout, own_kv=mode != "reuse")
        if mode == "reuse":
            yield _layer(i, "shared", layout, count, cached=0, window=window)
            continue
        if getattr(config, "attention_k_eq_v", False) and kind == "full":
            count = replace(count, w_v=0)  # Gemma 4: the values are the keys
        yield _layer(i, kind, layout, count, window=window, **state)


def _encoder_decoder(config: Any, family: FamilyRules) -> Iterator[LayerSpec]:
    reading = _layout(config, family, size_from_config(config, "encoder_attention_heads"))
    for i in range(size_from_config(config, "encoder_layers")):
        yield _layer(i, "full", reading, _count(config, family, reading), cached=0, stack="encoder")
    writing = _layout(config, family, size_from_config(config, "decoder_attention_heads"))
    for i in range(size_from_config(config, "decoder_layers")):
        for role in ("self", "cross"):
            yield _layer(i, "full", writing, _count(config, family, writing), role=role)


def _t5(config: Any, family: FamilyRules) -> Iterator[LayerSpec]:
    """Layers of T5 and UMT5. T5 has one table of position biases per stack, in its first layer; UMT5 one per layer."""
    layout = HeadLayout(
        size_from_config(config, "d_model"),
        size_from_config(config, "num_heads"),
        d_head=size_from_config(config, "d_kv"),
    )
    plain = _count(config, family, layout)
    table = replace(
        plain, other=plain.other + size_from_config(config, "relative_attention_num_buckets") * layout.n_heads
    )
    every = config.model_type == "umt5"
    for i in range(size_from_config(config, "num_layers")):
        yield _layer(i, "full", layout, table if every or i == 0 else plain, cached=0, stack="encoder")
    for i in range(config.num_decoder_layers or config.num_layers):
        yield _layer(i, "full", layout, table if every or i == 0 else plain)
        yield _layer(i, "full", layout, plain, role="cross")


_SHAPES: dict[str, Callable[[Any, FamilyRules], Iterator[LayerSpec]]] = {
    "decoder": _decoder,
    "encoder": _encoder,
    "encoder-decoder": _encoder_decoder,
    "hybrid": _hybrid,
    "latent": _latent,
    "t5": _t5,
}


SHORT, LONG = 8, 16  #: tokens of the two texts that a family without rules is measured with


def layers_from_measurement(config: Any) -> tuple[LayerSpec, ...]:
    """One layer per attention module, and one per cache layer; heads cannot be measured, so their numbers are 0."""
    try:
        short, long = measure_on_meta(config, SHORT), measure_on_meta(config, LONG)
    except Exception as error:
        raise Problem(
            "There are no rules for model_type={model_type}, and its model cannot be built to measure it: {reason}",
            model_type=config.model_type,
            reason=(str(error).strip() or type(error).__name__).splitlines()[0],
        ) from error
    if long.failure:
        raise Problem(
            "There are no rules for model_type={model_type}, and measuring its model failed: {reason}",
            model_type=config.model_type,
            reason=str(long.failure),
        )
    width = int(getattr(config, "hidden_size", 0) or 0)
    modules = [
        LayerSpec(i, "decoder", "self", "none", width, parameters=Parameters(other=count))
        for i, count in enumerate(long.modules)
    ]
    return (*modules, *[_cache_layer(a, b, width) for a, b in zip(short.cache, long.cache, strict=True)])


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
