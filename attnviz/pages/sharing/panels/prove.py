"""The view “Prove it”: the model built without memory and measured, and a real layer timed on this machine."""

import re
from functools import cache

import streamlit as st

from attnviz.app import page_parts, show
from attnviz.app.cache.shared_results import shared
from attnviz.app.text import translate_markdown
from attnviz.base import units
from attnviz.base.words import _, join_list, join_sentences
from attnviz.models.architecture import HELD_TOKENS, Architecture, Measurement, all_presets, measure_on_meta
from attnviz.pages.sharing import choices, figures, maths
from attnviz.pages.sharing.panels import sharing_programs
from attnviz.pages.sharing.panels.architecture_form import (
    ChosenArchitecture,
    draw_agreement,
    draw_architecture_form,
    draw_number_boxes,
)


def panel() -> None:
    picture_slot = page_parts.main_picture()
    chosen = draw_architecture_form()
    with picture_slot:
        _all_models(chosen.arch.name)
    tokens_column, batch_column, button_column = st.columns([1, 1, 2], vertical_alignment="bottom")
    tokens, batch = draw_number_boxes(
        {choices.MEASURED_TOKENS: _("Tokens to run"), choices.BATCH: _("Batch")}, (tokens_column, batch_column)
    )
    with button_column:
        pressed = st.button(_("Build it without memory and measure"), type="primary", icon=":material/science:")
    st.caption(
        _(
            "The model’s own code from transformers, on torch’s meta device: tensors have shapes and no memory, so "
            "that even 671 billion parameters can be built here. Its attention parameters are counted, a pass is run, "
            "and the cache it leaves is measured layer by layer."
        )
    )
    key = (chosen.arch, chosen.counts.total, tokens, batch)
    if pressed:
        st.session_state["h_proof"] = key
    if st.session_state.get("h_proof") == key:
        _proof(chosen, tokens, batch)
        if chosen.arch.config is not None:
            show.program(
                sharing_programs.proof_program(chosen.code, chosen.counts.total, tokens, batch),
                "h-prove",
                about=_("Paste this code into a notebook: it prints the numbers by formula and as measured."),
            )
    _live()


@cache
def _list_proofs() -> list[tuple[str, str, int, int, int]]:
    """(name, sharing, parameters, bytes by formula, bytes measured) of each published model with a cache.

    The measurements are stored; tests repeat them.
    """
    rows = []
    for name, preset in all_presets().items():
        arch, kind = Architecture.preset(name), re.search("|".join(figures.SHARING), preset.attention)
        encoder = arch.encoder_tokens(HELD_TOKENS)
        formula = arch.kv_cache_bytes(HELD_TOKENS, convention="transformers", encoder_tokens=encoder)
        if kind and preset.held:
            rows.append((name, kind[0], preset.counts.total, formula, preset.held))
    return rows


def _all_models(chosen: str) -> None:
    """Draw the cache of every published model, by formula and as measured, the chosen one large."""
    models = _list_proofs()
    names, kinds, parameters, formula, measured = map(list, zip(*models, strict=True))
    cache_texts = {name: units.binary(value) for name, value in zip(names, measured, strict=True)}
    agree = sum(mine == theirs for mine, theirs in zip(formula, measured, strict=True))
    show.figure(
        show.chart_of(figures.proof_bars, models, chosen),
        name="proved-caches",
        key="h-proved",
        sentence=_(
            "Each ring is a model’s cache as measured, the dot in it what the formula says: **{agree} of {n} agree to "
            "the last byte**. With 7 billion parameters each, llama-1-7b (MHA) keeps {mha} and falcon-7b (MQA) {mqa}."
        ).format(agree=agree, n=len(models), mha=cache_texts["llama-1-7b"], mqa=cache_texts["falcon-7b"]),
        table={
            "model": names,
            "sharing": kinds,
            "parameters": parameters,
            "bytes by formula": formula,
            "bytes measured": measured,
        },
    )


@shared
def _measure(arch: Architecture, total: int, tokens: int, batch: int) -> Measurement:
    """Build and measure on the meta device, once for all visitors. `total` is part of the cache's key.

    Architectures with the same attention compare equal, but their models may differ elsewhere.
    """
    caches = any(layer.cached or layer.fixed for layer in arch.layers)
    return measure_on_meta(arch.config, tokens if caches else 0, batch, encoder_tokens=arch.encoder_tokens(tokens))


def _proof(chosen: ChosenArchitecture, tokens: int, batch: int) -> None:
    arch = chosen.arch
    if arch.config is None:
        st.info(_("A shape of your own has no model class that could be built."))
        return
    with st.spinner(_("Building…")):
        measured = _measure(arch, chosen.counts.total, tokens, batch)
    if measured.failure is not None:
        st.warning(translate_markdown(measured.failure))
    encoder = arch.encoder_tokens(tokens)
    formula = [
        layer_bytes for _layer, layer_bytes in arch.bytes_by_layer(tokens, batch, "bfloat16", "transformers", encoder)
    ]
    pairs = [
        (_("attention parameters"), arch.attention_parameters(), measured.attention_parameters),
        (_("parameters of the whole model"), chosen.counts.total, measured.total_parameters),
    ]
    if measured.failure is None:
        pairs.append((_("cache bytes, as transformers holds it"), sum(formula), measured.cache_bytes))
    rows = [
        {
            _("what"): name,
            _("by formula"): f"{mine:,}",
            _("measured"): f"{theirs:,}",
            _("agree"): "✓" if mine == theirs else _("no: off by {n}").format(n=f"{mine - theirs:,}"),
        }
        for name, mine, theirs in pairs
    ]
    agree = all(mine == theirs for _name, mine, theirs in pairs)
    verdict = (
        _("Formula and measurement agree to the last parameter and byte.")
        if agree
        else _("Formula and measurement do not agree everywhere: see the table.")
    )
    draw_agreement(
        join_sentences(verdict, _("Built and run in {time}.").format(time=units.duration(measured.seconds))), agree
    )
    show.draw_table(show.to_columns(rows))
    _by_layer(arch, measured, formula)


def _by_layer(arch: Architecture, measured: Measurement, formula: list[int]) -> None:
    """Draw a table of the measured cache of each layer beside the formula's bytes."""
    if not measured.cache:
        st.markdown(_("This model leaves no cache."))
        return
    # a measured architecture lists its attention modules first, and these keep no cache
    by_formula: dict[tuple[str, int], int] = {
        (layer.role, layer.index): layer_bytes
        for layer, layer_bytes in zip(arch.layers, formula, strict=True)
        if layer.stack == "decoder" and not (arch.measured and layer.parameters.total)
    }
    rows = [
        {
            _("layer"): f"{cache.role} {cache.index}",
            _("cache class"): cache.kind,
            _("tensors"): join_list(cache.shapes) or _("nothing"),
            _("by formula"): by_formula.get((cache.role, cache.index)),
            _("measured"): cache.nbytes,
            _("memory behind it"): cache.storage,
        }
        for cache in measured.cache
    ]
    viewed = sum(cache.storage for cache in measured.cache) - measured.cache_bytes
    if viewed:
        st.info(
            _(
                "After this one pass the windows are views: {more} more stay in memory behind them, until the next "
                "token is written."
            ).format(more=units.decimal_and_binary(viewed))
        )
    with st.expander(_("Layer by layer")):
        show.table_with_downloads(show.to_columns(rows), f"cache-of-{arch.name}", "h-proof-layers")


def _live() -> None:
    st.subheader(_("On this machine, now"), anchor=False)
    st.markdown(
        _(
            "One attention layer of this app’s own core, random weights (seed 0), float32: its cache filled, then one "
            "token decoded many times, the layouts in turn."
        )
    )
    names = {
        "d_model": _("Model width M"),
        "n_heads": _("Query heads H"),
        "n_kv_heads": _("K/V heads G"),
        "tokens": _("Tokens in the cache"),
    }
    sizes = dict(zip(names, draw_number_boxes({choices.LIVE[name]: names[name] for name in names}), strict=True))
    config = maths.Config(**sizes, d_head=max(1, sizes["d_model"] // sizes["n_heads"]))
    if st.button(_("Fill the caches and decode"), icon=":material/timer:"):
        with st.spinner(_("Measuring…")):
            st.session_state["h_live"] = (config, maths.run(config))
    measured, rows = st.session_state.get("h_live", (None, ()))
    if measured == config:
        _rows(rows)


def _rows(rows: tuple[maths.LiveLayerRow, ...]) -> None:
    table: show.ColumnTable = {
        _("layout"): [row.kind for row in rows],
        _("K/V heads"): [row.n_kv_heads for row in rows],
        _("cache bytes, real"): [row.cache_bytes for row in rows],
        _("by formula"): [row.formula_bytes for row in rows],
        _("parameters, real"): [row.parameters for row in rows],
        _("parameters by formula"): [row.formula_parameters for row in rows],
        _("one token"): [units.duration(row.seconds) for row in rows],
        _("times as fast as MHA"): [round(row.ratio, 2) for row in rows],
    }
    show.table_with_downloads(table, "attention-on-this-machine", "h-live-rows")
    best = rows[-1]
    st.markdown(
        _("{kind} decodes **{ratio:.1f} times** as fast as MHA here, with {share:.1%} of its cache.").format(
            kind=best.kind, ratio=best.ratio, share=best.cache_bytes / rows[0].cache_bytes
        )
    )
