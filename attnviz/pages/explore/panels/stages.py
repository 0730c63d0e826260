"""Where the displayed head sits in the model, and how one of its weights is computed, step by step."""

import numpy as np
import streamlit as st

from attnviz.app import head_drawing, show, widget_values
from attnviz.app.cache import model_cache
from attnviz.app.links import link_state
from attnviz.app.text import escape_markdown
from attnviz.base.largest import find_largest
from attnviz.base.rounding import Rounded
from attnviz.base.words import _, join_clauses, join_sentences, ngettext
from attnviz.canvas.model_strip import StripBlock, StripPart, StripWay, model_strip, strip_figure
from attnviz.figures.theme import K_VERMILION, Q_BLUE
from attnviz.live.scene_figure import SceneFigure
from attnviz.pages.explore import choices, figures
from attnviz.pages.explore.maths import whole_model
from attnviz.pages.explore.maths.one_head import StagesResult, compute_stages
from attnviz.pages.explore.panels.shown_head import DisplayedHead, displayed_caption, select_head

QUERY, KEY = "stage_query", "stage_key"
MOST_LINES = 6  # matrices that are named one by one
LEAST_SHARE = 1e-4  # of all parameters: less would be said as 0.00%


def draw_model_strip(displayed: DisplayedHead) -> None:
    """Draw the model as a strip of blocks; a click on a block or a head selects it."""
    stack = displayed.stack
    loaded = model_cache.model_of_run(displayed.run)
    parts = model_cache.cached_result(
        displayed.run, ("parts", stack.id), lambda: whole_model.count_parts(loaded.model, stack)
    )
    layers = len(stack.layers)
    roles: dict[whole_model.BlockRole, tuple[str, str]] = {
        "attention": (_("Attention"), ""),
        "mlp": (_("MLP"), ""),
        "norms": (_("Norms"), _("one before each of the two, or after it")),
    }
    inner_blocks = [
        StripBlock(*(_build_strip_part(title, block[role], parts, note) for role, (title, note) in roles.items()))
        for block in (parts.blocks[parts.block_index(layer, layers)] for layer in range(layers))
    ]
    blocks = _build_strip_part(
        _("{layers} blocks, one after the other").format(layers=layers),
        whole_model.PartSize(sum(size.parameters for block in parts.blocks for size in block.values())),
        parts,
        _("the same weights every time") if len(parts.blocks) < layers else "",
    )
    selected, count = (displayed.layer, displayed.head), len(stack.queries)
    vectors = _("{tokens} × {width} after it").format(tokens=count, width=parts.width)
    first_parts = [
        StripPart(_("Tokens"), (_("{tokens} numbers").format(tokens=count),)),
        _build_strip_part(_("Embedding"), parts.embedding, parts, vectors),
    ]
    strip = StripWay(
        first_parts, blocks, inner_blocks, _parts_after_blocks(parts), [layer.n_heads for layer in stack.layers]
    )
    model_strip("place", strip, at=selected, group="heads", on_pick=select_head)
    title = _("Where layer {layer}, head {head} of {model} sits").format(
        layer=displayed.layer, head=displayed.head, model=displayed.run.name
    )
    show.footer(
        lambda: SceneFigure((strip_figure(strip, selected, title),), title),
        name=f"place-{displayed.run.request.model}-layer{displayed.layer}-head{displayed.head}",
        key="place-out",
        canvas=show.live_canvas("place"),
        caption=_("Parameters counted in the model’s own weights."),
        table=lambda: _parts_table(strip, displayed.layer),
    )


def _parts_table(strip: StripWay, layer: int) -> dict[str, list[str]]:
    """Table of all parts that are drawn, one row each."""
    block = strip.inside[layer]
    components = [*strip.before, strip.blocks, block.attention, block.mlp, block.norms, *strip.after]
    return {
        "part": [component.title for component in components],
        "shapes": [join_clauses(component.lines) for component in components],
        "parameters": [component.said for component in components],
        "share": ["" if component.share is None else f"{component.share:.6g}" for component in components],
    }


def _parts_after_blocks(parts: whole_model.ModelParts) -> list[StripPart]:
    last_parts = []
    if parts.final_layers.parameters:
        last_parts.append(_build_strip_part(_("After the blocks"), parts.final_layers, parts))
    if parts.other_stack.parameters:
        last_parts.append(
            _build_strip_part(_("The other stack"), whole_model.PartSize(parts.other_stack.parameters), parts)
        )
    if not parts.has_lm_head:
        return [*last_parts, StripPart(_("Vectors of the tokens"), (_("this model writes nothing"),))]
    return [
        *last_parts,
        _build_strip_part(
            _("Next token"), parts.lm_head, parts, _("the embedding’s own matrix once more") if parts.is_tied else ""
        ),
    ]


def _build_strip_part(
    title: str, size: whole_model.PartSize, parts: whole_model.ModelParts, note: str = ""
) -> StripPart:
    """Build a part of the strip: its largest matrices, a note, and its share of all parameters."""
    lines = [f"{name} {' × '.join(f'{n:,}' for n in shape)}".strip() for name, shape in size.matrices[:MOST_LINES]]
    if len(size.matrices) > MOST_LINES:
        lines.append(_("and {count} more matrices").format(count=len(size.matrices) - MOST_LINES))
    share = size.parameters / parts.total
    if not size.parameters:
        text = _("no parameters of its own")
    elif share < LEAST_SHARE:
        text = _("{count} parameters, less than {share:.2%}")
    else:
        text = _("{count} parameters, {share:.2%}")
    text = text.format(count=f"{size.parameters:,}", share=max(share, LEAST_SHARE))
    return StripPart(title, tuple(line for line in (*lines, note) if line), share, text)


def panel(displayed: DisplayedHead) -> None:
    """Draw every step from q and k to the head's output, for one query and one key."""
    queries, keys = displayed.stack.queries.labels, displayed.stack.keys.labels
    left, right = st.columns(2)
    start_q, start_k = _start_cell(displayed)
    query = left.selectbox(
        _("Query: the token that looks"),
        range(len(queries)),
        format_func=lambda i: f"{i}  {queries[i]}",
        **widget_values.bind_widget(
            QUERY, start_q, lambda picked: link_state.set_and_push(choices.STAGE, (picked, None))
        ),
    )
    mask, scale = head_drawing.mask_and_scale_choices(displayed.stack, displayed.layer, displayed.edit)
    result = compute_stages(displayed.stack, displayed.layer, displayed.head, query, mask, scale)
    largest = int(result.weights.argmax()) if start_k is None else start_k
    key = right.selectbox(
        _("Key: the token looked at"),
        range(len(keys)),
        format_func=lambda i: f"{i}  {keys[i]}",
        **widget_values.bind_widget(
            KEY, largest, lambda picked: link_state.set_and_push(choices.STAGE, (query, picked))
        ),
    )
    st.caption(_("Click a cell in the picture above to see its arithmetic here."))
    _draw_arithmetic(result, key, queries[query], keys[key])
    _draw_pictures(displayed, result, key, queries[query], keys)
    _draw_shapes(result)


def _start_cell(displayed: DisplayedHead) -> tuple[int, int | None]:
    """The (query, key) to start with, as positions of tokens: those chosen here, else the clicked cell.

    A whole word counts as its first piece. The key is None if none was chosen.
    """
    n_q, n_k = len(displayed.stack.queries), len(displayed.stack.keys)
    chosen = link_state.value(choices.STAGE)
    if chosen is not None and chosen[0] < n_q:
        query, key = chosen
        return query, None if key is None or key >= n_k else key
    matrix, cell = displayed.matrix, displayed.pins.cell
    key = matrix.col_at[cell[1]] if cell is not None and cell[1] < len(matrix.col_at) else None
    return min(displayed.query_position, n_q - 1), None if key is None else min(key, n_k - 1)


def _draw_arithmetic(result: StagesResult, key: int, query_token: str, key_token: str) -> None:
    products = result.q * result.k[key]
    score, scaled, weight = (float(values[key]) for values in (result.scores, result.scaled, result.weights))
    # a trained model's numbers differ between processors in their fifth digit: scores have two decimals, weights three
    first = " ".join(f"{Rounded(value):+.2f}" for value in products[:4]) + (r" \ldots" if len(products) > 4 else "")
    blue, red = rf"\color{{{Q_BLUE}}}", rf"\color{{{K_VERMILION}}}"
    st.markdown(_("**The arithmetic of one cell:** how “{query}” comes to give {weight:.3f} to “{key}”.").format(
        query=escape_markdown(query_token), key=escape_markdown(key_token), weight=weight
    ))  # fmt: skip
    show.formulas(
        rf"{{{blue} q}}\cdot{{{red} k}} = \sum_{{i=0}}^{{{len(result.q) - 1}}} {{{blue} q_i}}{{{red} k_i}}",
        f"= {first}",
        f"= {Rounded(score):.2f}",
    )
    names = {"bias": r"\text{ + position bias}", "softcap": r"\text{, soft-capped}", "sinks": ""}
    extras = "".join(names[name] for name in result.extras)
    st.latex(rf"s = {Rounded(score):.2f} \times {result.factor:.6g}{extras} = {Rounded(scaled):.3f}")
    if not result.allowed[key]:
        st.latex(r"\text{masked:}\quad s \to -\infty,\qquad w = 0")
        return
    largest = f"{Rounded(result.largest_score):.3f}"
    power = np.exp(scaled - result.largest_score)
    show.formulas(
        rf"w = \frac{{e^{{{Rounded(scaled):.3f}-({largest})}}}}{{\sum_j e^{{s_j-({largest})}}}}",
        rf"= \frac{{{Rounded(power):.3f}}}{{{Rounded(result.softmax_denominator(key)):.3f}}} = {Rounded(weight):.3f}",
    )


def _draw_pictures(
    displayed: DisplayedHead, result: StagesResult, key: int, query_token: str, keys: tuple[str, ...]
) -> None:
    name = f"{displayed.run.request.model}-layer{displayed.layer}-head{displayed.head}-query{result.query}"
    caption = displayed_caption(displayed)
    left, right = st.columns(2)
    with left:
        product = result.q * result.k[key]
        show.figure(
            show.chart_of(figures.product_strips, result.q, result.k[key], query_token, keys[key]),
            name=f"products-{name}",
            key="stage-products",
            caption=caption,
            table={"q": result.q.tolist(), "k": result.k[key].tolist(), "product": product.tolist()},
            sentence=_product_sentence(product),
        )
    with right:
        allowed = result.scaled[result.allowed]
        show.figure(
            show.chart_of(figures.row_steps, keys, result.scores, result.scaled, result.masked, result.weights, key),
            name=f"steps-{name}",
            key="stage-steps",
            caption=caption,
            table={
                "key_position": list(range(len(keys))),
                "key": list(keys),
                "score": result.scores.tolist(),
                "scaled": result.scaled.tolist(),
                "masked": result.masked.tolist(),
                "weight": result.weights.tolist(),
            },
            sentence=ngettext(
                "This query may look at {allowed} of {total} key; its scaled score is {low:.2f}.",
                "This query may look at {allowed} of {total} keys; their scaled scores run from {low:.2f} "
                "to {high:.2f}.",
                len(keys),
            ).format(
                allowed=len(allowed),
                total=len(keys),
                low=float(allowed.min()) if len(allowed) else 0.0,
                high=float(allowed.max()) if len(allowed) else 0.0,
            ),
        )
    lengths = np.linalg.norm(result.weighted_values, axis=1)
    longest = find_largest(lengths)
    strongest = longest.index
    after_w_o = _("After W_O, the projection that follows, it is {length:.2f} long.")
    show.figure(
        show.chart_of(figures.weighted_values, keys, result.weighted_values, result.output),
        name=f"values-{name}",
        key="stage-values",
        caption=caption,
        # a position makes the name of a column unique where tokens repeat
        table={f"{i} {keys[i]}": row.tolist() for i, row in enumerate(result.weighted_values)},
        sentence=join_sentences(
            (
                _("“{token}” adds the longest vector to the output: weight times value is {length:.2f} long.")
                if longest.alone
                else _("“{token}” adds a vector to the output: weight times value is {length:.2f} long.")
            ).format(token=escape_markdown(keys[strongest]), length=longest.value),
            "" if result.projected_norms is None else after_w_o.format(length=float(result.projected_norms[strongest])),
        ),
    )


def _product_sentence(product: np.ndarray) -> str:
    """Sentence on the component that changes q·k most, counted from 0 as in the picture."""
    largest = find_largest(np.abs(product))
    index = largest.index
    text = (
        _("Component {index} makes {value:.2f} of q·k. All components add up to {total:.2f}.")
        if not largest.alone
        else _("Component {index} takes the most away from q·k: {value:.2f}. All components add up to {total:.2f}.")
        if product[index] < 0
        else _("Component {index} adds the most to q·k: {value:.2f}. All components add up to {total:.2f}.")
    )
    return text.format(index=index, value=product[index], total=product.sum())


def _draw_shapes(result: StagesResult) -> None:
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
