"""Section 3: the gradient vanishes. The softmax Jacobian of section 2's row, raw and scaled."""

from __future__ import annotations

import streamlit as st

from attnviz.app import show, widgets
from attnviz.app.cache.kept_charts import chart_of
from attnviz.app.show import formulas
from attnviz.base.words import _
from attnviz.figures.theme import RAW, SCALED
from attnviz.pages.scaling import choices
from attnviz.pages.scaling.figures import bars as figures
from attnviz.pages.scaling.maths import growing_width, jacobian, programs
from attnviz.pages.scaling.panels import results, scaling_form


def panel() -> str:
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
