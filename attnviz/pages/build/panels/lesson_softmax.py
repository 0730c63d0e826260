"""Why softmax: the same scores through six ways to make weights."""

from __future__ import annotations

import numpy as np
import streamlit as st

from attnviz.app import show, widgets
from attnviz.app.cache.kept_charts import chart_of
from attnviz.app.text import plain, quoted
from attnviz.base.words import _
from attnviz.pages.build import choices, figures
from attnviz.pages.build.maths import attention_by_hand, normalisers
from attnviz.pages.build.panels import config_form

Compared = dict[str, normalisers.Measures]


def panel(result: attention_by_hand.Result) -> None:
    """Draw the scores of one query through six ways to make weights."""
    head, b = config_form.shown(result)
    words = result.q_words[b]
    rows = result.tensors["biased" if "biased" in result.tensors else "scaled"][b, head]
    queries = {str(i): f"{i + 1} {plain(w)}" for i, w in enumerate(words)}
    i = int(widgets.one_of(choices.QUERY, _("Query"), queries, usual=str(_most_mixed(rows))))
    values = result.tensors["V"][b, result.config.layout.kv_head_of(head)]
    scores = rows[i].astype(float)
    compared = normalisers.run(scores, values.astype(float))
    _bars(compared, scores, quoted(words[i]), head, result.k_words[b])
    left, right = st.columns([1.2, 1], gap="large")
    with left:
        st.dataframe(_measured(compared), hide_index=True, width="stretch")
        st.caption(
            _(
                "Gradient: how strongly the output answers to the scores. It is {g} for softmax; argmax has "
                "none, so nothing could be learned through it. Shift: how far the output moves when all scores "
                "grow by 1. For softmax it does not move."
            ).format(g=f"{compared['softmax'].gradient:.2f}")
        )
    with right:
        _growth(compared)


def _names() -> dict[str, str]:
    """Id to words for the six ways."""
    return {
        "softmax": "softmax",
        "argmax": "argmax",
        "plain": _("plain scores"),
        "share": _("divided by sum"),
        "sigmoid": "sigmoid",
        "relu": "ReLU",
    }


def _bars(compared: Compared, scores: np.ndarray, query: str, head: int, keys: tuple[str, ...]) -> None:
    """Draw six sets of weights made from the same scores."""
    names, share = _names(), compared["share"].weights
    weights = {name: m.weights.tolist() for name, m in compared.items()}
    show.figure(
        chart_of(figures.normaliser_bars, {names[k]: m.weights for k, m in compared.items()}, keys),
        name="normalisers",
        key="b_normalisers",
        table={"key": list(keys), "score": scores.tolist()} | weights,
        words=_(
            "The scores of {query} in head {h}, before the mask, six ways: softmax's shares lie between 0 and 1 and "
            "sum to 1; divided by their plain sum, the same scores give shares from {low} to {high}."
        ).format(query=query, h=head + 1, low=f"{share.min():.0%}", high=f"{share.max():.0%}"),
    )


def _growth(compared: Compared) -> None:
    """Draw how the length of the output changes as the same keys are repeated."""
    names, plain_sums = _names(), compared["plain"].growth
    show.figure(
        chart_of(figures.growth, normalisers.COPIES, {names[k]: m.growth for k, m in compared.items()}),
        name="normaliser-growth",
        key="b_growth",
        table={"copies": normalisers.COPIES} | {k: m.growth.tolist() for k, m in compared.items()},
        words=_(
            "With every key repeated {n} times, the output grows from {a} to {b} under plain sums and "
            "stays at {s} under softmax."
        ).format(
            n=normalisers.COPIES[-1],
            a=f"{plain_sums[0]:.1f}",
            b=f"{plain_sums[-1]:.1f}",
            s=f"{compared['softmax'].growth[-1]:.2f}",
        ),
    )


def _most_mixed(rows: np.ndarray) -> int:
    """The query whose scores come nearest to cancelling out: where a plain sum does most harm."""
    return int((np.abs(rows.sum(-1)) / np.maximum(np.abs(rows).sum(-1), 1e-9)).argmin())


def _measured(compared: Compared) -> list[dict[str, object]]:
    return [
        {
            _("Weights by"): _names()[k],
            _("row sum"): f"{m.row_sum:.2f}",
            _("smallest"): f"{m.smallest:.2f}",
            _("gradient"): f"{m.gradient:.2f}",
            _("shift"): f"{m.shift:.2f}",
        }
        for k, m in compared.items()
    ]
