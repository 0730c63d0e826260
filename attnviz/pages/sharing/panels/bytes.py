"""Bytes of keys and values over context, batch and K/V heads, and layer by layer."""

import streamlit as st

from attnviz.app import show, widgets
from attnviz.app.text import plain
from attnviz.base import units
from attnviz.base.largest import find_largest
from attnviz.base.words import _, ngettext, sentences
from attnviz.figures import cost_charts
from attnviz.models.architecture import Architecture, divisors, has_heads, named, shared_otherwise, ways
from attnviz.pages.sharing import choices, figures
from attnviz.runs.head_sharing import Result

POWERS = [2**i for i in range(4, 21)]


def held(arch: Architecture, context: int, batch: int) -> int:
    """Bytes of the whole cache, ideal at 16 bits; an encoder beside the decoder reads what it reads for this text."""
    return arch.kv_cache_bytes(context, batch, encoder_tokens=arch.encoder_tokens(context))


def over(arch: Architecture, context: int, batch: int) -> None:
    st.subheader(_("Bytes of keys and values"), anchor=False)
    axis = widgets.one_of(
        choices.AXIS,
        _("Over"),
        {"context": _("over context"), "batch": _("over batch"), "heads": _("over K/V heads")},
        label_visibility="collapsed",
    )
    if axis == "heads":
        over_heads(arch, context, batch)
        return
    if axis == "context":
        title, places = _("tokens of context"), {n: (n, batch) for n in POWERS}
    else:
        title, places = _("sequences"), {n: (context, n) for n in (2**i for i in range(13))}
    lines = {name: [held(way, *place) for place in places.values()] for name, way in ways(arch).items()}
    if not any(map(any, lines.values())):
        st.info(_("An encoder reads everything at once: it keeps no cache."))
        return
    x, here = list(places), context if axis == "context" else batch
    name, values = next(iter(lines.items()))
    show.figure(
        show.chart_of(
            cost_charts.over,
            x,
            lines,
            title,
            _("bytes"),
            here=here,
            limits={f"{gib} GiB": gib * 2**30 for gib in (24, 80)},
            text=units.binary,
            ticks=cost_charts.BYTES,
        ),
        name=f"kv-bytes-{axis}-{arch.name}",
        key="h-bytes",
        words=_(
            "Ideal, at 16 bits: {name} keeps {bytes} for your context and batch. At the right end of the "
            "axis its cache reaches {top}."
        ).format(name=plain(name), bytes=units.both(held(arch, context, batch)), top=units.binary(values[-1])),
        table={title: x, **lines},
    )


def over_heads(arch: Architecture, context: int, batch: int) -> None:
    heads = [layer for layer in arch.layers if has_heads(layer) and layer.stack == "decoder"]
    if not heads:
        st.info(_("An encoder reads everything at once: it keeps no cache."))
        return
    counts = divisors(heads)
    values = [held(shared_otherwise(arch, g), context, batch) for g in counts]
    own = None if heads[0].compressed else heads[0].n_kv_heads
    # what a head adds: beside its heads a model may keep a state that is there anyway
    each = values[0] if len(counts) == 1 else (values[1] - values[0]) // (counts[1] - counts[0])
    show.figure(
        show.chart_of(
            figures.bars,
            [named(heads[0].n_heads, g) for g in counts],
            values,
            _("bytes"),
            counts.index(own) if own in counts else None,
            [units.binary(value) for value in values],
        ),
        name=f"kv-bytes-heads-{arch.name}",
        key="h-over-heads",
        words=_("Each K/V head costs {bytes} for this context and batch.").format(bytes=units.both(each)),
        table={"K/V heads": counts, "bytes": values},
    )


def by_layer(arch: Architecture, context: int, batch: int) -> None:
    """Draw the bytes of each layer, for models whose layers are not all alike."""
    layers, held = zip(*arch.bytes_by_layer(context, batch, encoder_tokens=arch.encoder_tokens(context)), strict=True)
    kinds = [layer.kind for layer in layers]
    if len(set(kinds)) < 2 and len(set(held)) < 2:
        return
    st.subheader(_("Layer by layer"), anchor=False)
    largest, most = find_largest(held), max(held)
    own, top = sum(bool(layer.cached) for layer in layers), held.count(most)
    if len({(layer.stack, layer.role) for layer in layers}) == 1:
        labels = [str(layer.index) for layer in layers]
        text, keeps = (
            _("{n} of {all} layers keep keys and values of their own."),
            _("Layer {layer} keeps most, {bytes}."),
        )
    else:
        labels = [f"{layer.stack} {layer.role} {layer.index}" for layer in layers]
        text = _("{n} of {all} attentions keep keys and values of their own, and a decoder layer has two of them.")
        keeps = _("Most is kept by {layer}: {bytes}.")
    if not largest.alone:
        keeps = _("Each keeps {bytes}.") if top == own else _("{n} of them keep most, {bytes} each.")
    names = {
        "full": _("full attention"),
        "window": _("sliding window"),
        "chunk": _("chunks"),
        "latent": _("latents (MLA)"),
        "hybrid": _("attention and a state"),
        "linear": _("a state of fixed size"),
        "shared": _("another layer’s keys"),
        "none": _("measured"),
    }
    show.figure(
        show.chart_of(figures.strip, held, kinds, labels, names),
        name=f"kv-bytes-by-layer-{arch.name}",
        key="h-strip",
        words=sentences(
            text.format(n=own, all=len(layers)),
            keeps.format(n=top, layer=labels[largest.index], bytes=units.both(most)),
        ),
        table={
            "layer": labels,
            "kind": kinds,
            "window": [layer.window for layer in layers],
            "query heads": [layer.n_heads for layer in layers],
            "K/V heads": [layer.n_kv_heads for layer in layers],
            "parameters": [layer.parameters.total for layer in layers],
            "bytes": held,
        },
    )


def parameters_by_matrix(arch: Architecture) -> dict[str, int]:
    """Parameters of the whole model's attention, by matrix."""
    count = arch.parameters()
    matrices = {name: getattr(count, name) for name in ("w_q", "w_k", "w_v", "w_o", "w_down")}
    return matrices | {"rest": count.biases + count.norms + count.other}


def saved(result: Result, encoder: bool) -> str:
    """What the chosen number of K/V heads does to the layer; an encoder has keys and values, and keeps none."""
    point, g = result.point, result.config.n_kv_heads
    if g > result.trained_kv_heads:
        text = _(
            "With {g} K/V heads, each trained one copied {times} times, keys and values take {times} times the bytes "
            "({bytes} for this sentence) and the layer’s output changes by {moved:.0%}: every query head reads what it "
            "read before."
        )
    elif encoder:
        text = ngettext(
            "With {g} K/V head the keys and values of this sentence take {kept:.0%} of the bytes they took ({bytes}) "
            "while the layer runs, for an encoder keeps no cache; its output changes by {moved:.0%} of its length, "
            "before any further training.",
            "With {g} K/V heads the keys and values of this sentence take {kept:.0%} of the bytes they took ({bytes}) "
            "while the layer runs, for an encoder keeps no cache; its output changes by {moved:.0%} of its length, "
            "before any further training.",
            g,
        )
    else:
        text = ngettext(
            "With {g} K/V head the layer keeps {kept:.0%} of its cache ({bytes} for this sentence) and its output "
            "changes by {moved:.0%} of its length, before any further training.",
            "With {g} K/V heads the layer keeps {kept:.0%} of its cache ({bytes} for this sentence) and its output "
            "changes by {moved:.0%} of its length, before any further training.",
            g,
        )
    return text.format(
        g=g,
        times=g // result.trained_kv_heads,
        kept=point.cache_bytes / result.trained.cache_bytes,
        bytes=units.both(point.cache_bytes),
        moved=point.moved,
    )
