"""The view “MLA”: its two forms, expanded to heads or absorbed into the queries, and what each costs."""

from __future__ import annotations

import streamlit as st

from attnviz.app import show
from attnviz.app.cache.kept_charts import chart_of
from attnviz.app.fragment import fragment
from attnviz.app.guarding import guard
from attnviz.app.show import columns, tabled
from attnviz.app.text import plain
from attnviz.app.widgets import number, one_of
from attnviz.base.units import both, flop
from attnviz.base.words import _
from attnviz.core.costs import pairs
from attnviz.core.latent import LatentForm, LatentLayout, latent_elements, latent_flops, latent_intensity
from attnviz.models.architecture import Architecture, all_presets
from attnviz.pages.sharing import choices
from attnviz.pages.sharing.figures import costs as figures
from attnviz.pages.sharing.panels import sharing_programs

CONTEXTS = [2**i for i in range(4, 18)]


@fragment
def panel() -> None:
    with guard():
        _panel()


def _panel() -> None:
    names = {name: name for name, preset in all_presets().items() if preset.attention == "MLA"}
    which, much = st.columns([1, 1])
    with which:
        name = one_of(choices.LATENT_MODEL, _("Model"), names, style="select")
    with much:
        context = number(choices.CONTEXT, _("Tokens of context"), step=1)
    arch = Architecture.preset(name)
    latent = arch.layers[0].latent
    assert latent is not None
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
    _machines(arch, latent, context)
    _over_context(arch, latent, context)
    _baselines(arch, latent, context)
    sharing_programs.latents(arch, context)


def machine_names() -> dict[LatentForm, str]:
    return {
        "expanded": _("expanded, K and V cached"),
        "re-expanded": _("latents cached, expanded at every step (transformers)"),
        "absorbed": _("absorbed"),
    }


def _work(latent: LatentLayout, new: int, context: int, machine: LatentForm) -> int:
    return latent_flops(latent, new, context, pairs(new, context), machine).total


def _machines(arch: Architecture, latent: LatentLayout, context: int) -> None:
    rows = [
        {
            _("computed as"): name,
            _("numbers a token, one layer"): latent_elements(latent, machine),
            _("FLOP a cached byte"): round(float(latent_intensity(latent, machine)), 1),
            _("one layer, prefill of {n}").format(n=f"{context:,}"): flop(_work(latent, context, context, machine)),
            _("one layer, one token at {n}").format(n=f"{context:,}"): flop(_work(latent, 1, context, machine)),
        }
        for machine, name in machine_names().items()
    ]
    tabled(columns(rows), f"mla-{arch.name}", "h-machines")
    decode = _work(latent, 1, context, "re-expanded") / _work(latent, 1, context, "absorbed")
    prefill = _work(latent, context, context, "expanded") / _work(latent, context, context, "absorbed")
    st.markdown(
        _(
            "At {n} tokens, decoding by expanding the latents again costs **{decode:,.0f} times** the absorbed form; "
            "for the prefill the expanded form costs **{prefill:.2f} times** the absorbed one. So servers prefill "
            "expanded and decode absorbed."
        ).format(n=f"{context:,}", decode=decode, prefill=prefill)
    )


def _over_context(arch: Architecture, latent: LatentLayout, context: int) -> None:
    lines = {name: [_work(latent, 1, t, machine) for t in CONTEXTS] for machine, name in machine_names().items()}
    show.figure(
        chart_of(
            figures.over,
            CONTEXTS,
            lines,
            _("tokens of context"),
            _("FLOP for one token, one layer"),
            here=context,
            said=flop,
        ),
        name=f"mla-decode-{arch.name}",
        key="h-mla-decode",
        words=_(
            "One decoded token in one layer: expanding again at every step costs computation for the whole context."
        ),
        table={"context": CONTEXTS, **lines},
    )


def _baselines(arch: Architecture, latent: LatentLayout, context: int) -> None:
    """Draw MLA's saving against each baseline that it could be quoted for."""
    st.subheader(_("Smaller than what?"), anchor=False)
    mine = latent_elements(latent)
    heads, wide = latent.n_heads, latent.d_nope
    bases = {
        _("full multi-head attention, {d} wide").format(d=wide): 2 * heads * wide,
        _("MLA’s own keys and values, expanded ({k} + {v})").format(
            k=latent.d_nope + latent.d_rope, v=latent.d_value
        ): latent_elements(latent, "expanded"),
        _("GQA with 8 K/V heads, {d} wide").format(d=wide): 2 * 8 * wide,
        _("MQA, {d} wide").format(d=wide): 2 * wide,
    }
    rows = [
        {
            _("compared with"): name,
            _("numbers a token, one layer"): numbers,
            _("cache of {n} tokens").format(n=f"{context:,}"): both(2 * numbers * context * len(arch.layers)),
            _("MLA keeps"): f"{mine / numbers:.1%}",
            _("times smaller"): round(numbers / mine, 2),
        }
        for name, numbers in bases.items()
    ]
    tabled(columns(rows), f"mla-baselines-{arch.name}", "h-bases")
    st.markdown(
        _("{model} keeps {mine} numbers per token and layer: {bytes} for {n} tokens.").format(
            model=plain(arch.name), mine=mine, bytes=both(arch.kv_cache_bytes(context)), n=f"{context:,}"
        )
    )
