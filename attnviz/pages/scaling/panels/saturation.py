"""Section 2: softmax saturates. One row of weights as d_k moves, and many rows measured over d_k."""

from __future__ import annotations

import streamlit as st

from attnviz.app import widgets
from attnviz.base.words import _
from attnviz.pages.scaling import choices
from attnviz.pages.scaling.maths import growing_width, programs, saturation
from attnviz.pages.scaling.panels import curves, results, scaling_form
from attnviz.pages.scaling.panels.results import formula


def panel() -> str:
    """Draw the section; the program that prints its numbers."""
    config = scaling_form.one_query(scaling_form.beside)
    results.bars("s_bars", config)
    row = results.one_query(config)
    results.under("s_bars", row, _row_words(row))
    _formulas(row)
    _curves(row)
    return programs.of_saturation(config)


def _row_words(result: growing_width.Result) -> str:
    config, raw, scaled = result.config, result.raw, result.scaled
    return _(
        "**Random, seed {seed}.** At d_k = {d_k} the raw row gives {raw:.1%} to one of {n} keys and is as "
        "spread as {raw_keys:,.1f} equal keys; scaled, the largest weight is {scaled:.1%} and the row as "
        "spread as {scaled_keys:,.1f} keys."
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
    rows = {"raw": result.raw, "sqrt": result.scaled, config.alternative: result.alternative}
    for column, (name, row) in zip(st.columns(len(rows)), rows.items(), strict=True):
        with column:
            said = formula(name, config.d_k, config.n_keys, config.parameter)
            st.latex(rf"\begin{{gathered}} {said} \\ \max p = {row.largest:.4f} \end{{gathered}}")


def _curves(row: growing_width.Result) -> None:
    """Draw every measure over d_k: raw, scaled and the alternative."""
    found = curves.measured(row.config)
    st.subheader(_("The same for {rows} rows, at every d_k").format(rows=found.made["raw"].rows), anchor=False)
    st.caption(
        _(
            "Lines are medians, bands hold the middle 80% of rows, grey dashes are limits known from theory. "
            "For many keys theory says: past d_k = 2 ln n, which is {frozen:.3g} here, raw scores vary so much that a "
            "handful of keys hold all the weight."
        ).format(frozen=saturation.limits(row.config.n_keys).frozen_at)
    )
    curves.draw(found, curves.FIRST)
    box = widgets.expander(choices.MORE, _("Five more measures"), icon=":material/stacked_line_chart:")
    if box.open:
        with box:
            curves.draw(found, curves.MORE)
