"""The view “Count it”: parameters, FLOPs and bytes of every way of sharing heads, and of every published model."""

from typing import Any

import streamlit as st

from attnviz.app import page_parts, show, widgets
from attnviz.app.cache.shared_results import shared
from attnviz.app.text import escape_markdown
from attnviz.base import units
from attnviz.base.largest import find_largest
from attnviz.base.words import _, current_language, join_sentences, ngettext
from attnviz.core.costs import count_activations
from attnviz.figures import cost_charts
from attnviz.models.architecture import (
    CONVENTIONS,
    Architecture,
    Preset,
    all_presets,
    has_heads,
    sharing_schemes,
    size_full_pass,
)
from attnviz.pages.sharing import choices, figures
from attnviz.pages.sharing.panels import latent, sharing_programs
from attnviz.pages.sharing.panels.architecture_form import ChosenArchitecture, draw_architecture_form, draw_number_boxes

POWERS = [2**i for i in range(4, 21)]
# two models whose attention is alike may differ in their config's other numbers
computed_whole = shared(size_full_pass, lambda arch, *sizes: (arch, str(arch.config), *sizes))


def panel() -> None:
    picture_slot = page_parts.main_picture()
    chosen = draw_architecture_form()
    left, right, rest = st.columns([1, 1, 2])
    context, batch = draw_number_boxes(
        {choices.CONTEXT: _("Tokens of context"), choices.BATCH: _("Batch")}, (left, right)
    )
    if chosen.preset is not None:
        with rest:
            _source(chosen.preset)
    _headline(chosen, context, batch)
    _parameters(chosen.arch)
    with picture_slot:
        draw_over_context(chosen.arch, context, batch)
    draw_by_layer(chosen.arch, context, batch)
    _draw_whole_pass(chosen.arch, context, batch)
    latent.draw_paper_quality()
    _bill(chosen.arch, context, batch)
    title = ngettext(
        "All {n} published models at {tokens} token", "All {n} published models at {tokens} tokens", context
    )
    with st.expander(title.format(n=len(all_presets()), tokens=f"{context:,}")):
        show.table_with_downloads(
            _all_models(context, current_language()), f"attention-of-published-models-{context}", "h-all"
        )
    latent.draw_published()
    show.program(
        sharing_programs.count_program(chosen.code, context, batch),
        "h-count",
        about=_(
            "Paste this code into a notebook: it prints the attention parameters and the three sizes of the cache."
        ),
    )


def _source(preset: Preset) -> None:
    text = join_sentences(
        _("Source: {source}.").format(source=escape_markdown(preset.source)),
        escape_markdown(_(preset.note)) if preset.note else "",
    )
    st.caption(text if preset.verified == "yes" else f":material/warning: {text}")


def _headline(chosen: ChosenArchitecture, context: int, batch: int) -> None:
    """Draw attention parameters, and the cache in bytes by all three conventions: no single number would be honest."""
    arch = chosen.arch
    first, *others = st.columns([1.35, 1, 1, 1])  # a count in words is longer than bytes
    attention = arch.attention_parameters()
    first.metric(
        _("Attention parameters"),
        units.format_count(attention),
        help=_("{n} of {all} in the whole model").format(n=f"{attention:,}", all=f"{chosen.counts.total:,}"),
    )
    metric_texts = {
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
    encoder = arch.encoder_tokens(context)
    for column, convention in zip(others, CONVENTIONS, strict=True):
        title, help_ = metric_texts[convention]
        cache_size = arch.kv_cache_bytes(context, batch, convention=convention, encoder_tokens=encoder)
        column.metric(title, units.binary(cache_size), help=help_)
        column.caption(units.exact_bytes(cache_size))
    if encoder:  # what the keys and values of cross-attention are counted for
        text = (
            _("Beside its own context the decoder keeps the encoder’s, which always reads {n} positions.")
            if arch.fixed_encoder_tokens
            else _("Beside its own context the decoder keeps the encoder’s, counted as long: {n} tokens.")
        )
        st.caption(text.format(n=f"{encoder:,}"))


# Bytes of keys and values over context and batch, and layer by layer.
def cache_bytes(arch: Architecture, context: int, batch: int) -> int:
    """Bytes of the whole cache at 16 bits, by the ideal convention, with the encoder's tokens for this context."""
    return arch.kv_cache_bytes(context, batch, encoder_tokens=arch.encoder_tokens(context))


def draw_over_context(arch: Architecture, context: int, batch: int) -> None:
    st.subheader(_("Bytes of keys and values"), anchor=False)
    axis = widgets.select_one(
        choices.AXIS,
        _("Over"),
        {"context": _("over context"), "batch": _("over batch")},
        label_visibility="collapsed",
    )
    if axis == "context":
        title, places = _("tokens of context"), {n: (n, batch) for n in POWERS}
    else:
        title, places = _("sequences"), {n: (context, n) for n in (2**i for i in range(13))}
    lines = {
        name: [cache_bytes(way, *deployment) for deployment in places.values()]
        for name, way in sharing_schemes(arch).items()
    }
    if not any(map(any, lines.values())):
        st.info(_("An encoder reads everything at once: it keeps no cache."))
        return
    x, here = list(places), context if axis == "context" else batch
    name, values = next(iter(lines.items()))
    show.figure(
        show.chart_of(
            cost_charts.draw_byte_curves,
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
        sentence=_(
            "Ideal, at 16 bits: {name} keeps {bytes} for your context and batch. At the right end of the "
            "axis its cache reaches {top}."
        ).format(
            name=escape_markdown(name),
            bytes=units.decimal_and_binary(cache_bytes(arch, context, batch)),
            top=units.binary(values[-1]),
        ),
        table={title: x, **lines},
    )


def draw_by_layer(arch: Architecture, context: int, batch: int) -> None:
    """Draw the bytes of each layer, for models whose layers are not all alike."""
    layers, layer_bytes = zip(
        *arch.bytes_by_layer(context, batch, encoder_tokens=arch.encoder_tokens(context)), strict=True
    )
    kinds = [layer.kind for layer in layers]
    if len(set(kinds)) < 2 and len(set(layer_bytes)) < 2:
        return
    st.subheader(_("Layer by layer"), anchor=False)
    largest, most = find_largest(layer_bytes), max(layer_bytes)
    n_caching, top = sum(bool(layer.cached) for layer in layers), layer_bytes.count(most)
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
        keeps = _("Each keeps {bytes}.") if top == n_caching else _("{n} of them keep most, {bytes} each.")
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
        show.chart_of(figures.strip, layer_bytes, kinds, labels, names),
        name=f"kv-bytes-by-layer-{arch.name}",
        key="h-strip",
        sentence=join_sentences(
            text.format(n=n_caching, all=len(layers)),
            keeps.format(n=top, layer=labels[largest.index], bytes=units.decimal_and_binary(most)),
        ),
        table={
            "layer": labels,
            "kind": kinds,
            "window": [layer.window for layer in layers],
            "query heads": [layer.n_heads for layer in layers],
            "K/V heads": [layer.n_kv_heads for layer in layers],
            "parameters": [layer.parameters.total for layer in layers],
            "bytes": layer_bytes,
        },
    )


def draw_parameters(arch: Architecture) -> dict[str, int]:
    """Parameters of the whole model's attention, by matrix."""
    count = arch.parameters()
    matrices = {name: getattr(count, name) for name in ("w_q", "w_k", "w_v", "w_o", "w_down")}
    return matrices | {"rest": count.biases + count.norms + count.other}


def _parameters(arch: Architecture) -> None:
    st.subheader(_("Parameters"), anchor=False)
    titles = {
        "w_q": "W_Q",
        "w_k": "W_K",
        "w_v": "W_V",
        "w_o": "W_O",
        "w_down": _("down to latents"),
        "rest": _("biases, norms, sinks"),
    }
    counts = {name: draw_parameters(way) for name, way in sharing_schemes(arch).items()}
    names, first = list(counts), next(iter(counts.values()))
    parts = {matrix: [counts_by_matrix[matrix] for counts_by_matrix in counts.values()] for matrix in titles}
    show.figure(
        show.chart_of(figures.parameter_bars, names, parts, titles),
        name=f"attention-parameters-{arch.name}",
        key="h-parameters",
        sentence=_("{name}: {n} in attention, of these {kv} in $W_K$ and $W_V$.").format(
            name=escape_markdown(names[0]),
            n=units.format_count(sum(first.values())),
            kv=units.format_count(first["w_k"] + first["w_v"]),
        ),
        table={"sharing": names, **{titles[matrix]: numbers for matrix, numbers in parts.items()}},
    )


def _bill(arch: Architecture, context: int, batch: int) -> None:
    with st.expander(_("The whole bill")):
        show.table_with_downloads(_costs(arch, context, batch, current_language()), "attention-costs", "h-bill")
        st.caption(
            _(
                "Prefill: every pair computed, as eager attention does; causal: only what the mask leaves. One layer’s "
                "activations at 16 bits, from Q, K and V to what $W_O$ gives. FLOP per byte: decode attention against "
                "the cache it reads; MLA decodes absorbed."
            )
        )


def _draw_whole_pass(arch: Architecture, context: int, batch: int) -> None:
    """Draw a prompt's cost in each component of the model, attention and the rest."""
    st.subheader(_("The whole transformer"), anchor=False)
    parts = computed_whole(arch, context, batch)
    if not parts:
        st.info(
            _(
                "Counted for text models of one stack whose layers all have softmax attention, and weights of their "
                "own: this is none."
            )
        )
        return
    names = {
        "projections": _("attention: projections"),
        "scores": _("attention: scores and values"),
        "mlp": _("MLP"),
        "embedding": _("embedding"),
        "output": _("output"),
    }
    flops = [cost.flops for cost in parts.values()]
    activations = [cost.activations for cost in parts.values()]
    shares = {name: (cost.flops / sum(flops), cost.activations / sum(activations)) for name, cost in parts.items()}
    sentence = _(
        "Reading the prompt takes {flops}, of these {mlp:.0%} in the MLP: as torch’s counter counts, every pair "
        "computed and logits for every token; an embedding is only looked up. Activations: what the matrices of "
        "all layers write, eager: {bytes} at 16 bits, which training keeps. Norms and activation functions are not "
        "counted."
    ).format(
        flops=units.flop(sum(flops)), mlp=parts["mlp"].flops / sum(flops), bytes=units.binary(2 * sum(activations))
    )
    show.figure(
        show.chart_of(figures.whole_pass_bars, ["FLOP", _("activations")], shares, names),
        name=f"whole-{arch.name}-{context}",
        key="h-whole",
        sentence=sentence,
        table={
            "part": list(parts),
            "FLOP": flops,
            "activations": activations,
            "bytes of activations": [2 * number for number in activations],
        },
    )


@shared
def _costs(arch: Architecture, context: int, batch: int, language: str) -> show.ColumnTable:
    """What every way of sharing costs, for a prompt of `context` tokens, with headings in the visitor's language."""
    return show.to_columns([_row(name, way, context, batch) for name, way in sharing_schemes(arch).items()])


def _row(name: str, arch: Architecture, context: int, batch: int) -> dict[str, Any]:
    encoder = arch.encoder_tokens(context)
    prefill = [arch.prefill_flops(context, causal=skip, encoder_tokens=encoder or None).total for skip in (False, True)]
    step = arch.decode_flops(context, encoder_tokens=encoder)
    read = arch.kv_cache_bytes(context, encoder_tokens=encoder)
    eager = fused = ""
    if layouts := [layer.layout for layer in arch.layers if has_heads(layer)]:
        eager = units.binary(2 * count_activations(layouts[0], context, batch).total)
        fused = units.binary(2 * count_activations(layouts[0], context, batch, "fused").total)
    return {
        _("sharing"): name,
        _("parameters"): sum(draw_parameters(arch).values()),
        _("bytes a token"): arch.kv_cache_bytes(1),
        _("prefill"): units.flop(batch * prefill[0]),
        _("prefill, causal"): units.flop(batch * prefill[1]),
        _("one decoded token"): units.flop(batch * step.total) if arch.decodes else "",
        _("FLOP per byte"): round((step.scores + step.values) / read, 2) if read else None,
        _("activations, eager"): eager,
        _("activations, fused"): fused,
    }


@shared
def _all_models(context: int, language: str) -> show.ColumnTable:
    """All models, with headings in this language, which is the visitor's."""
    names = {"ideal": _("ideal"), "transformers": "transformers", "paged": _("paged")}
    rows = []
    for name, preset in all_presets().items():
        arch = Architecture.preset(name)
        rows.append(
            {
                _("model"): name,
                _("attention"): preset.attention,
                _("layers"): arch.blocks,
                _("parameters"): preset.counts.total,
                _("attention parameters"): arch.attention_parameters(),
                _("bytes a token"): arch.kv_cache_bytes(1),
                **{
                    names[c]: arch.kv_cache_bytes(context, convention=c, encoder_tokens=arch.encoder_tokens(context))
                    for c in CONVENTIONS
                },
                _("source"): preset.source,
            }
        )
    return show.to_columns(rows)
