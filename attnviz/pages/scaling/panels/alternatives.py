"""Section 5: the alternatives to 1/√d_k on the same curves, and which models use which."""

from __future__ import annotations

import math

import numpy as np
import streamlit as st

from attnviz.app import show
from attnviz.base.words import _
from attnviz.figures.theme import ALTERNATIVE, RAW, SCALED, SERIES
from attnviz.pages.scaling.figures.curves import Line, over_d_k
from attnviz.pages.scaling.maths import alternatives, length, programs, released_models, saturation
from attnviz.pages.scaling.panels import results, scaling_form
from attnviz.pages.scaling.panels.results import alternative_names, formula

#: One colour each; raw and scaled have theirs on all pages. Dashes help those who cannot tell the colours apart.
COLOURS = dict(zip(alternatives.ALTERNATIVES, (RAW, SCALED, ALTERNATIVE, *SERIES[3:]), strict=False))
DASHES = {"inverse": "dot", "softcap": "dash", "log-n": "dashdot", "sink": "dash"}


def panel() -> str:
    """Draw the section; the program that prints its numbers."""
    config = scaling_form.one_query()
    results.bars("s_bars_alternatives", config)
    row = results.one_query(config)
    words = _(
        "**Random, seed {seed}.** At d_k = {d_k}, {name} gives {largest:.1%} of the weight to its "
        "favourite of {n} keys."
    ).format(
        seed=config.seed,
        d_k=config.d_k,
        name=alternative_names()[config.alternative],
        n=config.n_keys,
        largest=row.alternative.largest,
    )
    results.under("s_bars_alternatives", row, words)
    says, formula_column = st.columns([1.6, 1], vertical_alignment="center")
    says.markdown(about(config.alternative))
    formula_column.latex(formula(config.alternative, config.d_k, config.n_keys, config.parameter))
    st.subheader(_("All alternatives on the same axes, each with the parameter that you last set"), anchor=False)
    _all(config.d_k, config.n_keys, config.seed)
    _lengths(config.d_k, config.seed)
    _families()
    return programs.of_alternatives(config, {name: scaling_form.parameter(name) for name in alternatives.ALTERNATIVES})


def about(name: str) -> str:
    """Two sentences on what an alternative is for."""
    return {
        "temperature": _(
            "**Temperature** divides the scaled scores once more: values above 1 make the weights flatter, "
            "values below 1 sharper, and 0 puts all weight on the largest score. 1/√d_k is itself a "
            "temperature, T = √d_k."
        ),
        "inverse": _(
            "**1/d_k** is right when q and k line up during training: then q·k grows like d_k, not like √d_k. At "
            "random initialisation it flattens everything as d_k grows."
        ),
        "qk-norm": _(
            "**QK-norm** takes lengths away, so that scores lie between −g and g whatever training does to q and k; "
            "g is learned. RMSNorm with gain 1 and 1/√d_k is g = √d_k."
        ),
        "softcap": _(
            "**Soft-capping** bends scaled scores so that none passes ±c. At random scores of size 1, c = 50 (Gemma "
            "2) changes next to nothing: it is a guard for when they grow."
        ),
        "log-n": _(
            "**Length-aware scaling** multiplies by ln n / ln N: at N keys it changes nothing, with more keys it "
            "sharpens, because plain softmax spreads thinner the more keys there are."
        ),
        "sink": _(
            "**A sink** is one more logit that takes weight and contributes no value, so that a head can look "
            "at nothing. The bars need not add up to 1."
        ),
    }[name]


def _all(d_k: int, n_keys: int, seed: int) -> None:
    """Draw every alternative on the same axes, each with the parameter that was last set."""
    names = alternative_names()
    made = {
        name: results.curves(saturation.Config(n_keys, seed, name, scaling_form.parameter(name)))
        for name in alternatives.ALTERNATIVES
    }
    x = made["raw"].d_k
    at = int(np.argmin(np.abs(np.log(x / d_k))))
    titles = {
        "largest": _("Median largest weight"),
        "entropy": _("Median entropy, nats"),
        "jacobian": _("Median norm of the Jacobian"),
        "to_q": _("Median gradient that reaches q"),
    }
    columns = [*st.columns(2, gap="medium"), *st.columns(2, gap="medium")]
    for column, (measure, title) in zip(columns, titles.items(), strict=True):
        lines = [
            Line(names[name], COLOURS[name], made[name].bands[measure].middle, dash=DASHES.get(name, "solid"))
            for name in made
        ]
        values = {names[name]: float(made[name].bands[measure].middle[at]) for name in made}
        most, least = max(values, key=values.__getitem__), min(values, key=values.__getitem__)
        words = _(
            "At d_k = {d_k} the largest value is {top:.3g} ({most}), the smallest {bottom:.3g} ({least})."
        ).format(d_k=int(x[at]), top=values[most], most=most, bottom=values[least], least=least)
        table = {"d_k": x, **{name: made[name].bands[measure].middle for name in made}}
        with column:
            fig = over_d_k(x, lines, title, here=d_k, height=360)
            show.figure(fig, name=f"alternatives-{measure}", key=f"s_all_{measure}", table=table, words=words)


def _lengths(d_k: int, seed: int) -> None:
    """Draw the effective number of keys over the number of keys, where length-aware scaling makes a difference."""
    names = alternative_names()
    d_k = min(d_k, length.WIDEST)
    made = {name: results.lengths(length.Config(d_k, seed, name, scaling_form.parameter(name))) for name in _LENGTH}
    x = made["sqrt"].n_keys
    lines = [
        Line(names[name], COLOURS[name], result.effective, dash=DASHES.get(name, "solid"))
        for name, result in made.items()
    ]
    scaled, aware = made["sqrt"].effective[-1], made["log-n"].effective[-1]
    words = _(
        "Over 4,096 keys a scaled row at d_k = {d_k} is as spread as {scaled:,.0f} keys, a length-aware one as "
        "{aware:,.0f}. Normal scores of variance 1 predict n/√e = {predicted:,.0f}: attention dilutes in proportion "
        "to n."
    ).format(d_k=d_k, scaled=scaled, aware=aware, predicted=4096 / math.e**0.5)
    title = _("Effective keys over the number of keys")
    fig = over_d_k(x, lines, title, log_y=True, x_title=_("keys, n"), height=340)
    table = {"n": x, **{name: result.effective for name, result in made.items()}}
    show.figure(fig, name="alternatives-length", key="s_lengths", table=table, caption=words, words=words)


_LENGTH = ("raw", "sqrt", "log-n", "qk-norm")


def _families() -> None:
    """Draw which model families use which alternative, as cards, which fit a phone better than a table."""
    st.subheader(_("Which models use which"), anchor=False)
    names = alternative_names()
    for start in range(0, len(released_models.FAMILIES), 2):
        for column, one in zip(st.columns(2, gap="medium"), released_models.FAMILIES[start : start + 2], strict=False):
            paper = f"[{one.paper}]({one.paper_link}) · " if one.paper else ""
            with column, st.container(border=True, gap="xxsmall", height="stretch"):
                st.markdown(f"**{_(one.models)}** · {names[one.alternative]}")
                st.markdown(f"`{_(one.how)}`")
                st.caption(f"{paper}[{one.code}]({one.code_link}): `{one.setting}`")
