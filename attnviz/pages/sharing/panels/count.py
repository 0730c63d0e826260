"""The view “Count it”: parameters, FLOPs and bytes of every way of sharing heads, and of every published model."""

from __future__ import annotations

from typing import Any

import streamlit as st

from attnviz.app import show
from attnviz.app.cache.kept_charts import chart_of
from attnviz.app.fragment import fragment
from attnviz.app.guarding import guard
from attnviz.app.show import ColumnTable, columns, tabled
from attnviz.app.text import plain
from attnviz.app.widgets import number
from attnviz.base.units import binary, exact, flop, many
from attnviz.base.words import _, sentences, tongue
from attnviz.models.architecture import CONVENTIONS, Architecture, all_presets
from attnviz.pages.sharing import choices
from attnviz.pages.sharing.figures import costs as figures
from attnviz.pages.sharing.panels import bytes as bytes_panel
from attnviz.pages.sharing.panels import published, sharing_programs
from attnviz.pages.sharing.panels.architecture_form import Chosen, choose
from attnviz.pages.sharing.panels.bytes import Bill, bills, part_titles


@fragment
def panel() -> None:
    with guard():
        _panel()


def _panel() -> None:
    chosen = choose()
    left, right, rest = st.columns([1, 1, 2])
    with left:
        context = number(choices.CONTEXT, _("Tokens of context"), step=1)
    with right:
        batch = number(choices.BATCH, _("Batch"), step=1)
    with rest:
        _source(chosen)
    _headline(chosen, context, batch)
    found = bills(chosen.arch, context, batch)
    _parameters(found)
    bytes_panel.over(chosen.arch, context, batch)
    bytes_panel.layers(chosen.arch, context, batch)
    _table(found)
    published.quality_panel()
    _everyone(context)
    sharing_programs.counting(chosen, context, batch)


def _source(chosen: Chosen) -> None:
    if chosen.preset is None:
        return
    said = _("Source: {source}.").format(source=plain(chosen.preset.source))
    mark = "" if chosen.preset.verified == "yes" else "⚠️ "
    st.caption(mark + sentences(said, plain(_(chosen.preset.note)) if chosen.preset.note else ""))


def _headline(chosen: Chosen, context: int, batch: int) -> None:
    """Draw attention parameters, and the cache in bytes by all three conventions: no single number would be honest."""
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
    heard = arch.encoder_tokens(context)
    for column, convention in zip((two, three, four), CONVENTIONS, strict=True):
        title, help_ = words[convention]
        held = arch.kv_cache_bytes(context, batch, convention=convention, encoder_tokens=heard)
        column.metric(title, binary(held), help=help_)
        column.caption(exact(held))
    _heard(arch, heard)


def _heard(arch: Architecture, heard: int) -> None:
    """Say what the keys and values of cross-attention are counted for."""
    if not heard:
        return
    if arch.heard:
        st.caption(
            _("Beside its own context the decoder keeps the encoder’s, which always reads {n} positions.").format(
                n=f"{heard:,}"
            )
        )
    else:
        st.caption(
            _("Beside its own context the decoder keeps the encoder’s, counted as long: {n} tokens.").format(
                n=f"{heard:,}"
            )
        )


def _parameters(found: list[Bill]) -> None:
    st.subheader(_("Parameters"), anchor=False)
    titles = part_titles()
    first = found[0]
    show.figure(
        chart_of(
            figures.stacked,
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
        },
    )


def _table(found: list[Bill]) -> None:
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
        _("one decoded token"): flop(bill.decode) if bill.arch.decodes else "",
        _("FLOP per byte"): None if bill.intensity is None else round(bill.intensity, 2),
        _("activations, eager"): "" if bill.eager is None else binary(2 * bill.eager.total),
        _("activations, fused"): "" if bill.fused is None else binary(2 * bill.fused.total),
    }


def _everyone(context: int) -> None:
    with st.expander(
        _("All {n} published models at {tokens} tokens").format(n=len(all_presets()), tokens=f"{context:,}")
    ):
        tabled(_all_models(context, tongue()), f"attention-of-published-models-{context}", "h-all")


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
