"""Where the displayed head sits in the model, and what one of its rows hands on."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import streamlit as st

from attnviz.app import head_drawing, show
from attnviz.app.cache import model_cache
from attnviz.app.text import escape_markdown
from attnviz.base.largest import find_largest
from attnviz.base.words import _, join_clauses, join_sentences
from attnviz.canvas.model_strip import ModelParts, StripBlock, StripPart, model_strip, strip_figure
from attnviz.live.matrix_figures import CellFigure
from attnviz.live.scene_figure import SceneFigure
from attnviz.pages.explore import figures
from attnviz.pages.explore.maths import whole_model
from attnviz.pages.explore.maths.one_head import StagesResult, compute_stages
from attnviz.pages.explore.panels.shown_head import DisplayedHead, displayed_caption, select_head

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
    strip = ModelParts(
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


def _parts_table(strip: ModelParts, layer: int) -> dict[str, list[str]]:
    """Table of all parts that are drawn, one row each."""
    block = strip.inside[layer]
    components = [*strip.before, strip.blocks, block.attention, block.mlp, block.norms, *strip.after]
    return {
        "part": [component.title for component in components],
        "shapes": [join_clauses(component.lines) for component in components],
        "parameters": [component.share_label for component in components],
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
    """Draw what the described row adds up to the head's output: each key's weight times its value."""
    keys = displayed.stack.keys.labels
    mask, scale = head_drawing.mask_and_scale_choices(displayed.stack, displayed.layer, displayed.edit)
    query = min(displayed.query_position, len(displayed.stack.queries) - 1)
    result = compute_stages(displayed.stack, displayed.layer, displayed.head, query, mask, scale)
    lengths = np.linalg.norm(result.weighted_values, axis=1)
    longest = find_largest(lengths)
    strongest = longest.index
    after_w_o = _("After W_O, the projection that follows, it is {length:.2f} long.")
    show.figure(
        show.chart_of(figures.weighted_values, keys, result.weighted_values, result.output),
        name=f"values-{displayed.run.request.model}-layer{displayed.layer}-head{displayed.head}-query{query}",
        key="stage-values",
        caption=displayed_caption(displayed),
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
    _draw_shapes(result)


def cell_picture(result: StagesResult, key: int, queries: Sequence[str], keys: Sequence[str]) -> SceneFigure:
    """How one weight of the row came about, as the large head unfolds it."""
    names = [label.strip() for label in keys]
    part = CellFigure(
        queries[result.query].strip(),
        names,
        key,
        result.q,
        result.k[key],
        float(result.scores[key]),
        result.factor,
        result.masked,
        result.weights,
        result.extras,
    )
    return SceneFigure((part,), part.title)


def steps_table(result: StagesResult, key: int, keys: Sequence[str]) -> dict[str, list[Any]]:
    """Numbers of the row, one line a key, and of the two vectors, one line a component; the shorter ones end blank."""
    columns: dict[str, list[Any]] = {
        "key_position": list(range(len(keys))),
        "key": list(keys),
        "score": result.scores.tolist(),
        "scaled": result.scaled.tolist(),
        "masked": result.masked.tolist(),
        "weight": result.weights.tolist(),
        "component": list(range(len(result.q))),
        "q": result.q.tolist(),
        "k": result.k[key].tolist(),
        "product": (result.q * result.k[key]).tolist(),
    }
    lines = max(map(len, columns.values()))
    return {name: [*numbers, *[""] * (lines - len(numbers))] for name, numbers in columns.items()}


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
