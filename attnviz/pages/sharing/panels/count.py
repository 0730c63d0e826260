"""The view “Count it”: parameters, FLOPs and bytes of every way of sharing heads, and of every published model."""

from __future__ import annotations

from typing import Any

import streamlit as st

from attnviz.app import show
from attnviz.app.cache.kept_charts import chart_of
from attnviz.app.code_snippet import snippet
from attnviz.app.tables import ColumnTable, columns, tabled
from attnviz.app.text import plain
from attnviz.app.units import binary, exact, flop, many
from attnviz.base.words import _, sentences, tongue
from attnviz.models.architecture import CONVENTIONS, Architecture, Preset, all_presets
from attnviz.pages.sharing import choices
from attnviz.pages.sharing.figures import costs as figures
from attnviz.pages.sharing.panels import bytes as bytes_panel
from attnviz.pages.sharing.panels import latent, sharing_programs
from attnviz.pages.sharing.panels.architecture_form import Chosen, choose, number_boxes
from attnviz.pages.sharing.panels.bytes import Bill, bills


def panel() -> None:
    chosen = choose()
    left, right, rest = st.columns([1, 1, 2])
    labels = _("Tokens of context"), _("Batch")
    context, batch = number_boxes((choices.CONTEXT, choices.BATCH), labels, (left, right))
    if chosen.preset is not None:
        with rest:
            _source(chosen.preset)
    _headline(chosen, context, batch)
    every = bills(chosen.arch, context, batch)
    _parameters(every)
    bytes_panel.over(chosen.arch, context, batch)
    bytes_panel.by_layer(chosen.arch, context, batch)
    _table(every)
    latent.paper_quality()
    with st.expander(
        _("All {n} published models at {tokens} tokens").format(n=len(all_presets()), tokens=f"{context:,}")
    ):
        tabled(_all_models(context, tongue()), f"attention-of-published-models-{context}", "h-all")
    snippet(
        sharing_programs.of_count(chosen.code, context, batch),
        "h-count",
        about=_(
            "Paste this code into a notebook: it prints the attention parameters and the three sizes of the cache."
        ),
    )


def _source(preset: Preset) -> None:
    mark = "" if preset.verified == "yes" else "⚠️ "
    source = _("Source: {source}.").format(source=plain(preset.source))
    st.caption(mark + sentences(source, plain(_(preset.note)) if preset.note else ""))


def _headline(chosen: Chosen, context: int, batch: int) -> None:
    """Draw attention parameters, and the cache in bytes by all three conventions: no single number would be honest."""
    arch = chosen.arch
    one, two, three, four = st.columns(4)
    attention = arch.attention_parameters()
    one.metric(
        _("Attention parameters"),
        many(attention),
        help=_("{n} of {all} in the whole model").format(n=f"{attention:,}", all=f"{chosen.counts.total:,}"),
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
    heard = arch.encoder_tokens(context)
    for column, convention in zip((two, three, four), CONVENTIONS, strict=True):
        title, help_ = words[convention]
        held = arch.kv_cache_bytes(context, batch, convention=convention, encoder_tokens=heard)
        column.metric(title, binary(held), help=help_)
        column.caption(exact(held))
    if heard:  # what the keys and values of cross-attention are counted for
        text = (
            _("Beside its own context the decoder keeps the encoder’s, which always reads {n} positions.")
            if arch.heard
            else _("Beside its own context the decoder keeps the encoder’s, counted as long: {n} tokens.")
        )
        st.caption(text.format(n=f"{heard:,}"))


def _parameters(every: list[Bill]) -> None:
    st.subheader(_("Parameters"), anchor=False)
    titles = {
        "w_q": "W_Q",
        "w_k": "W_K",
        "w_v": "W_V",
        "w_o": "W_O",
        "w_down": _("down to latents"),
        "rest": _("biases, norms, sinks"),
    }
    names, first = [bill.name for bill in every], every[0]
    parts = {part: [bill.parameters[part] for bill in every] for part in titles}
    show.figure(
        chart_of(figures.stacked, names, parts, titles),
        name=f"attention-parameters-{first.arch.name}",
        key="h-parameters",
        words=_("{name}: {n} in attention, of these {kv} in $W_K$ and $W_V$.").format(
            name=plain(first.name),
            n=many(sum(first.parameters.values())),
            kv=many(first.parameters["w_k"] + first.parameters["w_v"]),
        ),
        table={"sharing": names, **{titles[part]: counts for part, counts in parts.items()}},
    )


def _table(every: list[Bill]) -> None:
    st.subheader(_("The whole bill"), anchor=False)
    tabled(columns([_row(bill) for bill in every]), "attention-costs", "h-bill")
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
        _("one decoded token"): flop(bill.decode) if bill.arch.decodes else "",
        _("FLOP per byte"): None if bill.intensity is None else round(bill.intensity, 2),
        _("activations, eager"): "" if bill.eager is None else binary(2 * bill.eager.total),
        _("activations, fused"): "" if bill.fused is None else binary(2 * bill.fused.total),
    }


@st.cache_resource(max_entries=32, show_spinner=False)
def _all_models(context: int, language: str) -> ColumnTable:
    """All models, with headings in this language, which is the visitor's."""
    rows = []
    for name, preset in all_presets().items():
        arch = Architecture.preset(name)
        cache = {
            c: arch.kv_cache_bytes(context, convention=c, encoder_tokens=arch.encoder_tokens(context))
            for c in CONVENTIONS
        }
        rows.append(
            {
                _("model"): name,
                _("attention"): preset.attention,
                _("layers"): arch.blocks,
                _("parameters"): preset.total_parameters,
                _("attention parameters"): arch.attention_parameters(),
                _("bytes a token"): arch.kv_cache_bytes(1),
                _("ideal"): cache["ideal"],
                "transformers": cache["transformers"],
                _("paged"): cache["paged"],
                _("source"): preset.source,
            }
        )
    return columns(rows)
