"""Bytes of keys and values over context, batch and K/V heads, and layer by layer."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from attnviz.app import show
from attnviz.app.cache.kept_charts import chart_of
from attnviz.app.text import plain
from attnviz.app.widgets import one_of
from attnviz.base.units import binary, both
from attnviz.base.words import _, ngettext
from attnviz.core.costs import Activations, activations
from attnviz.models.architecture import Architecture, as_latent, has_heads, shared_otherwise
from attnviz.pages.sharing import choices
from attnviz.pages.sharing.figures import costs as figures
from attnviz.runs.head_sharing import Result

POWERS = [2**i for i in range(4, 21)]


def held(arch: Architecture, context: int, batch: int) -> int:
    """Bytes of the whole cache, ideal at 16 bits; an encoder beside the decoder reads what it reads for this text."""
    return arch.kv_cache_bytes(context, batch, encoder_tokens=arch.encoder_tokens(context))


def over(arch: Architecture, context: int, batch: int) -> None:
    st.subheader(_("Bytes of keys and values"), anchor=False)
    axes = {"context": _("over context"), "batch": _("over batch"), "heads": _("over K/V heads")}
    axis = one_of(choices.AXIS, _("Over"), axes, label_visibility="collapsed")
    if axis == "heads":
        return over_heads(arch, context, batch)
    if axis == "context":
        x, title, here = POWERS, _("tokens of context"), context
        lines = {name: [held(way, t, batch) for t in x] for name, way in ways(arch).items()}
    else:
        x, title, here = [2**i for i in range(13)], _("sequences"), batch
        lines = {name: [held(way, context, b) for b in x] for name, way in ways(arch).items()}
    if not any(any(line) for line in lines.values()):
        st.info(_("An encoder reads everything at once: it keeps no cache."))
        return None
    name, values = next(iter(lines.items()))
    budgets = {f"{gib} GiB": gib * 2**30 for gib in (24, 80)}
    show.figure(
        chart_of(figures.over, x, lines, title, _("bytes"), here=here, limits=budgets, said=binary, binary=True),
        name=f"kv-bytes-{axis}-{arch.name}",
        key="h-bytes",
        words=_(
            "Ideal, at 16 bits: {name} keeps {bytes} for your context and batch. At the right end of the "
            "axis its cache reaches {top}."
        ).format(name=plain(name), bytes=both(held(arch, context, batch)), top=binary(values[-1])),
        table={title: x, **lines},
    )
    return None


def over_heads(arch: Architecture, context: int, batch: int) -> None:
    heads = [layer for layer in arch.layers if has_heads(layer) and layer.stack == "decoder"]
    if not heads:
        st.info(_("An encoder reads everything at once: it keeps no cache."))
        return
    counts = [g for g in range(1, heads[0].n_heads + 1) if all(layer.n_heads % g == 0 for layer in heads)]
    values = [held(shared_otherwise(arch, g), context, batch) for g in counts]
    own = None if heads[0].latent else heads[0].n_kv_heads
    # what a head adds: beside its heads a model may keep a state that is there anyway
    each = values[0] if len(counts) == 1 else (values[1] - values[0]) // (counts[1] - counts[0])
    show.figure(
        chart_of(
            figures.bars,
            [named(heads[0].n_heads, g) for g in counts],
            values,
            _("bytes"),
            counts.index(own) if own in counts else None,
            [binary(value) for value in values],
        ),
        name=f"kv-bytes-heads-{arch.name}",
        key="h-over-heads",
        words=_("Each K/V head costs {bytes} for this context and batch.").format(bytes=both(each)),
        table={"K/V heads": counts, "bytes": values},
    )


def kind_names() -> dict[str, str]:
    return {
        "full": _("full attention"),
        "window": _("sliding window"),
        "chunk": _("chunks"),
        "latent": _("latents (MLA)"),
        "hybrid": _("attention and a state"),
        "linear": _("a state of fixed size"),
        "shared": _("another layer’s keys"),
        "none": _("measured"),
    }


def layers(arch: Architecture, context: int, batch: int) -> None:
    """Draw the bytes of each layer, for models whose layers are not all alike."""
    rows = list(arch.bytes_by_layer(context, batch, encoder_tokens=arch.encoder_tokens(context)))
    kinds = [layer.kind for layer, _held in rows]
    if len(set(kinds)) < 2 and len({held for _layer, held in rows}) < 2:
        return
    st.subheader(_("Layer by layer"), anchor=False)
    one_stack = len({(layer.stack, layer.role) for layer, _held in rows}) == 1
    labels = [str(la.index) if one_stack else f"{la.stack} {la.role} {la.index}" for la, _held in rows]
    held = [held for _layer, held in rows]
    most = max(range(len(held)), key=held.__getitem__)
    if one_stack:
        said = _("{n} of {all} layers keep keys and values of their own; layer {layer} keeps most, {bytes}.")
    else:
        said = _(
            "{n} of {all} attentions keep keys and values of their own, and a decoder layer has two of them; {layer} "
            "keeps most, {bytes}."
        )
    show.figure(
        chart_of(figures.strip, held, kinds, labels, kind_names()),
        name=f"kv-bytes-by-layer-{arch.name}",
        key="h-strip",
        words=said.format(
            n=sum(1 for layer, _held in rows if layer.cached), all=len(rows), layer=labels[most], bytes=both(held[most])
        ),
        table={
            "layer": labels,
            "kind": kinds,
            "window": [layer.window for layer, _held in rows],
            "query heads": [layer.n_heads for layer, _held in rows],
            "K/V heads": [layer.n_kv_heads for layer, _held in rows],
            "parameters": [layer.parameters.total for layer, _held in rows],
            "bytes": held,
        },
    )


# One architecture with its heads shared as MHA, GQA, MQA and MLA, and what each variant costs.
@dataclass(frozen=True)
class Bill:
    """What one way of sharing costs, in FLOPs and bytes of the whole model's attention."""

    name: str
    arch: Architecture
    parameters: dict[str, int]  #: by matrix
    prefill: int  #: FLOPs, every pair computed
    prefill_causal: int  #: FLOPs of a kernel that skips what the mask hides
    decode: int
    intensity: float | None  #: FLOPs of decode attention per byte of cache read, 16 bit
    eager: Activations | None  #: of one layer, counted in numbers, not bytes
    fused: Activations | None
    per_token: int  #: bytes that one more token adds, 16 bit, while no window is full


def ways(arch: Architecture) -> dict[str, Architecture]:
    """By name: the architecture itself, then the same with other numbers of K/V heads, and with MLA."""
    heads = [layer for layer in arch.layers if has_heads(layer)]
    if not heads:
        return {_as_is(arch): arch}
    found = {_as_is(arch): arch}
    own = None if heads[0].latent else heads[0].n_kv_heads
    common = [g for g in range(1, heads[0].n_heads + 1) if all(layer.n_heads % g == 0 for layer in heads)]
    most = heads[0].n_heads
    for g in sorted({most, 8, 1} & set(common), reverse=True):
        if g != own:
            found[_kind(most, g)] = shared_otherwise(arch, g)
    if not any(layer.latent for layer in heads) and all(layer.stack == "decoder" for layer in heads):
        found["MLA 512 + 64"] = as_latent(arch)
    return found


def kind_of(heads: int, kv_heads: int) -> str:
    """What people call this sharing of heads."""
    return "MHA" if kv_heads == heads else "MQA" if kv_heads == 1 else "GQA"


def named(heads: int, kv_heads: int) -> str:
    """The kind of sharing and its number of K/V heads: "GQA 3"."""
    return f"{kind_of(heads, kv_heads)} {kv_heads}"


def _kind(heads: int, kv_heads: int) -> str:
    kind = kind_of(heads, kv_heads)
    return kind if kind == "MQA" else f"{kind}-{kv_heads}"


def _as_is(arch: Architecture) -> str:
    layer = next((layer for layer in arch.layers if has_heads(layer)), None)
    kind = "" if layer is None else "MLA" if layer.latent else _kind(layer.n_heads, layer.n_kv_heads)
    return f"{arch.name} ({kind})" if kind else arch.name


@st.cache_resource(max_entries=128, show_spinner=False, hash_funcs={Architecture: hash})
def bills(arch: Architecture, context: int, batch: int) -> list[Bill]:
    """The bill of every way of sharing, for a prompt of `context` tokens."""
    return [_bill(name, way, context, batch) for name, way in ways(arch).items()]


def _bill(name: str, arch: Architecture, context: int, batch: int) -> Bill:
    count = arch.parameters()
    parts = {part: getattr(count, part) for part in ("w_q", "w_k", "w_v", "w_o", "w_down")}
    parts["rest"] = count.biases + count.norms + count.other
    heard = arch.encoder_tokens(context)
    step = arch.decode_flops(context, encoder_tokens=heard)
    read = arch.kv_cache_bytes(context, encoder_tokens=heard)
    layer = next((layer for layer in arch.layers if has_heads(layer)), None)
    return Bill(
        name,
        arch,
        parts,
        batch * arch.prefill_flops(context, encoder_tokens=heard or None).total,
        batch * arch.prefill_flops(context, causal=True, encoder_tokens=heard or None).total,
        batch * step.total,
        (step.scores + step.values) / read if read else None,
        None if layer is None else activations(layer.layout, context, batch),
        None if layer is None else activations(layer.layout, context, batch, "fused"),
        arch.kv_cache_bytes(1),
    )


def part_titles() -> dict[str, str]:
    return {
        "w_q": "W_Q",
        "w_k": "W_K",
        "w_v": "W_V",
        "w_o": "W_O",
        "w_down": _("down to latents"),
        "rest": _("biases, norms, sinks"),
    }


def saved(result: Result, encoder: bool) -> str:
    """What the chosen number of K/V heads does to the layer; an encoder has keys and values, and keeps none."""
    point, g = result.point, result.config.n_kv_heads
    if g > result.trained_kv_heads:
        said = _(
            "With {g} K/V heads, each trained one copied {times} times, keys and values take {times} times the bytes "
            "({bytes} for this sentence) and the layer’s output changes by {moved:.0%}: every query head reads what it "
            "read before."
        )
    elif encoder:
        said = ngettext(
            "With {g} K/V head the keys and values of this sentence take {kept:.0%} of the bytes they took ({bytes}) "
            "while the layer runs, for an encoder keeps no cache; its output changes by {moved:.0%} of its length, "
            "before any further training.",
            "With {g} K/V heads the keys and values of this sentence take {kept:.0%} of the bytes they took ({bytes}) "
            "while the layer runs, for an encoder keeps no cache; its output changes by {moved:.0%} of its length, "
            "before any further training.",
            g,
        )
    else:
        said = ngettext(
            "With {g} K/V head the layer keeps {kept:.0%} of its cache ({bytes} for this sentence) and its output "
            "changes by {moved:.0%} of its length, before any further training.",
            "With {g} K/V heads the layer keeps {kept:.0%} of its cache ({bytes} for this sentence) and its output "
            "changes by {moved:.0%} of its length, before any further training.",
            g,
        )
    return said.format(
        g=g,
        times=g // result.trained_kv_heads,
        kept=point.cache_bytes / result.trained.cache_bytes,
        bytes=both(point.cache_bytes),
        moved=point.moved,
    )
