"""Section 4: what each layer shares between places: parameters by length, how it mixes, and what one head blurs."""

from __future__ import annotations

import streamlit as st

from attnviz.app import show
from attnviz.app.cache.kept_charts import chart_of
from attnviz.app.code_snippet import snippet
from attnviz.app.guarding import guard
from attnviz.app.links import link_state
from attnviz.app.page_entry import file_of
from attnviz.app.widgets import number
from attnviz.base import units
from attnviz.base.words import _
from attnviz.pages.compare import choices as compare_choices
from attnviz.pages.compare import figures
from attnviz.pages.compare.figures import KindCurve
from attnviz.pages.compare.maths import (
    compare_snippets,
    heads_as_kernel,
    layer_costs,
    position_mixing,
    shared_parameters,
)
from attnviz.pages.compare.panels import compare_results
from attnviz.pages.compare.panels.compare_results import kind_names
from attnviz.pages.compare.panels.cost_table import sizes

BOX = 118  #: pixels of a number box


def panel() -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        asked = sizes(("n", "d", "k", "heads"))
    config = layer_costs.Config(asked["n"], asked["d"], asked["k"], heads=asked["heads"])
    left, right = st.columns([1, 1.15], gap="medium")
    with left, guard():
        _parameters(compare_results.parameters(config))
    with right, guard():
        mixed = _mixing_controls()
        _mixing(compare_results.mixing(mixed))
    with guard():
        kernel = _heads()
        if config.d % config.heads == 0:  # else the sentence above says what is wrong, and the program would fail
            about = _(
                "Paste this code into a notebook: it prints the parameters of each layer, and what heads miss of a "
                "convolution."
            )
            snippet(compare_snippets.shared(config, kernel), "c-shared", about=about)


def _parameters(result: shared_parameters.Result) -> None:
    names, config = kind_names(), result.config
    st.markdown(_("**Weights are shared between places.** So parameters do not grow with the sequence, unless …"))
    curves = [KindCurve(kind, names[kind], result.n, y) for kind, y in result.parameters.items()]
    fig = chart_of(figures.over, curves, _("Parameters of one layer"), _("tokens n"), here=config.n, height=430)
    said = _(
        "Attention has **{attention}** parameters at any length, an LSTM {lstm}, a convolution with kernel "
        "{k} has {conv}. "
        "With a matrix from every place to every place it would be {dense} at n = {n:,}."
    )
    here = {kind: units.many(count) for kind, count in result.here.items()}
    words = said.format(n=config.n, k=config.k, **{kind: here[kind] for kind in ("attention", "lstm", "conv", "dense")})
    table = {"n": result.n, **result.parameters}
    show.figure(fig, name="parameters-by-length", key="c-parameters", table=table, words=words)


def _mixing_controls() -> position_mixing.Config:
    st.markdown(_("**How places are mixed** is fixed in a convolution and computed from the input in attention."))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        n = number(compare_choices.PLACES, _("places"), step=1, width=BOX)
        seed = number(compare_choices.INPUT_SEED, _("input’s seed"), step=1, width=BOX)
    return position_mixing.Config(n=n, input_seed=seed)


def _mixing(result: position_mixing.Result) -> None:
    names = kind_names()
    kinds = position_mixing.KINDS
    rows = [
        (_("one input"), [result.mixing[kind].first for kind in kinds]),
        (_("another input"), [result.mixing[kind].second for kind in kinds]),
    ]
    fig = chart_of(figures.matrices, [names[kind] for kind in kinds], rows, height=400)
    moved = {kind: result.mixing[kind].moved for kind in kinds}
    uneven = {kind: result.mixing[kind].uneven for kind in kinds}
    said = _(
        "How much output i (down) depends on input j (across), random weights. With another input attention’s matrix "
        "changes by **{attention:.0%}**, the LSTM’s by {lstm:.0%}, the convolution’s by **{conv:.0%}**. Along its "
        "diagonals attention’s differs by {uneven:.0%}, the convolution’s by {even:.0%}."
    )
    words = said.format(
        attention=moved["attention"],
        lstm=moved["lstm"],
        conv=moved["conv"],
        uneven=uneven["attention"],
        even=uneven["conv"],
    )
    n = result.config.n
    table = {
        "layer": [kind for kind in kinds for _cell in range(n * n)],
        "output": [i for _kind in kinds for i in range(n) for _j in range(n)],
        "input": [j for _kind in kinds for _i in range(n) for j in range(n)],
        "one input": [float(v) for kind in kinds for v in result.mixing[kind].first.flat],
        "another input": [float(v) for kind in kinds for v in result.mixing[kind].second.flat],
    }
    show.figure(fig, name="how-places-mix", key="c-mixing", table=table, words=words)


def _heads() -> heads_as_kernel.Config:
    st.subheader(_("Where attention blurs, and heads help"), anchor=False)
    st.markdown(
        _(
            "A convolution sends each of its k places through a matrix of its own. One head averages the places and "
            "sends the average through one matrix: what it averages it cannot tell apart again. Several heads can, "
            "one place each."
        )
    )
    k = number(compare_choices.KERNEL, _("places k"), step=1, width=BOX)
    config = heads_as_kernel.Config(k=k)
    result = compare_results.kernel(config)
    lines = [
        (_("best that so many heads can do"), result.best),
        (_("each head looks at one place"), result.pointing),
    ]
    fig = chart_of(figures.missing, result.heads, lines, result.average, 0)
    said = _(
        "One head that looks at all {k} places evenly misses **{average:.0%}** of a random convolution, the best "
        "single head {best:.0%}; with {k} heads, one for each place, **{last:.0%}** is missing."
    )
    words = said.format(k=k, average=result.average, best=result.best[0], last=result.pointing[-1])
    table = {"heads": result.heads, "best": result.best, "pointing": result.pointing}
    show.figure(fig, name=f"heads-for-a-kernel-of-{k}", key="c-heads", table=table, words=words)
    if st.button(_("Try it on Build: why several heads?"), icon=":material/calculate:", key="c_to_build"):
        link_state.keep_named("build", {"b_ask": "heads"})
        st.switch_page(file_of("build"))
    return config
