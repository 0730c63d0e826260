"""Section 2: softmax saturates. One row of weights as d_k moves, and many rows measured over d_k."""

from __future__ import annotations

import streamlit as st

from attnviz.app import show, widgets
from attnviz.app.cache.kept_charts import chart_of
from attnviz.app.show import formulas
from attnviz.base.words import _
from attnviz.figures.theme import RAW, SCALED
from attnviz.pages.scaling import choices
from attnviz.pages.scaling.figures import bars as figures
from attnviz.pages.scaling.maths import growing_width, jacobian, programs, saturation
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


# Section 3: the gradient vanishes. The softmax Jacobian of section 2's row, raw and scaled.
def gradient_panel() -> str:
    """Draw the section; the program that prints its numbers."""
    d_k = scaling_form.width()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        n_keys = scaling_form.number(choices.KEYS, _("Keys, n"), 1)
        seed = scaling_form.number(choices.SEED, _("Seed"), 1)
        own = widgets.toggle(choices.OWN_COLOURS, _("Colours up to each picture's own largest value"))
    config = growing_width.Config(d_k, n_keys, seed, *scaling_form.chosen_alternative())
    raw, scaled = results.jacobians(config)
    formulas(
        r"J = \frac{\partial p}{\partial z} = \mathrm{diag}(p) - p\,p^{\mathsf T}",
        rf"\|J\|_{{\text{{raw}}}} = {raw.norm:.4f}",
        rf"\|J\|_{{\text{{scaled}}}} = {scaled.norm:.4f}",
    )
    for column, name, title, result in zip(
        st.columns(2, gap="medium"), ("raw", "scaled"), (_("Raw"), _("Scaled")), (raw, scaled), strict=True
    ):
        with column:
            _heatmap(name, title, result, config.d_k, own)
    if len(raw.keys) < config.n_keys:
        st.caption(
            _("Shown are the {m} of {n} keys with the largest weights.").format(m=len(raw.keys), n=config.n_keys)
        )
    _spectrum(raw, scaled, config.d_k, config.n_keys)
    return programs.of_gradient(config)


def _heatmap(name: str, title: str, result: jacobian.Result, d_k: int, own: bool) -> None:
    fig = chart_of(figures.jacobian, result.matrix, [int(k) + 1 for k in result.keys], title, full_range=not own)
    words = _(
        "{title}: norm {norm:.4f}. The largest entry on the diagonal, how fast a weight grows with its own "
        "logit, is {top:.4f}. Autograd gives the same matrix to {difference:.1g}."
    ).format(title=title, norm=result.norm, top=float(result.matrix.diagonal().max()), difference=result.difference)
    table = {f"logit_{int(k) + 1}": result.matrix[:, i] for i, k in enumerate(result.keys)}
    show.figure(fig, name=f"jacobian-{name}-dk{d_k}", key=f"s_jacobian_{name}", table=table, caption=words, words=words)


def _spectrum(raw: jacobian.Result, scaled: jacobian.Result, d_k: int, n: int) -> None:
    fig = chart_of(figures.eigenvalues, [(_("raw"), RAW, raw.eigenvalues), (_("scaled"), SCALED, scaled.eigenvalues)])
    ratio = scaled.largest / raw.largest if raw.largest > 0 else float("inf")
    words = _(
        "The largest eigenvalue is {raw:.2g} raw and {scaled:.2g} scaled: the most that softmax can pass on "
        "differs by a factor of {ratio:.3g}. One of the {n} eigenvalues is always 0: adding the same number to "
        "all logits changes no weight."
    ).format(raw=raw.largest, scaled=scaled.largest, ratio=ratio, n=n)
    table = {"rank": range(1, len(raw.eigenvalues) + 1), "raw": raw.eigenvalues, "scaled": scaled.eigenvalues}
    show.figure(fig, name=f"eigenvalues-dk{d_k}", key="s_spectrum", table=table, caption=words, words=words)
