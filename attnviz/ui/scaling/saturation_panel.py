"""Section 2: softmax saturates. The bars under a moving d_k, and many rows measured over d_k."""

from __future__ import annotations

import streamlit as st

from attnviz.experiments.scaling import growing_width, saturation
from attnviz.ui.scaling import curves, hero, results, scaling_controls
from attnviz.ui.scaling.names import formula
from attnviz.words import _


def panel() -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        alternative, _parameter = scaling_controls.alternative()
        scaling_controls.number("d_k", "s_dk", 1)
        scaling_controls.number(_("Keys, n"), "s_keys", 1)
        scaling_controls.number(_("Seed"), "s_seed", 1)
    hero.bars("s_bars", alternative)
    row = results.one_query(chosen())
    hero.under("s_bars", row, _row_words(row))
    _formulas(row)
    _curves(row)


def chosen() -> growing_width.Config:
    """The row of bars as the controls have it, drawn or not."""
    alternative, parameter = scaling_controls.chosen_alternative()
    return growing_width.Config(
        scaling_controls.whole("s_dk"),
        scaling_controls.whole("s_keys"),
        scaling_controls.whole("s_seed"),
        alternative,
        parameter,
    )


def _row_words(result: growing_width.Result) -> str:
    config, raw, scaled = result.config, result.raw, result.scaled
    return _(
        "**Random, seed {seed}.** At d_k = {d_k} the raw row gives {raw:.1%} to one of {n} keys and is as spread as "
        "{raw_keys:,.1f} keys evenly; scaled, the largest weight is {scaled:.1%}, spread over {scaled_keys:,.1f}."
    ).format(
        seed=config.seed,
        d_k=config.d_k,
        n=config.n_keys,
        raw=raw.largest,
        raw_keys=raw.effective,
        scaled=scaled.largest,
        scaled_keys=scaled.effective,
    )


def _formulas(result: growing_width.Result) -> None:
    config = result.config
    for column, name, row in zip(
        st.columns(3),
        ("raw", "sqrt", config.alternative),
        (result.raw, result.scaled, result.alternative),
        strict=True,
    ):
        with column:
            largest = rf"\ \Rightarrow\ \max p = {row.largest:.4f}"
            st.latex(formula(name, config.d_k, config.n_keys, config.parameter) + largest)


def _curves(row: growing_width.Result) -> None:
    """Every measure over d_k: raw, scaled and the alternative."""
    found = curves.measured(row.config)
    st.subheader(_("The same for {rows} rows, at every d_k").format(rows=found.made["raw"].rows), anchor=False)
    st.caption(
        _(
            "Lines are medians, bands hold the middle 80% of rows, grey dashes are limits known without drawing. "
            "Past 2 ln n = {frozen:.3g} the variance of raw scores is enough for a handful of keys to hold all the "
            "weight, however many keys there are."
        ).format(frozen=saturation.limits(row.config.n_keys).frozen_at)
    )
    curves.grid(found)
