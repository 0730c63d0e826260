"""Results shared by all visitors: each configuration is computed once, and only so many are kept."""

from __future__ import annotations

from typing import Any

import streamlit as st

from attnviz.app import show
from attnviz.app.cache.bounded_cache import BoundedCache
from attnviz.app.links import link_state
from attnviz.app.links.choices import Choice
from attnviz.base.words import _
from attnviz.canvas import softmax_slider
from attnviz.figures.theme import ALTERNATIVE, K_VERMILION, Q_BLUE, RAW, SCALED
from attnviz.pages.scaling import choices
from attnviz.pages.scaling.figures.bars import rows_of_bars
from attnviz.pages.scaling.maths import (
    alternatives,
    growing_width,
    jacobian,
    length,
    retrieval_training,
    saturation,
    variance,
)

#: The variance over as many pairs as can be drawn without making the visitor wait.
variance_at_once = st.cache_resource(max_entries=64, show_spinner=False)(variance.first)
growth = st.cache_resource(max_entries=32, show_spinner=False)(variance.growth)
#: The random queries and keys: up to 70 MB each, so only a few are kept.
vectors = st.cache_resource(max_entries=3, show_spinner=False)(growing_width.draw)


@st.cache_resource(max_entries=16, show_spinner=False)
def film(n_keys: int, seed: int, also: int) -> growing_width.Film:
    on_grid = also in growing_width.film_grid(n_keys)
    if on_grid and also != 1:
        return film(n_keys, seed, 1)
    return growing_width.film(n_keys, seed, also, vectors(n_keys, seed))


@st.cache_resource(max_entries=128, show_spinner=False)
def one_query(config: growing_width.Config) -> growing_width.Result:
    return growing_width.run(config, vectors(config.n_keys, config.seed))


@st.cache_resource(max_entries=128, show_spinner=False)
def curves(config: saturation.Config) -> saturation.Result:
    return saturation.run(config, vectors(config.n_keys, config.seed))


lengths = st.cache_resource(max_entries=64, show_spinner=False)(length.run)


@st.cache_resource(max_entries=64, show_spinner=False)
def jacobians(config: growing_width.Config) -> tuple[jacobian.Result, jacobian.Result]:
    """The softmax Jacobians of the raw and of the scaled row."""
    rows = one_query(config)
    return jacobian.run(rows.raw.logits), jacobian.run(rows.scaled.logits)


@st.cache_resource(show_spinner=False)
def all_pairs() -> BoundedCache[variance.Result]:
    """Complete results of section 1 that took more than one block."""
    return BoundedCache(64, lambda _: 1)


@st.cache_resource(show_spinner=False)
def trained() -> BoundedCache[retrieval_training.Result]:
    """Training runs that were not stopped."""
    return BoundedCache(64, lambda _: 1)


Q = rf"\textcolor{{{Q_BLUE}}}{{q}}"
K = rf"\textcolor{{{K_VERMILION}}}{{k}}"
COLOURS = {"raw": RAW, "sqrt": SCALED}


def colour(name: str) -> str:
    """The line colour of raw, scaled, or whichever alternative is chosen."""
    return COLOURS.get(name, ALTERNATIVE)


def alternative_names() -> dict[str, str]:
    """Id to words, for raw, scaled and every alternative."""
    return {
        "raw": _("raw"),
        "sqrt": _("scaled"),
        "temperature": _("temperature"),
        "inverse": _("1/d_k"),
        "qk-norm": _("QK-norm, learned scale"),
        "softcap": _("soft-cap"),
        "log-n": _("log n, length-aware"),
        "sink": _("sink"),
    }


def plain_formula(name: str) -> str:
    """The argument of softmax under an alternative, as one line of text."""
    return {
        "raw": "q·k",
        "sqrt": "q·k / √d_k",
        "temperature": "q·k / (√d_k T)",
        "inverse": "a q·k / d_k",
        "qk-norm": "g cos(q, k)",
        "softcap": "c tanh(q·k / (√d_k c))",
        "log-n": "ln n / ln N × q·k / √d_k",
        "sink": "q·k / √d_k, b",
    }[name]


def formula(name: str, d_k: int, n_keys: int, parameter: float) -> str:
    """Softmax under an alternative as LaTeX, with the numbers of the current choices."""
    dot, root, p = f"{Q}\\cdot {K}", rf"\sqrt{{{d_k}}}", f"{parameter:.4g}"
    return {
        "raw": rf"\mathrm{{softmax}}({dot})",
        "sqrt": rf"\mathrm{{softmax}}\left(\frac{{{dot}}}{{{root}}}\right)",
        "temperature": rf"\mathrm{{softmax}}\left(\frac{{{dot}}}{{{root}\cdot {p}}}\right)",
        "inverse": rf"\mathrm{{softmax}}\left(\frac{{{p}\,{dot}}}{{{d_k}}}\right)",
        "qk-norm": rf"\mathrm{{softmax}}\left({p}\,\frac{{{dot}}}{{|{Q}||{K}|}}\right)",
        "softcap": rf"\mathrm{{softmax}}\left({p}\tanh\frac{{{dot}}}{{{root}\cdot {p}}}\right)",
        "log-n": rf"\mathrm{{softmax}}\left(\frac{{\ln {n_keys}}}{{\ln {p}}}\,\frac{{{dot}}}{{{root}}}\right)",
        "sink": rf"\mathrm{{softmax}}\left(\left[\frac{{{dot}}}{{{root}}},\ {p}\right]\right)",
    }[name]


def letter(name: str) -> str:
    """The letter of an alternative's parameter; empty where it has none."""
    return alternatives.ALTERNATIVES[name].parameter or ""


def distribution_names() -> dict[str, str]:
    """Id to words, for every distribution of the components of q and k."""
    return {
        "normal": _("normal"),
        "uniform": _("uniform"),
        "rademacher": _("Rademacher, ±1"),
        "heavy-tailed": _("heavy-tailed, t with 4 degrees of freedom"),
        "correlated": _("correlated q and k"),
        "shifted": _("mean not zero"),
    }


def bars(key: str, config: growing_width.Config) -> None:
    """Draw the rows of bars, two where the alternative is scaling itself. A slider that is let go keeps its value."""
    d_k, n_keys, seed, alternative = config.d_k, config.n_keys, config.seed, config.alternative
    drawn = film(n_keys, seed, d_k)
    names = alternative_names()
    panels = [
        softmax_slider.Panel(name, names[name], plain_formula(name), colour(name))
        for name in dict.fromkeys(("raw", "sqrt", alternative))
    ]

    def let_go(pick: softmax_slider.Picked) -> None:
        picked: dict[Choice[Any], Any] = {choices.D_K: pick.d_k}
        if alternative in choices.PARAMETERS:
            picked[choices.PARAMETERS[alternative]] = pick.parameter
        link_state.put_all(picked)

    softmax_slider.softmax_slider(
        key,
        drawn.d_k,
        drawn.scores,
        panels,
        at=d_k,
        cosines=drawn.cosines if alternative == "qk-norm" else None,
        parameter=slider(alternative, config.parameter),
        about=alternative,
        on_pick=let_go,
    )


def under(key: str, row: growing_width.Result, words: str) -> None:
    """Draw the sentence and the export below the bars, for the value at which the slider was released."""
    names = alternative_names()
    config = row.config
    drawn = {"raw": row.raw, "sqrt": row.scaled, config.alternative: row.alternative}
    fig = rows_of_bars([(names[name], colour(name), one.weights) for name, one in drawn.items()])
    table: dict[str, Any] = {"key": range(1, config.n_keys + 1)}
    for name, one in drawn.items():
        table |= {f"{name}_logit": one.logits, f"{name}_weight": one.weights}
    show.under(fig, name=f"weights-dk{config.d_k}", key=key + "_picture", table=table, caption=words, words=words)


def slider(alternative: str, value: float) -> softmax_slider.SliderParameter | None:
    """The slider for the alternative's parameter; None if it has none."""
    one = alternatives.ALTERNATIVES[alternative]
    if not one.parameter:
        return None
    return softmax_slider.SliderParameter(letter(alternative), value, one.low, one.high, linear=one.low < 0)
