"""Why Q, K and V; why softmax; why several heads: three experiments on the visitor's own sentence."""

from __future__ import annotations

import numpy as np
import streamlit as st

from attnviz.experiments import many_heads, mixing_matrix, normalisers
from attnviz.experiments.build_attention import Result
from attnviz.figures import build as figures
from attnviz.ui import show
from attnviz.ui.build import place
from attnviz.ui.controls import choice
from attnviz.ui.text import plain, quoted
from attnviz.words import _


def why_qkv(result: Result) -> None:
    """Attention against a matrix learned for one length."""
    config, head = result.config, _head(result)
    kv, d, dv = config.layout.kv_head_of(head), config.d_head, config.d_value
    x = result.tensors["E"][0]
    words = result.q_words[0]
    st.markdown(
        _(
            "A fixed matrix **A** can mix words too: out = A V. It is learned here by "
            "least squares to copy head {h}, once "
            "by heart on this sentence and once on 400 random ones. Then the sentence changes."
        ).format(h=head + 1)
    )
    orders = {"reversed": _("reversed"), "rotated": _("moved by one"), "swapped": _("first two swapped")}
    order_name = choice(_("Change the order"), orders, "b_order")
    order = _order(order_name, len(words))
    found = mixing_matrix.run(
        mixing_matrix.Config(
            _rows(x),
            _rows(result.weights["W_Q"][:, head * d : (head + 1) * d]),
            _rows(result.weights["W_K"][:, kv * d : (kv + 1) * d]),
            _rows(result.weights["W_V"][:, kv * dv : (kv + 1) * dv]),
            order,
        )
    )
    _adapts(found, words, order)
    left, right = st.columns([1.25, 1], gap="large")
    with left:
        same, moved = found.cases[0].weights, found.cases[1].weights
        new = [words[i] for i in order]
        fig = figures.side_by_side([(_("attention"), same), (_("after the change"), moved)], words, words)
        _ticks_of(fig, new)
        show.figure(
            fig,
            name="attention-follows-order",
            key="b_permuted",
            table={"query": [w for w in words for _k in words], "weight": same.ravel().tolist()},
            words=_("Attention's pattern moves with the words: the same weights, in new places. A stays where it was."),
        )
    with right:
        fig = figures.parameter_curves(found.lengths, found.attention_parameters, found.matrix_parameters, len(words))
        show.figure(
            fig,
            name="parameters-by-length",
            key="b_parameters",
            table={
                "words": found.lengths,
                "attention": found.attention_parameters,
                "mixing matrix": found.matrix_parameters,
            },
            words=_("At 4,096 words the matrix has {mixing} numbers to learn, attention still {attention}.").format(
                mixing=f"{found.matrix_parameters[-1]:,}", attention=f"{found.attention_parameters[-1]:,}"
            ),
        )


def _order(name: str, n: int) -> tuple[int, ...]:
    if name == "reversed":
        return tuple(range(n - 1, -1, -1))
    if name == "rotated":
        return (*range(1, n), 0)
    return (1, 0, *range(2, n))


def _rows(matrix: np.ndarray) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(float(v) for v in row) for row in matrix)


def _adapts(found: mixing_matrix.Result, words: tuple[str, ...], order: tuple[int, ...]) -> None:
    """One line for each change: how far each way to mix is from what attention gives."""
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
        for case in found.cases
    ]
    st.dataframe(lines, hide_index=True, width="stretch")
    error = next((case.error for case in found.cases if case.error), None)
    if error:
        st.caption(_("PyTorch on the longer sentence: {error}").format(error=plain(error)))


def _follows(error: float) -> str:
    if error < 1e-9:
        return _("follows, exactly")
    return _("off by {share}").format(share=f"{error:.0%}")


def _ticks_of(fig: figures.Figure, words: list[str]) -> None:
    """The second picture has the words in their new order."""
    text = [figures.label(w, 8) for w in words]
    fig.update_xaxes(ticktext=text, col=2, row=1)
    fig.update_yaxes(ticktext=text, col=2, row=1)


def why_softmax(result: Result) -> None:
    """The same scores through six ways to make weights."""
    head, b = _head(result), min(place.read().sentence, result.config.batch - 1)
    words, keys = result.q_words[b], result.k_words[b]
    queries = {str(i): f"{i + 1} {plain(w)}" for i, w in enumerate(words)}
    rows = result.tensors["biased" if "biased" in result.tensors else "scaled"][b, head]
    i = int(choice(_("Query"), queries, "b_query", default=str(_most_mixed(rows))))
    scores = rows[i]
    kv = result.config.layout.kv_head_of(head)
    found = normalisers.run(scores.astype(float), result.tensors["V"][b, kv].astype(float))
    names = {
        "softmax": "softmax",
        "argmax": "argmax",
        "plain": _("plain scores"),
        "share": _("divided by sum"),
        "sigmoid": "sigmoid",
        "relu": "ReLU",
    }
    fig = figures.normaliser_bars({names[k]: m.weights for k, m in found.measures.items()}, keys)
    table = {"key": list(keys), "score": found.scores.tolist()} | {
        k: m.weights.tolist() for k, m in found.measures.items()
    }
    soft = found.measures["softmax"]
    show.figure(
        fig,
        name="normalisers",
        key="b_normalisers",
        table=table,
        words=_(
            "The scores of {query} in head {h}, before the mask, six ways: softmax's shares lie between 0 and 1 and "
            "sum to 1; divided by their plain sum, the same scores give shares from {low} to {high}."
        ).format(
            query=quoted(words[i]),
            h=head + 1,
            low=f"{found.measures['share'].weights.min():.0%}",
            high=f"{found.measures['share'].weights.max():.0%}",
        ),
    )
    left, right = st.columns([1.2, 1], gap="large")
    with left:
        st.dataframe(_measured(found, names), hide_index=True, width="stretch")
        st.caption(
            _(
                "Gradient: how strongly the output answers to the scores; argmax has none, so nothing could be learned "
                "through it, softmax here {g}. Shift: how far the output moves when all scores grow by 1; "
                "softmax does not notice."
            ).format(g=f"{soft.gradient:.2f}")
        )
    with right:
        lines = {names[k]: m.growth for k, m in found.measures.items()}
        plain_growth = found.measures["plain"].growth
        show.figure(
            figures.growth(found.copies, lines),
            name="normaliser-growth",
            key="b_growth",
            table={"copies": found.copies} | {k: m.growth.tolist() for k, m in found.measures.items()},
            words=_("With every key {n} times, plain sums grow from {a} to {b}; softmax stays at {s}.").format(
                n=found.copies[-1], a=f"{plain_growth[0]:.1f}", b=f"{plain_growth[-1]:.1f}", s=f"{soft.growth[-1]:.2f}"
            ),
        )


def _most_mixed(rows: np.ndarray) -> int:
    """The query whose scores come nearest to cancelling out: where a plain sum does most harm."""
    return int((np.abs(rows.sum(-1)) / np.maximum(np.abs(rows).sum(-1), 1e-9)).argmin())


def _measured(found: normalisers.Result, names: dict[str, str]) -> list[dict[str, object]]:
    return [
        {
            _("Weights by"): names[k],
            _("row sum"): f"{m.row_sum:.2f}",
            _("smallest"): f"{m.smallest:.2f}",
            _("gradient"): f"{m.gradient:.2f}",
            _("shift"): f"{m.shift:.2f}",
        }
        for k, m in found.measures.items()
    ]


def why_heads(result: Result) -> None:
    """One head of width M against H heads of width M/H on a pattern with H things to look at."""
    words = result.q_words[0]
    used = words if len(words) >= 5 else ("the", "cat", "sat", "on", "the", "mat")
    heads_at, share_at = st.columns(2, gap="large")
    with heads_at:
        heads = int(choice(_("Things each word has to look at"), {"2": "2", "3": "3", "4": "4"}, "b_things"))
    with share_at:
        share = st.slider(
            _("Share of the single head's weight for the first"),
            0.0,
            1.0,
            0.5,
            0.05,
            key="b_share",
            bind="query-params",
            persist_state="session",
        )
    found = many_heads.run(many_heads.Config(used, d_model=12, n_heads=heads, share=share))
    names = [_place_name(o) for o in found.offsets]
    st.markdown(
        _(
            "Every word must carry {things}, each in its own columns. One head of width "
            "12 can only hand over a mixture, and "
            "no matrix after it can tell the parts: it loses **{one}** of the signal. "
            "{n} heads of width {d} lose **{many}**, "
            "with the same {p} weights."
        ).format(
            things=", ".join(names),
            one=f"{found.blur_one.mean():.0%}",
            many=f"{found.blur_heads.mean():.0%}",
            n=heads,
            d=12 // heads,
            p=found.parameters,
        )
    )
    left, right = st.columns([1.5, 1], gap="large")
    with left:
        parts = [(_("one head"), found.one_head)] + [
            (_("head {h}").format(h=h + 1), w) for h, w in enumerate(found.heads[:2])
        ]
        show.figure(
            figures.side_by_side(parts, used, used, repeat_rows=False),
            name="one-head-or-several",
            key="b_heads",
            table={"query": [w for w in used for _k in used], "one head": found.one_head.ravel().tolist()},
            words=_(
                "One softmax shares its 100% between the places; with a head for each, every place gets all of it."
            ),
        )
    with right:
        show.figure(
            figures.blur_by_share(found.shares, found.blur_by_share, names, share),
            name="blur-by-share",
            key="b_blur",
            table={"share": found.shares.tolist()}
            | {n: found.blur_by_share[:, h].tolist() for h, n in enumerate(names)},
            words=_(
                "However the single head divides its weight, about {lost} of the signal is "
                "lost; only where it is lost changes."
            ).format(lost=f"{float(np.median(found.blur_by_share.mean(1))):.0%}"),
        )


def _place_name(offset: int) -> str:
    return {
        -1: _("the word before"),
        1: _("the word after"),
        -2: _("the one before that"),
        2: _("the one after that"),
    }[offset]


def _head(result: Result) -> int:
    return min(place.read().head, result.config.n_heads - 1)
