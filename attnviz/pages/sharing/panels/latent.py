"""The view “MLA”, its two forms and what each costs; published numbers worked out again."""

from functools import cache
from typing import Any

import streamlit as st

from attnviz.app import page_parts, show, widgets
from attnviz.app.text import escape_markdown
from attnviz.base import units
from attnviz.base.rounding import Rounded
from attnviz.base.words import _, ngettext, translate_message
from attnviz.core.costs import Form, count_pairs
from attnviz.core.latent import LatentLayout
from attnviz.figures import cost_charts
from attnviz.models.architecture import Architecture, Claim, all_presets, published_claims, published_quality
from attnviz.pages.sharing import choices, figures
from attnviz.pages.sharing.panels import sharing_programs

CONTEXTS = [2**i for i in range(4, 18)]


def panel() -> None:
    picture_slot = page_parts.main_picture()
    models = {name: name for name, preset in all_presets().items() if preset.attention == "MLA"}
    which, much = st.columns([1, 1])
    with which:
        name = widgets.select_one(choices.LATENT_MODEL, _("Model"), models, style="select")
    with much:
        context = widgets.number_box(choices.CONTEXT, _("Tokens of context"), step=1)
    arch = Architecture.preset(name)
    latent = arch.layers[0].compressed
    assert isinstance(latent, LatentLayout)
    st.markdown(
        _(
            "Each token leaves a **latent** of {rank} numbers and one rotary key of {rope}, from which keys "
            "({nope} + {rope} wide) and values ({value} wide) of all {heads} heads are made. **Expanded**, they are "
            "made for every token and then it is multi-head attention. **Absorbed**, the matrix that makes them is "
            "moved to the query, $q^\\top (W_{{UK}} c) = (W_{{UK}}^\\top q)^\\top c$, and it is multi-query attention "
            "on latents. The numbers that come out are the same."
        ).format(
            rank=latent.kv_rank, rope=latent.d_rope, nope=latent.d_nope, value=latent.d_value, heads=latent.n_heads
        )
    )
    names: dict[Form, str] = {
        "expanded": _("expanded, K and V cached"),
        "re-expanded": _("latents cached, expanded at every step (transformers)"),
        "absorbed": _("absorbed"),
    }
    _machines(arch, latent, context, names)
    lines = {name: [_work(latent, 1, t, machine) for t in CONTEXTS] for machine, name in names.items()}
    with picture_slot:
        show.figure(
            show.chart_of(
                cost_charts.draw_byte_curves,
                CONTEXTS,
                lines,
                _("tokens of context"),
                _("FLOP for one token, one layer"),
                here=context,
                text=units.flop,
            ),
            name=f"mla-decode-{arch.name}",
            key="h-mla-decode",
            sentence=_(
                "One decoded token in one layer: expanding again at every step costs computation for the whole context."
            ),
            table={"context": CONTEXTS, **lines},
        )
    _baselines(arch, latent, context)
    show.program(sharing_programs.latents_program(arch.name, context), "h-latent")


def _work(latent: LatentLayout, new: int, context: int, machine: Form) -> int:
    return latent.flops(new, context, count_pairs(new, context), machine).total


def _machines(arch: Architecture, latent: LatentLayout, context: int, names: dict[Form, str]) -> None:
    rows = [
        {
            _("computed as"): name,
            _("numbers per token, one layer"): latent.elements(machine),
            _("FLOP per cached byte"): round(float(latent.intensity(machine)), 1),
            _("one layer, prefill of {n}").format(n=f"{context:,}"): units.flop(
                _work(latent, context, context, machine)
            ),
            _("one layer, one token at {n}").format(n=f"{context:,}"): units.flop(_work(latent, 1, context, machine)),
        }
        for machine, name in names.items()
    ]
    show.table_with_downloads(show.to_columns(rows), f"mla-{arch.name}", "h-machines")
    decode = _work(latent, 1, context, "re-expanded") / _work(latent, 1, context, "absorbed")
    prefill = _work(latent, context, context, "expanded") / _work(latent, context, context, "absorbed")
    alike = round(decode, 2) == round(prefill, 2) == 1
    st.markdown(
        _("At {n} {n:token|tokens} all forms cost the same: with a longer context they do not.").format(n=context)
        if alike
        else ngettext(
            "At {n} token, decoding by expanding the latents again costs **{decode:,.0f} times** the absorbed form; "
            "for the prefill the expanded form costs **{prefill:.2f} times** the absorbed one. So servers prefill "
            "expanded and decode absorbed.",
            "At {n} tokens, decoding by expanding the latents again costs **{decode:,.0f} times** the absorbed form; "
            "for the prefill the expanded form costs **{prefill:.2f} times** the absorbed one. So servers prefill "
            "expanded and decode absorbed.",
            context,
        ).format(n=f"{context:,}", decode=decode, prefill=prefill)
    )


def _baselines(arch: Architecture, latent: LatentLayout, context: int) -> None:
    """Draw MLA's saving against each baseline that it could be quoted for."""
    mine = latent.elements()
    heads, wide = latent.n_heads, latent.d_nope
    bases = {
        _("full multi-head attention, {d} wide").format(d=wide): 2 * heads * wide,
        _("MLA’s own keys and values, expanded ({k} + {v})").format(
            k=latent.d_nope + latent.d_rope, v=latent.d_value
        ): latent.elements("expanded"),
        _("GQA with 8 K/V heads, {d} wide").format(d=wide): 2 * 8 * wide,
        _("MQA, {d} wide").format(d=wide): 2 * wide,
    }
    rows = [
        {
            _("compared with"): name,
            _("numbers per token, one layer"): numbers,
            ngettext("cache of {n} token", "cache of {n} tokens", context).format(
                n=f"{context:,}"
            ): units.decimal_and_binary(2 * numbers * context * len(arch.layers)),
            _("MLA keeps"): units.percent(mine / numbers),
            _("times smaller"): round(numbers / mine, 2),
        }
        for name, numbers in bases.items()
    ]
    with st.expander(_("Smaller than what?")):
        show.table_with_downloads(show.to_columns(rows), f"mla-baselines-{arch.name}", "h-bases")
    st.markdown(
        ngettext(
            "{model} keeps {mine} numbers per token and layer: {bytes} for {n} token.",
            "{model} keeps {mine} numbers per token and layer: {bytes} for {n} tokens.",
            context,
        ).format(
            model=escape_markdown(arch.name),
            mine=mine,
            bytes=units.decimal_and_binary(arch.kv_cache_bytes(context)),
            n=f"{context:,}",
        )
    )


# Published numbers worked out again, and the quality that sharing costs.
computed_claims = cache(published_claims)


def draw_published() -> None:
    """Draw a box with published numbers, worked out again."""
    with st.expander(_("Published numbers, worked out again")):
        show.table_with_downloads(
            show.to_columns([_row(claim) for claim in computed_claims()]), "published-numbers", "h-claims", wraps=True
        )


def _value(claim: Claim) -> str:
    templates = {"x": _("{n} times"), "elements": _("{n} thousand numbers"), "%": "{n}%"}
    return templates.get(claim.unit, f"{{n}} {claim.unit}").format(n=f"{Rounded(claim.computed):,.4g}")


def _row(claim: Claim) -> dict[str, Any]:
    verdicts = {"yes": _("reproduced"), "no": _("wrong"), "condition": _("only under a condition")}
    return {
        _("verdict"): verdicts[claim.verdict],
        _("claim"): translate_message(claim.statement),
        _("found here"): _value(claim),
        _("why"): translate_message(claim.reason),
        _("source"): claim.source,
    }


def draw_paper_quality() -> None:
    """Draw table 1 of the GQA paper: the quality that sharing costs."""
    st.subheader(_("Sharing is not free"), anchor=False)
    rows, source = published_quality()
    show.figure(
        show.chart_of(
            figures.quality_over_speed,
            [row.model for row in rows],
            [row.seconds for row in rows],
            [row.score for row in rows],
        ),
        name="gqa-quality",
        key="h-quality",
        sentence=_(
            "Quoted, not measured here: with one K/V head the XXL model loses {mqa:.1f} points of its average score "
            "and is {faster:.1f} times as fast; with 8 it loses {gqa:.1f} and is {fast:.1f} times as fast."
        ).format(
            mqa=rows[1].score - rows[2].score,
            faster=rows[1].seconds / rows[2].seconds,
            gqa=rows[1].score - rows[3].score,
            fast=rows[1].seconds / rows[3].seconds,
        ),
        caption=source,
        table={
            "model": [row.model for row in rows],
            "seconds a sample": [row.seconds for row in rows],
            "average score": [row.score for row in rows],
        },
    )
    st.caption(
        _("Source: {source}. Both shared models were trained further after their heads were pooled.").format(
            source=source
        )
    )
