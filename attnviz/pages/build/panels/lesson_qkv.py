"""Why Q, K and V: attention against a learned mixing matrix, on a sentence that changes."""

from __future__ import annotations

import numpy as np
import streamlit as st

from attnviz.app import show, widgets
from attnviz.app.cache.kept_charts import chart_of
from attnviz.app.text import plain
from attnviz.base.words import _
from attnviz.figures.attention_figures import side_by_side
from attnviz.figures.heatmap import label
from attnviz.pages.build import choices, figures
from attnviz.pages.build.maths import attention_by_hand, mixing_matrix
from attnviz.pages.build.panels import config_form


def panel(result: attention_by_hand.Result) -> None:
    """Draw attention against a matrix that was learned for one sentence length."""
    (head, _sentence), words = config_form.shown(result), result.q_words[0]
    st.markdown(
        _(
            "A fixed matrix **A** can mix words too: out = A V. Here least squares makes it copy head {h} "
            "(without mask and positions): one matrix learns this sentence by heart, another is learned from "
            "400 random sentences. Then the sentence changes."
        ).format(h=head + 1)
    )
    orders = {"reversed": _("reversed"), "rotated": _("moved by one"), "swapped": _("first two swapped")}
    order = _order(widgets.one_of(choices.ORDER, _("Change the order"), orders), len(words))
    compared = mixing_matrix.run(_config(result, head, order))
    _adapts(compared, words, order)
    left, right = st.columns([1.25, 1], gap="large")
    with left:
        _patterns(compared, words, order)
    with right:
        _parameters(compared, len(words))


def _config(result: attention_by_hand.Result, head: int, order: tuple[int, ...]) -> mixing_matrix.Config:
    """The head on show, on the sentence's vectors without positions."""
    config, weights = result.config, result.weights
    kv, d, dv = config.layout.kv_head_of(head), config.d_head, config.d_value
    matrices = (
        result.tensors["E"][0],
        weights["W_Q"][:, head * d : (head + 1) * d],
        weights["W_K"][:, kv * d : (kv + 1) * d],
        weights["W_V"][:, kv * dv : (kv + 1) * dv],
    )
    return mixing_matrix.Config(*(tuple(map(tuple, matrix.tolist())) for matrix in matrices), order)


def _patterns(compared: mixing_matrix.Result, words: tuple[str, ...], order: tuple[int, ...]) -> None:
    """Draw attention before and after the change of order."""
    same, moved = compared.cases[0].weights, compared.cases[1].weights
    fig = chart_of(side_by_side, [(_("attention"), same), (_("after the change"), moved)], words, words)
    new_order = [label(words[i], 8) for i in order]
    fig.update_xaxes(ticktext=new_order, col=2, row=1)
    fig.update_yaxes(ticktext=new_order, col=2, row=1)
    at = list(np.ndindex(same.shape))
    show.figure(
        fig,
        name="attention-follows-order",
        key="b_permuted",
        table={
            "query": [words[q] for q, _k in at],
            "key": [words[k] for _q, k in at],
            "before": [float(same[q, k]) for q, k in at],
            "after, old places": [float(moved[order.index(q), order.index(k)]) for q, k in at],
        },
        words=_(
            "Attention's pattern moves with the words: the same weights, in new places. The matrix A does not move."
        ),
    )


def _parameters(compared: mixing_matrix.Result, here: int) -> None:
    """Draw how many numbers each has to learn as sentences grow."""
    attention, mixing = compared.attention_parameters, compared.matrix_parameters
    show.figure(
        chart_of(figures.parameter_curves, mixing_matrix.LENGTHS, attention, mixing, here),
        name="parameters-by-length",
        key="b_parameters",
        table={"words": mixing_matrix.LENGTHS, "attention": attention, "mixing matrix": mixing},
        words=_("At 4,096 words the matrix has {mixing} numbers to learn, attention still {attention}.").format(
            mixing=f"{mixing[-1]:,}", attention=f"{attention[-1]:,}"
        ),
    )


def _order(name: str, n: int) -> tuple[int, ...]:
    return {"reversed": tuple(range(n - 1, -1, -1)), "rotated": (*range(1, n), 0)}.get(name, (1, 0, *range(2, n)))


def _adapts(compared: mixing_matrix.Result, words: tuple[str, ...], order: tuple[int, ...]) -> None:
    """Draw a table with a row for each change: how far each matrix is from attention's output."""
    names = {
        "same": _("as it is"),
        "permuted": " ".join(words[i] for i in order),
        "other": _("another sentence, same length"),
        "longer": _("one word longer ({n})").format(n=len(words) + 1),
        "shorter": _("one word shorter ({n})").format(n=len(words) - 1),
    }
    no = _("✗ does not fit")
    lines = [
        {
            _("The sentence"): names[case.name],
            _("attention"): _("works") if case.equivariant is None else _follows(case.equivariant),
            _("A by heart, off by"): no if case.memorised is None else f"{case.memorised:.0%}",
            _("A of 400 sentences, off by"): no if case.learned is None else f"{case.learned:.0%}",
        }
        for case in compared.cases
    ]
    st.dataframe(lines, hide_index=True, width="stretch")
    error = next((case.error for case in compared.cases if case.error), None)
    if error:
        st.caption(_("PyTorch on the longer sentence: {error}").format(error=plain(error)))


def _follows(error: float) -> str:
    return _("follows, exactly") if error < 1e-9 else _("off by {share}").format(share=f"{error:.0%}")
