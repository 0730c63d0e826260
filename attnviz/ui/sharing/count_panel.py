"""Count it: parameters, FLOPs and bytes of every way of sharing, and of every published model."""

from __future__ import annotations

from typing import Any

import streamlit as st

from attnviz.figures import sharing_costs as figures
from attnviz.models.architecture import Architecture
from attnviz.models.layers import CONVENTIONS
from attnviz.models.own_shape import has_heads
from attnviz.models.published import presets
from attnviz.ui import show
from attnviz.ui.controls import choice
from attnviz.ui.guard import guard
from attnviz.ui.sharing import code
from attnviz.ui.sharing.choose import Chosen, choose, number
from attnviz.ui.sharing.tables import Table, columns, tabled
from attnviz.ui.sharing.units import binary, both, decimal, flop, many
from attnviz.ui.sharing.variants import Bill, bills, part_titles, ways
from attnviz.ui.text import plain
from attnviz.words import _

POWERS = [2**i for i in range(4, 21)]
MOST_CONTEXT = 1 << 27


@st.fragment
def panel() -> None:
    with guard():
        _panel()


def _panel() -> None:
    chosen = choose()
    left, right, rest = st.columns([1, 1, 2])
    with left:
        context = number(_("Tokens of context"), "h_context", 8192, MOST_CONTEXT)
    with right:
        batch = number(_("Batch"), "h_batch", 1, 1 << 16)
    with rest:
        _source(chosen)
    _headline(chosen, context, batch)
    found = bills(chosen.arch, context, batch)
    _parameters(found)
    _bytes_over(chosen.arch, context, batch)
    _layers(chosen.arch, context, batch)
    _table(found, batch)
    _everyone(context)
    code.counting(chosen.arch, context)


def _source(chosen: Chosen) -> None:
    if chosen.preset is None:
        return
    said = _("Source: {source}.").format(source=plain(chosen.preset.source))
    if chosen.preset.verified != "yes":
        said = "⚠️ " + said
    if chosen.preset.note:
        said += " " + plain(chosen.preset.note)
    st.caption(said)


def _headline(chosen: Chosen, context: int, batch: int) -> None:
    """Three numbers, never one."""
    arch = chosen.arch
    one, two, three, four = st.columns(4)
    attention = arch.attention_parameters()
    one.metric(
        _("Attention parameters"),
        many(attention),
        help=_("{n} of {all} in the whole model").format(n=f"{attention:,}", all=f"{chosen.total:,}"),
    )
    words = {
        "ideal": (_("Ideal cache"), _("The formula: what must be kept.")),
        "transformers": (
            _("transformers holds"),
            _("DynamicCache made from the config. After a prompt read in one go, a window is a view on storage that "
              "still holds the whole prompt."),
        ),
        "paged": (
            _("A paged server allocates"),
            _("Whole blocks of 16 tokens; a window also holds a chunk of 2,048 tokens being read."),
        ),
    }  # fmt: skip
    for column, convention in zip((two, three, four), CONVENTIONS, strict=True):
        title, help_ = words[convention]
        held = arch.kv_cache_bytes(context, batch, convention=convention, encoder_tokens=context)
        column.metric(title, binary(held), help=help_)
        column.caption(f"{decimal(held)} = {held:,} B" if held >= 1000 else f"{held} B")


def _parameters(found: list[Bill]) -> None:
    st.subheader(_("Parameters"), anchor=False)
    titles = part_titles()
    first, last = found[0], found[-1]
    show.figure(
        figures.stacked(
            [bill.name for bill in found],
            {part: [bill.parameters[part] for bill in found] for part in titles},
            titles,
        ),
        name=f"attention-parameters-{first.arch.name}",
        key="h-parameters",
        words=_("{name}: {n} in attention, of these {kv} in $W_K$ and $W_V$.").format(
            name=plain(first.name),
            n=many(sum(first.parameters.values())),
            kv=many(first.parameters["w_k"] + first.parameters["w_v"]),
        ),
        table={
            "sharing": [bill.name for bill in found],
            **{titles[part]: [bill.parameters[part] for bill in found] for part in titles},
        }
        if last
        else None,
    )


def _bytes_over(arch: Architecture, context: int, batch: int) -> None:
    st.subheader(_("Bytes of keys and values"), anchor=False)
    axes = {"context": _("over context"), "batch": _("over batch"), "heads": _("over K/V heads")}
    axis = choice(_("Over"), axes, "h_axis", label_visibility="collapsed")
    if axis == "heads":
        return _over_heads(arch, context, batch)
    if axis == "context":
        x, title, here = POWERS, _("tokens of context"), context
        lines = {name: [way.kv_cache_bytes(t, batch) for t in x] for name, way in ways(arch).items()}
    else:
        x, title, here = [2**i for i in range(13)], _("sequences"), batch
        lines = {name: [way.kv_cache_bytes(context) * b for b in x] for name, way in ways(arch).items()}
    if not any(any(line) for line in lines.values()):
        st.info(_("An encoder reads everything at once: it keeps no cache."))
        return None
    name, values = next(iter(lines.items()))
    budgets = {f"{gib} GiB": gib * 2**30 for gib in (24, 80)}
    show.figure(
        figures.over(x, lines, title, _("bytes"), here=here, limits=budgets, binary=True),
        name=f"kv-bytes-{axis}-{arch.name}",
        key="h-bytes",
        words=_("Ideal, at 16 bits: {name} keeps {bytes} here. Its cache reaches {top} at the right end.").format(
            name=plain(name), bytes=both(arch.kv_cache_bytes(context, batch)), top=binary(values[-1])
        ),
        table={title: x, **lines},
    )
    return None


def _over_heads(arch: Architecture, context: int, batch: int) -> None:
    heads = [layer for layer in arch.layers if has_heads(layer)]
    if not heads or any(layer.stack == "encoder" for layer in heads):
        st.info(_("An encoder reads everything at once: it keeps no cache."))
        return
    from attnviz.models.own_shape import shared_otherwise

    counts = [g for g in range(1, heads[0].n_heads + 1) if all(layer.n_heads % g == 0 for layer in heads)]
    values = [shared_otherwise(arch, g).kv_cache_bytes(context, batch) for g in counts]
    own = None if heads[0].latent else heads[0].n_kv_heads
    show.figure(
        figures.bars([str(g) for g in counts], values, _("bytes"), counts.index(own) if own in counts else None),
        name=f"kv-bytes-heads-{arch.name}",
        key="h-over-heads",
        words=_("Each K/V head costs {bytes} for this context and batch.").format(bytes=both(values[0])),
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


def _layers(arch: Architecture, context: int, batch: int) -> None:
    """Bytes by layer, for models whose layers are not all alike."""
    rows = list(arch.bytes_by_layer(context, batch, encoder_tokens=context))
    kinds = [layer.kind for layer, _held in rows]
    if len(set(kinds)) < 2 and len({held for _layer, held in rows}) < 2:
        return
    st.subheader(_("Layer by layer"), anchor=False)
    one_stack = len({(layer.stack, layer.role) for layer, _held in rows}) == 1
    labels = [str(la.index) if one_stack else f"{la.stack} {la.role} {la.index}" for la, _held in rows]
    held = [held for _layer, held in rows]
    most = max(range(len(held)), key=held.__getitem__)
    show.figure(
        figures.strip(held, kinds, labels, kind_names()),
        name=f"kv-bytes-by-layer-{arch.name}",
        key="h-strip",
        words=_("{n} of {all} layers keep keys and values of their own; layer {layer} keeps most, {bytes}.").format(
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


def _table(found: list[Bill], batch: int) -> None:
    st.subheader(_("The whole bill"), anchor=False)
    table = columns([_row(bill) for bill in found])
    tabled(table, "attention-costs", "h-bill")
    st.caption(
        _(
            "Prefill: every pair computed, as eager attention does; causal: only what the mask leaves. One layer’s "
            "activations at 16 bits. FLOP per byte: decode attention against the cache it reads; MLA decodes absorbed."
        )
    )


def _row(bill: Bill) -> dict[str, Any]:
    return {
        _("sharing"): bill.name,
        _("parameters"): sum(bill.parameters.values()),
        _("bytes a token"): bill.per_token,
        _("prefill"): flop(bill.prefill),
        _("prefill, causal"): flop(bill.prefill_causal),
        _("one decoded token"): flop(bill.decode),
        _("FLOP per byte"): None if bill.intensity is None else round(bill.intensity, 2),
        _("activations, eager"): "" if bill.eager is None else binary(2 * bill.eager.total),
        _("activations, fused"): "" if bill.fused is None else binary(2 * bill.fused.total),
    }


def _everyone(context: int) -> None:
    with st.expander(_("All {n} published models at {tokens} tokens").format(n=len(presets()), tokens=f"{context:,}")):
        tabled(_all_models(context), f"attention-of-published-models-{context}", "h-all")


@st.cache_resource(max_entries=16, show_spinner=False)
def _all_models(context: int) -> Table:
    rows = []
    for name, preset in presets().items():
        arch = Architecture.preset(name)
        cache = {c: arch.kv_cache_bytes(context, convention=c, encoder_tokens=context) for c in CONVENTIONS}
        rows.append(
            {
                "model": name,
                "attention": preset.attention,
                "layers": len(arch.layers),
                "parameters": preset.total_parameters,
                "attention parameters": arch.attention_parameters(),
                "bytes a token": arch.kv_cache_bytes(1),
                "ideal": cache["ideal"],
                "transformers": cache["transformers"],
                "paged": cache["paged"],
                "source": preset.source,
            }
        )
    return columns(rows)
