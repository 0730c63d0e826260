"""How a weight is computed: one query of this head, step by step, and the arithmetic of one cell."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import streamlit as st

from attnviz.app import head_drawing, show, widgets
from attnviz.app.cache.kept_charts import chart_of
from attnviz.app.links import link_state
from attnviz.app.show import formulas
from attnviz.app.text import plain
from attnviz.base.words import _, sentences
from attnviz.pages.explore import choices
from attnviz.pages.explore.figures import stages as figures
from attnviz.pages.explore.maths.head_stages import StagesResult, stages
from attnviz.pages.explore.panels import explorer_state
from attnviz.pages.explore.panels.shown_head import Shown, caption_of_shown

QUERY, KEY = "stage_query", "stage_key"


def panel(shown: Shown) -> None:
    """Draw the way from q and k to the head's output, for one query and one key."""
    queries, keys = shown.stack.queries.labels, shown.stack.keys.labels
    left, right = st.columns(2)
    kept = explorer_state.stage(len(queries), len(keys))
    start_q, start_k = kept or _start(shown, len(queries), len(keys))
    widgets.set_before_drawn(QUERY, start_q)
    query = left.selectbox(
        _("Query: the token that looks"),
        range(len(queries)),
        format_func=lambda i: f"{i}  {queries[i]}",
        key=QUERY,
        on_change=lambda: _heard(QUERY, lambda asked: (asked, None)),
    )
    mask, scale = head_drawing.mask_and_scale(shown.stack, shown.layer, shown.edit)
    result = stages(shown.stack, shown.layer, shown.head, query, mask, scale)
    widgets.set_before_drawn(KEY, start_k if start_k is not None else int(result.weights.argmax()))
    key = right.selectbox(
        _("Key: the token looked at"),
        range(len(keys)),
        format_func=lambda i: f"{i}  {keys[i]}",
        key=KEY,
        on_change=lambda: _heard(KEY, lambda asked: (query, asked)),
    )
    st.caption(_("Click a cell in the picture above to see its arithmetic here."))
    _arithmetic(result, key, queries[query], keys[key])
    _pictures(shown, result, key, queries[query], keys)
    _shapes(result)


def _heard(key: str, cell: Callable[[int], tuple[int, int | None]]) -> None:
    if not widgets.is_late(key):
        link_state.put(choices.STAGE, cell(st.session_state[key]))


def _start(shown: Shown, n_q: int, n_k: int) -> tuple[int, int | None]:
    """The clicked cell as positions of the model's tokens; a whole word counts as its first piece."""
    matrix, cell = shown.matrix, shown.pins.cell
    query = matrix.row_at[min(shown.query, len(matrix.row_at) - 1)]
    key = matrix.col_at[cell[1]] if cell is not None and cell[1] < len(matrix.col_at) else None
    return min(query, n_q - 1), None if key is None else min(key, n_k - 1)


def _arithmetic(result: StagesResult, key: int, query_token: str, key_token: str) -> None:
    cell = result.cell(key)
    products = result.q * result.k[key]
    # a trained model's numbers differ between processors in their fifth digit: scores have two decimals, weights three
    first = " ".join(f"{value:+.2f}" for value in products[:4]) + (r" \ldots" if len(products) > 4 else "")
    blue, red = r"\color{#0072B2}", r"\color{#D55E00}"
    st.markdown(_("**The arithmetic of one cell:** how “{query}” comes to give {weight:.3f} to “{key}”.").format(
        query=plain(query_token), key=plain(key_token), weight=cell.weight
    ))  # fmt: skip
    formulas(
        rf"{{{blue} q}}\cdot{{{red} k}} = \sum_{{i=0}}^{{{len(result.q) - 1}}} {{{blue} q_i}}{{{red} k_i}}",
        f"= {first}",
        f"= {cell.score:.2f}",
    )
    st.latex(rf"s = {cell.score:.2f} \times {cell.factor:.6g}{_extra(result)} = {cell.scaled:.3f}")
    if cell.hidden:
        st.latex(r"\text{masked:}\quad s \to -\infty,\qquad w = 0")
        return
    exponent = f"{cell.scaled:.3f}-({cell.largest:.3f})"
    formulas(
        rf"w = \frac{{e^{{{exponent}}}}}{{\sum_j e^{{s_j-({cell.largest:.3f})}}}}",
        rf"= \frac{{{np.exp(cell.scaled - cell.largest):.3f}}}{{{cell.others:.3f}}} = {cell.weight:.3f}",
    )


def _extra(result: StagesResult) -> str:
    names = {"bias": r"\text{ + position bias}", "softcap": r"\text{, soft-capped}", "sinks": ""}
    return "".join(names[name] for name in result.extras)


def _pictures(shown: Shown, result: StagesResult, key: int, query_token: str, keys: tuple[str, ...]) -> None:
    name = f"{shown.run.request.model}-layer{shown.layer}-head{shown.head}-query{result.query}"
    caption = caption_of_shown(shown)
    left, right = st.columns(2)
    with left:
        product = result.q * result.k[key]
        show.figure(
            chart_of(figures.products, result.q, result.k[key], query_token, keys[key]),
            name=f"products-{name}",
            key="stage-products",
            caption=caption,
            table={"q": result.q.tolist(), "k": result.k[key].tolist(), "product": product.tolist()},
            words=_product_words(product),
        )
    with right:
        allowed = int(np.isfinite(result.masked).sum())
        show.figure(
            chart_of(figures.row_steps, keys, result.scores, result.scaled, result.masked, result.weights, key),
            name=f"steps-{name}",
            key="stage-steps",
            caption=caption,
            table={
                "key": list(keys),
                "score": result.scores.tolist(),
                "scaled": result.scaled.tolist(),
                "masked": result.masked.tolist(),
                "weight": result.weights.tolist(),
            },
            words=_(
                "This query may look at {allowed} of {total} keys; their scaled scores run from {low:.2f} "
                "to {high:.2f}."
            ).format(
                allowed=allowed,
                total=len(keys),
                low=float(np.min(result.scaled[np.isfinite(result.masked)], initial=np.inf)) if allowed else 0.0,
                high=float(np.max(result.scaled[np.isfinite(result.masked)], initial=-np.inf)) if allowed else 0.0,
            ),
        )
    strongest = int(np.linalg.norm(result.weighted, axis=1).argmax())
    show.figure(
        chart_of(figures.weighted_values, keys, result.weighted, result.output),
        name=f"values-{name}",
        key="stage-values",
        caption=caption,
        table={keys_name(i, keys): row.tolist() for i, row in enumerate(result.weighted)},
        words=sentences(
            _("“{token}” adds the longest vector to the output: weight times value is {length:.2f} long.").format(
                token=plain(keys[strongest]), length=float(np.linalg.norm(result.weighted[strongest]))
            ),
            _after_w_o(result, strongest),
        ),
    )


def _after_w_o(result: StagesResult, key: int) -> str:
    """The length of the same vector after the output projection, where that is known."""
    if result.added is None:
        return ""
    said = _("After W_O, the projection that follows, it is {length:.2f} long.")
    return said.format(length=float(result.added[key]))


def _product_words(product: np.ndarray) -> str:
    """Which component weighs most in q·k, counted from 0 as in the picture, and whether it adds or takes away."""
    largest = int(np.abs(product).argmax())
    if product[largest] < 0:
        said = _("Component {index} takes the most away from q·k: {value:.2f}. All components add up to {total:.2f}.")
    else:
        said = _("Component {index} adds the most to q·k: {value:.2f}. All components add up to {total:.2f}.")
    return said.format(index=largest, value=product[largest], total=product.sum())


def keys_name(position: int, keys: tuple[str, ...]) -> str:
    """A column name that is unique even when tokens repeat."""
    return f"{position} {keys[position]}"


def _shapes(result: StagesResult) -> None:
    axes = {
        "q": "[B, H, Q, D]",
        "k": "[B, G, K, D]",
        "v": "[B, G, K, Dv]",
        "scores": "[B, 1, Q, K]",
        "scaled": "[B, 1, Q, K]",
        "masked": "[B, 1, Q, K]",
        "weights": "[B, 1, Q, K]",
        "output": "[B, 1, Q, Dv]",
    }
    with st.expander(_("Every shape")):
        st.table(
            {
                _("tensor"): list(axes),
                _("axes"): list(axes.values()),
                _("size here"): [str(list(result.shapes[name])) for name in axes],
            }
        )
