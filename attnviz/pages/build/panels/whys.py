"""Why Q, K and V, why softmax, why several heads: three questions, each answered by what is measured without them."""

import numpy as np
import streamlit as st

from attnviz.app import page_parts, show, widgets
from attnviz.app.exports import cell_columns
from attnviz.app.text import escape_markdown, quote_token
from attnviz.base.rounding import Rounded
from attnviz.base.words import _, join_list
from attnviz.figures.attention_figures import side_by_side
from attnviz.pages.build import choices, figures
from attnviz.pages.build.maths import attention_by_hand
from attnviz.pages.build.maths import whys as experiment
from attnviz.pages.build.panels import config_form

STAND_IN = ("the", "cat", "sat", "on", "the", "mat")  # for sentences too short to have two neighbours
WIDTH = 12  #: of the one head, or of several together
Normalised = dict[str, experiment.Measures]


def draw_fixed_mixing(result: attention_by_hand.Result) -> None:
    """Draw attention against a matrix that was learned for one sentence length."""
    head, tokens = config_form.current_view(result).head, result.q_words[0]
    st.markdown(
        _(
            "A fixed matrix **A** can mix words too: out = A V. Here least squares makes it copy head {h} "
            "(without mask and positions): one matrix learns this sentence by heart, another is learned from "
            "400 random sentences. Then the sentence changes."
        ).format(h=head + 1)
    )
    names = {"reversed": _("reversed"), "rotated": _("moved by one"), "swapped": _("first two swapped")}
    n = len(tokens)
    orders = {"reversed": tuple(range(n - 1, -1, -1)), "rotated": (*range(1, n), 0), "swapped": (1, 0, *range(2, n))}
    order = orders[widgets.select_one(choices.ORDER, _("Change the order"), names)]
    compared = experiment.compare_mixing(_mixing_config(result, head, order))
    _draw_errors(compared, tokens, order)
    page_parts.draw_columns(
        lambda: _draw_permuted_attention(compared, tokens, order),
        lambda: _parameters(compared, n),
        widths=[1.25, 1],
        gap="large",
    )


def _mixing_config(result: attention_by_hand.Result, head: int, order: tuple[int, ...]) -> experiment.MixingConfig:
    """The head on show, on the sentence's vectors without positions."""
    config, weights = result.config, result.weights
    kv, d, dv = config.layout.kv_head_of(head), config.d_head, config.d_value
    matrices = (
        result.tensors["E"][0],
        weights["W_Q"][:, head * d : (head + 1) * d],
        weights["W_K"][:, kv * d : (kv + 1) * d],
        weights["W_V"][:, kv * dv : (kv + 1) * dv],
    )
    x, w_q, w_k, w_v = (tuple(map(tuple, matrix.tolist())) for matrix in matrices)
    return experiment.MixingConfig(x, w_q, w_k, w_v, order)


def _draw_permuted_attention(
    compared: experiment.ComparedMixing, tokens: tuple[str, ...], order: tuple[int, ...]
) -> None:
    same, permuted = compared.cases[0].weights, compared.cases[1].weights
    cells = list(np.ndindex(same.shape))
    show.figure(
        show.chart_of(figures.before_and_after_order, same, permuted, tokens, [tokens[i] for i in order]),
        name="attention-follows-order",
        key="b_permuted",
        table={
            **cell_columns(tokens, tokens),
            "before": [float(same[q, k]) for q, k in cells],
            "after, old places": [float(permuted[order.index(q), order.index(k)]) for q, k in cells],
        },
        sentence=_(
            "Attention's pattern moves with the words: the same weights, in new places. The matrix A does not move."
        ),
    )


def _parameters(compared: experiment.ComparedMixing, here: int) -> None:
    attention, mixing = compared.attention_parameters, compared.matrix_parameters
    show.figure(
        show.chart_of(figures.parameter_curves, experiment.LENGTHS, attention, mixing, here),
        name="parameters-by-length",
        key="b_parameters",
        table={"words": experiment.LENGTHS, "attention": attention, "mixing matrix": mixing},
        sentence=_("At 4,096 words the matrix has {mixing} numbers to learn, attention still {attention}.").format(
            mixing=f"{mixing[-1]:,}", attention=f"{attention[-1]:,}"
        ),
    )


def _draw_errors(compared: experiment.ComparedMixing, tokens: tuple[str, ...], order: tuple[int, ...]) -> None:
    names = {
        "same": _("as it is"),
        "permuted": " ".join(tokens[i] for i in order),
        "other": _("another sentence, same length"),
        "longer": _("one word longer ({n})").format(n=len(tokens) + 1),
        "shorter": _("one word shorter ({n})").format(n=len(tokens) - 1),
    }
    no = _("✗ does not fit")
    lines = [
        {
            _("The sentence"): names[case.name],
            _("attention"): _("works")
            if case.equivariant is None
            else _("follows, exactly")
            if case.equivariant < 1e-9
            else _("off by {share}").format(share=f"{Rounded(case.equivariant):.0%}"),
            _("A by heart, off by"): no if case.memorised is None else f"{Rounded(case.memorised):.0%}",
            _("A of 400 sentences, off by"): no if case.learned is None else f"{Rounded(case.learned):.0%}",
        }
        for case in compared.cases
    ]
    show.draw_table(show.to_columns(lines))
    error = next((case.error for case in compared.cases if case.error), None)
    if error:
        st.caption(_("PyTorch on the longer sentence: {error}").format(error=escape_markdown(error)))


def draw_normalisers(result: attention_by_hand.Result) -> None:
    """Draw the scores of one query through six ways to make weights."""
    view = config_form.current_view(result)
    head, b = view.head, view.batch
    tokens = result.q_words[b]
    rows = result.tensors["biased" if "biased" in result.tensors else "scaled"][b, head]
    queries = {str(i): f"{i + 1} {escape_markdown(w)}" for i, w in enumerate(tokens)}
    # the query whose scores come nearest to cancelling out: where a plain sum does most harm
    most_mixed = (np.abs(rows.sum(-1)) / np.maximum(np.abs(rows).sum(-1), 1e-9)).argmin()
    i = int(widgets.select_one(choices.QUERY, _("Query"), queries, usual=str(most_mixed)))
    values = result.tensors["V"][b, result.config.layout.kv_head_of(head)]
    scores = rows[i].astype(float)
    compared = experiment.measure_normalisers(scores, values.astype(float))
    _bars(compared, scores, quote_token(tokens[i]), head, result.k_words[b])
    page_parts.draw_columns(lambda: _measures(compared), lambda: _growth(compared), widths=[1.2, 1], gap="large")


def _measures(compared: Normalised) -> None:
    names = _normaliser_names()
    lines = [
        {
            _("Weights by"): names[k],
            _("row sum"): f"{Rounded(m.weights.sum()):.2f}",
            _("smallest"): f"{Rounded(m.weights.min()):.2f}",
            _("gradient"): f"{Rounded(m.gradient):.2f}",
            _("shift"): f"{Rounded(m.shift):.2f}",
        }
        for k, m in compared.items()
    ]
    show.draw_table(show.to_columns(lines))
    st.caption(
        _(
            "Gradient: how strongly the output answers to the scores. It is {g} for softmax; argmax has "
            "none, so nothing could be learned through it. Shift: how far the output moves when all scores "
            "grow by 1. For softmax it does not move."
        ).format(g=f"{Rounded(compared['softmax'].gradient):.2f}")
    )


def _normaliser_names() -> dict[str, str]:
    return {
        "softmax": "softmax",
        "argmax": "argmax",
        "plain": _("plain scores"),
        "share": _("divided by sum"),
        "sigmoid": "sigmoid",
        "relu": "ReLU",
    }


def _bars(compared: Normalised, scores: np.ndarray, query: str, head: int, keys: tuple[str, ...]) -> None:
    names, share = _normaliser_names(), compared["share"].weights
    show.figure(
        show.chart_of(figures.normaliser_bars, {names[k]: m.weights for k, m in compared.items()}, keys),
        name="normalisers",
        key="b_normalisers",
        table={"key": list(keys), "score": scores.tolist()} | {k: m.weights.tolist() for k, m in compared.items()},
        sentence=_(
            "The scores of {query} in head {h}, before the mask, six ways: softmax's shares lie between 0 and 1 and "
            "sum to 1; divided by their plain sum, the same scores give shares from {low} to {high}."
        ).format(query=query, h=head + 1, low=f"{Rounded(share.min()):.0%}", high=f"{Rounded(share.max()):.0%}"),
    )


def _growth(compared: Normalised) -> None:
    names, plain_sums = _normaliser_names(), compared["plain"].growth
    show.figure(
        show.chart_of(figures.growth, experiment.COPIES, {names[k]: m.growth for k, m in compared.items()}),
        name="normaliser-growth",
        key="b_growth",
        table={"copies": experiment.COPIES} | {k: m.growth.tolist() for k, m in compared.items()},
        sentence=_(
            "With every key repeated {n} times, the output grows from {a} to {b} under plain sums and "
            "stays at {s} under softmax."
        ).format(
            n=experiment.COPIES[-1],
            a=f"{Rounded(plain_sums[0]):.1f}",
            b=f"{Rounded(plain_sums[-1]):.1f}",
            s=f"{Rounded(compared['softmax'].growth[-1]):.2f}",
        ),
    )


def draw_several_heads(result: attention_by_hand.Result) -> None:
    """Compare one head of width M with H heads of width M/H, on a pattern with H things to look at."""
    tokens = result.q_words[0] if len(result.q_words[0]) >= 5 else STAND_IN
    heads_at, share_at = st.columns(2, gap="large")
    with heads_at:
        counts = {n: n for n in choices.N_TARGETS.ids}
        heads = int(widgets.select_one(choices.N_TARGETS, _("Places that each word has to look at"), counts))
    with share_at:
        share = widgets.slider(choices.SHARE, _("Share of the single head's weight for the first"), step=0.05)
    measured = experiment.compare_heads(experiment.HeadsConfig(tokens, d_model=WIDTH, n_heads=heads, share=share))
    names = {
        -1: _("the word before"),
        1: _("the word after"),
        -2: _("the one before that"),
        2: _("the one after that"),
    }
    places = [names[offset] for offset in experiment.OFFSETS[:heads]]
    st.markdown(
        _(
            "Every word must collect {things}, each in columns of its own. One head of width {m} can only hand "
            "over a mixture, and no matrix after it can separate the parts: it loses **{one}** of the signal. "
            "{n} heads of width {d} lose **{many}**, with the same {p} weights."
        ).format(
            things=join_list(places),
            m=WIDTH,
            one=f"{Rounded(measured.blur_one.mean()):.0%}",
            many=f"{Rounded(measured.blur_heads.mean()):.0%}",
            n=heads,
            d=WIDTH // heads,
            p=measured.parameters,
        )
    )
    page_parts.draw_columns(
        lambda: _draw_heads(measured, tokens),
        lambda: _draw_blur(measured, places, share),
        widths=[1.5, 1],
        gap="large",
    )


def _draw_heads(measured: experiment.ComparedHeads, tokens: tuple[str, ...]) -> None:
    parts = [(_("one head"), measured.one_head)]
    parts += [(_("head {h}").format(h=h + 1), weights) for h, weights in enumerate(measured.heads[:2])]
    show.figure(
        show.chart_of(side_by_side, parts, tokens, tokens, repeat_rows=False),
        name="one-head-or-several",
        key="b_heads",
        table=cell_columns(tokens, tokens) | {name: weights.ravel().tolist() for name, weights in parts},
        sentence=_(
            "One softmax shares its 100% between the places; with a head for each, every place gets all of it. The "
            "sentence is read as a ring here, so that every word has neighbours: before the first word stands the last."
        ),
    )


def _draw_blur(measured: experiment.ComparedHeads, places: list[str], share: float) -> None:
    blur = measured.blur_by_share
    show.figure(
        show.chart_of(figures.blur_by_share, experiment.SHARES, blur, places, share),
        name="blur-by-share",
        key="b_blur",
        table={"share": experiment.SHARES.tolist()} | {name: blur[:, h].tolist() for h, name in enumerate(places)},
        sentence=_(
            "However the single head divides its weight, about {lost} of the signal is lost; "
            "only where it is lost changes."
        ).format(lost=f"{Rounded(float(np.median(blur.mean(1)))):.0%}"),
    )
