"""Section 3: what a layer shares between positions: parameters, mixing, and the blur of one head."""

import numpy as np
import streamlit as st

from attnviz.app import glossary_terms, page_parts, show, widgets
from attnviz.app.cache.shared_results import shared
from attnviz.app.panel import show_problems
from attnviz.base import units
from attnviz.base.words import _
from attnviz.pages.compare import choices, figures
from attnviz.pages.compare.maths import compared_layers, layer_costs, position_mixing
from attnviz.pages.compare.panels.cost_table import draw_size_boxes

BOX = 118  #: pixels of a number box

# computed once for all visitors with the same choices
compute_parameters = shared(compared_layers.run)
compute_mixing = shared(position_mixing.run)
compute_kernel_errors = shared(position_mixing.run_kernel)


def panel() -> None:
    main_picture = page_parts.main_picture()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        n_positions = widgets.number_box(choices.PLACES, _("places"), step=1, width=BOX)
        with page_parts.more_menu():
            seed = widgets.number_box(choices.INPUT_SEED, _("input’s seed"), step=1)
    with main_picture, show_problems():
        _draw_mixing(position_mixing.Config(n=n_positions, input_seed=seed))
    left, right = st.columns(2, gap="large")
    with left:
        parameters_slot = st.container()
        with page_parts.paired_columns("parameters"):
            n, d, k, heads = draw_size_boxes(("n", "d", "k", "heads")).values()
        config = layer_costs.Config(n, d, k, heads=heads)
    with parameters_slot, show_problems():
        _draw_parameters(compute_parameters(config))
    with right, show_problems():
        kernel = _draw_heads()
    with show_problems():
        if config.d % config.heads == 0:  # else the sentence above says what is wrong, and the program would fail
            show.program(
                position_mixing.program(config, kernel),
                "c-shared",
                about=_(
                    "Paste this code into a notebook: it prints the parameters of each layer, and what heads miss of a "
                    "convolution."
                ),
            )


def _draw_parameters(result: compared_layers.Result) -> None:
    names, config = figures.kind_names(), result.config
    st.subheader(_("Weights are shared between places"), anchor=False)
    st.markdown(_("So the number of parameters does not grow with the sequence, unless …"))
    show.figure(
        show.chart_of(
            figures.draw_curves,
            [figures.KindCurve(kind, names[kind], result.n, y) for kind, y in result.parameters.items()],
            _("Parameters of one layer"),
            _("tokens n"),
            here=config.n,
            height=380,
        ),
        name="parameters-by-length",
        key="c-parameters",
        table={"n": result.n, **result.parameters},
        sentence=_(
            "Attention has **{attention}** parameters at any length, an LSTM {lstm}, a convolution with kernel "
            "{k} has {conv}. "
            "With a matrix from every place to every place it would be {dense} at n = {n:,}."
        ).format(n=config.n, k=config.k, **{kind: units.format_count(count) for kind, count in result.here.items()}),
    )


def _draw_mixing(config: position_mixing.Config) -> None:
    st.markdown(_("**How places are mixed** is fixed in a convolution and computed from the input in attention."))
    n, mixing, names = config.n, compute_mixing(config), figures.kind_names()
    first_matrices, second_matrices = (
        [layer_mixing.first for layer_mixing in mixing.values()],
        [layer_mixing.second for layer_mixing in mixing.values()],
    )
    show.figure(
        show.chart_of(
            figures.draw_matrices,
            [names[kind] for kind in mixing],
            [(_("one input"), first_matrices), (_("another input"), second_matrices)],
        ),
        name="how-places-mix",
        key="c-mixing",
        table={
            "layer": [kind for kind in mixing for _cell in range(n * n)],
            "output": [i for _kind in mixing for i in range(n) for _j in range(n)],
            "input": [j for _kind in mixing for _i in range(n) for j in range(n)],
            "one input": np.concatenate(first_matrices, None).tolist(),
            "another input": np.concatenate(second_matrices, None).tolist(),
        },
        sentence=_(
            "How much output i (down) depends on input j (across), random weights. With another input attention’s "
            "matrix changes by **{attention:.0%}**, the LSTM’s by {lstm:.0%}, the convolution’s by **{conv:.0%}**. "
            "Along its diagonals attention’s differs by {uneven:.0%}, the convolution’s by {even:.0%}."
        ).format(
            attention=mixing["attention"].input_change,
            lstm=mixing["lstm"].input_change,
            conv=mixing["conv"].input_change,
            uneven=mixing["attention"].unevenness,
            even=mixing["conv"].unevenness,
        ),
    )


def _draw_heads() -> position_mixing.KernelConfig:
    st.subheader(_("Where attention blurs, and heads help"), anchor=False)
    st.markdown(
        _(
            "A convolution sends each of its k places through a matrix of its own. One head averages the places and "
            "sends the average through one matrix: what it has averaged it cannot tell apart again. Several heads "
            "can, one place each."
        )
    )
    chart_slot = st.container()
    k = widgets.number_box(choices.KERNEL, _("places k"), step=1, width=BOX)
    config = position_mixing.KernelConfig(k=k)
    result = compute_kernel_errors(config)
    with chart_slot:
        show.figure(
            show.chart_of(
                figures.approximation_error,
                result.heads,
                [
                    (_("the best that so many heads can do"), result.best),
                    (_("each head looks at one place"), result.pointing),
                ],
                result.average,
            ),
            name=f"heads-for-a-kernel-of-{k}",
            key="c-heads",
            table={"heads": result.heads, "best": result.best, "pointing": result.pointing},
            sentence=_(
                "One head that looks at its {k} places evenly misses **{average:.0%}** of a random convolution, the "
                "best single head {best:.0%}; with {k} heads, one for each place, **{last:.0%}** is missing."
            ).format(k=k, average=result.average, best=result.best[0], last=result.pointing[-1]),
        )
    if st.button(_("Try it on Build: why several heads?"), icon=":material/calculate:", key="c_to_build"):
        glossary_terms.open_example("build", {"b_ask": "heads"})
    return config
