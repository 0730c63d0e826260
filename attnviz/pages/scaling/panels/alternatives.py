"""Section 3: the alternatives to 1/√d_k on the same curves, and which models use which."""

import math

import numpy as np
import streamlit as st

from attnviz.app import page_parts, show
from attnviz.app.cache.shared_results import shared
from attnviz.base.words import _
from attnviz.figures.theme import ALTERNATIVE, RAW, SCALED, SERIES
from attnviz.pages.scaling.figures import Line, draw_over_d_k
from attnviz.pages.scaling.maths import alternatives, growing_width, saturation
from attnviz.pages.scaling.panels import scaling_form
from attnviz.pages.scaling.panels.saturation import draw_curves

#: One colour each; raw and scaled have theirs on all pages. Dashes help those who cannot tell the colours apart.
COLOURS = dict(zip(alternatives.ALTERNATIVES, (RAW, SCALED, ALTERNATIVE, *SERIES[3:]), strict=False))
DASHES = {"inverse": "dot", "softcap": "dash", "log-n": "dashdot", "sink": "dash"}
OVER_LENGTHS = ("raw", "sqrt", "log-n", "qk-norm")  #: where the number of keys makes a difference

lengths = shared(alternatives.spread_over_lengths)


def panel() -> str:
    """Draw the section; the program that prints its numbers."""
    picture_slot = page_parts.main_picture()
    config = scaling_form.one_query_config()
    row = scaling_form.one_query_result(config)
    with picture_slot:
        scaling_form.draw_bars("s_bars_alternatives", config)
        scaling_form.bars_footer(
            "s_bars_alternatives",
            row,
            _(
                "**Scores are random (seed {seed}).** At d_k = {d_k}, {name} gives {largest:.1%} of the weight to its "
                "favourite key (n = {n})."
            ).format(
                seed=config.seed,
                d_k=config.d_k,
                name=scaling_form.scheme_names()[config.alternative],
                n=config.n_keys,
                largest=row.alternative.largest,
            ),
        )
    says, formula_column = st.columns([1.6, 1], vertical_alignment="center")
    says.markdown(alternative_sentences(config.alternative))
    formula_column.latex(scaling_form.softmax_formula(config.alternative, config.d_k, config.n_keys, config.parameter))
    st.subheader(_("All alternatives on the same axes, each with the parameter that you last set"), anchor=False)
    parameters = {name: scaling_form.last_parameter(name) for name in alternatives.ALTERNATIVES}
    _draw_all_schemes(config, parameters)
    _lengths(min(config.d_k, alternatives.WIDEST), config.seed, parameters)
    _draw_families()
    return saturation.program_of_all(config, parameters)


def alternative_sentences(name: str) -> str:
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


def _lines(middles: dict[str, np.ndarray]) -> list[Line]:
    names = scaling_form.scheme_names()
    return [Line(names[name], COLOURS[name], y, dash=DASHES.get(name, "solid")) for name, y in middles.items()]


def _draw_all_schemes(config: growing_width.Config, parameters: dict[str, float]) -> None:
    """Draw every alternative on the same axes, each with the parameter that was last set."""
    names, at = scaling_form.scheme_names(), saturation.nearest_on_grid(config.d_k)
    results = {
        name: draw_curves(saturation.Config(config.n_keys, config.seed, name, parameter))
        for name, parameter in parameters.items()
    }
    x = results["raw"].d_k
    titles = {
        "largest": _("Median largest weight"),
        "entropy": _("Median entropy, nats"),
        "jacobian": _("Median norm of the Jacobian"),
        "to_q": _("Median gradient that reaches q"),
    }
    columns = [*st.columns(2, gap="medium"), *st.columns(2, gap="medium")]
    for column, (measure, title) in zip(columns, titles.items(), strict=True):
        middles = {name: result.bands[measure].middle for name, result in results.items()}
        values = {names[name]: float(middle[at]) for name, middle in middles.items()}
        most, least = max(values, key=values.__getitem__), min(values, key=values.__getitem__)
        with column:
            show.figure(
                draw_over_d_k(x, _lines(middles), title, here=config.d_k, height=360),
                name=f"alternatives-{measure}",
                key=f"s_all_{measure}",
                table={"d_k": x, **middles},
                sentence=(
                    _("At d_k = {d_k} the largest value is {top:.3g} ({most}), the smallest {bottom:.3g} ({least}).")
                    if values[most] > values[least] * (1 + 1e-9)
                    else _("At d_k = {d_k} all have {top:.3g}.")
                ).format(d_k=int(x[at]), top=values[most], most=most, bottom=values[least], least=least),
            )


def _lengths(d_k: int, seed: int, parameters: dict[str, float]) -> None:
    """Draw the effective number of keys over the number of keys, where length-aware scaling makes a difference."""
    effective = {name: lengths(d_k, seed, name, parameters[name]) for name in OVER_LENGTHS}
    x = np.array(alternatives.LENGTHS)
    show.figure(
        draw_over_d_k(
            x,
            _lines(effective),
            _("Effective keys over the number of keys"),
            log_y=True,
            x_title=_("keys, n"),
            height=340,
        ),
        name="alternatives-length",
        key="s_lengths",
        table={"n": x, **effective},
        sentence=_(
            "Over 4,096 keys a scaled row at d_k = {d_k} is as spread out as {scaled:,.0f} keys, a length-aware one "
            "as {aware:,.0f}. Normal scores of variance 1 predict n/√e = {predicted:,.0f}: attention dilutes in "
            "proportion to n."
        ).format(d_k=d_k, scaled=effective["sqrt"][-1], aware=effective["log-n"][-1], predicted=4096 / math.e**0.5),
    )


def _draw_families() -> None:
    """Draw which model families use which alternative, as cards, which fit a phone better than a table."""
    st.subheader(_("Which models use which"), anchor=False)
    names, families = scaling_form.scheme_names(), alternatives.FAMILIES
    for start in range(0, len(families), 2):
        for column, family in zip(st.columns(2, gap="medium"), families[start : start + 2], strict=False):
            paper = f"[{family.paper}]({alternatives.PAPER}{family.number}) · " if family.paper else ""
            code = f"[{family.file.split('/')[-1]}]({alternatives.CODE}{family.file})"
            with column, st.container(border=True, gap="xxsmall", height="stretch"):
                st.markdown(f"**{_(family.models)}** · {names[family.alternative]}")
                st.markdown(f"`{_(family.how)}`")
                st.caption(f"{paper}{code}: `{family.setting}`")
