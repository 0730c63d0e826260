"""Why there? The clicked cell's score by the parts that wrote query and key, and what remains when one is cut."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st

from attnviz.app import page_parts, show
from attnviz.app.cache import model_cache
from attnviz.app.links import link_state
from attnviz.app.text import escape_markdown, strip_markdown, typeset_minus
from attnviz.base.message import Problem
from attnviz.base.words import _, join_sentences, translate_message
from attnviz.canvas.score_table import PartCut, ScoreFigure, ScoreStep, describe_sum, is_shown, score_table
from attnviz.engine import Rerun
from attnviz.figures.score_table import part_label, table_of_products
from attnviz.live.scene_figure import SceneFigure
from attnviz.models.capture import Cut
from attnviz.pages.explore import choices
from attnviz.pages.explore.maths import why_there
from attnviz.pages.explore.panels import head
from attnviz.pages.explore.panels.shown_head import DisplayedHead

NOTHING = ""


def panel(displayed: DisplayedHead) -> None:
    """Draw the sentence with two arcs, the table of parts, and the cut."""
    if not displayed.stack.layers[displayed.layer].exact:
        raise Problem("This model gives only its attention weights, so its scores cannot be taken apart")
    query, key = _cell(displayed)
    tokens, keys = displayed.stack.queries.labels, displayed.stack.keys.labels
    _require_rivals(displayed, query, key, {"query": tokens[query], "key": keys[key]})
    cell: why_there.Cell = (displayed.stack.id, displayed.layer, displayed.head, query, key)
    with st.spinner(_("Running the model again…")):
        found: why_there.WhyThere = model_cache.rerun_cached(displayed.run, Rerun(why_there.run, (cell,)))
    cut = _read_cut(displayed, found, cell)
    same = displayed.stack.same_tokens
    tokens_drawn, row = (keys, query) if same else ((*keys, tokens[query]), len(keys))
    figure = score_figure(found, tokens_drawn, row, key, (displayed.layer, displayed.head), cut)
    score_table("why-there", figure, on_cut=partial(link_state.set_and_push, choices.CUT), bring=head.times_asked())
    show.footer(
        lambda: SceneFigure((replace(figure, title=""),)),
        name=f"why-there-{displayed.run.request.model}",
        key="why-there",
        canvases=["why-there"],
        sentence=_describe(found, tokens_drawn, row, key, cut),
        table=lambda: table_of_products(found.queries, found.keys, [found.table]),
    )
    sums = (
        _(
            "The table adds up to {total:+.3f}. Less {entropy:.3f} for how the other keys share the rest, that is the "
            "log-odds of the weight: {log_odds:+.3f}."
        )
        if not is_shown(found.outside)
        else _(
            "The table adds up to {total:+.3f}, and what no part carries is {outside:+.3f}. Less {entropy:.3f} for how "
            "the other keys share the rest, that is the log-odds of the weight: {log_odds:+.3f}."
        )
    )
    numbers = {"total": found.difference - found.outside, "outside": found.outside}
    st.caption(
        join_sentences(
            typeset_minus(sums.format(entropy=found.entropy, log_odds=found.log_odds, **numbers)),
            _("A part says which component wrote it, not what it means. Weights are not causes; the cut is."),
        )
    )
    if displayed.pins.cell is None:
        st.caption(_("Click a cell in the picture above to ask about another one."))
    page_parts.draw_examples(
        "why-example",
        ((example.text.strip(), translate_message(example.shows), example) for example in why_there.EXAMPLES),
        take_example,
    )


def _cell(displayed: DisplayedHead) -> tuple[int, int]:
    """Positions of the clicked cell's query and key; without one, of the telling row and what it gives most to."""
    matrix, cell = displayed.matrix, displayed.pins.cell
    row = displayed.query
    visible = np.where(matrix.hidden[row], -np.inf, matrix.values[row])
    column = cell[1] if cell is not None and cell[1] < len(matrix.col_at) else int(visible.argmax())
    return matrix.row_at[row], matrix.col_at[column]


def _require_rivals(displayed: DisplayedHead, query: int, key: int, names: dict[str, object]) -> None:
    """Raise a Problem for a key that the model's mask hides, and for one that the query sees alone."""
    layer = displayed.stack.layers[displayed.layer]
    visible = layer.mask.expand(-1, layer.n_heads, -1, -1)[0, displayed.head, query]
    if not visible[key]:
        raise Problem("“{query}” cannot see “{key}”: the model’s mask hides it.", **names)
    if layer.sinks is None and int(visible.sum()) == 1:
        raise Problem("“{query}” sees only “{key}”, which has no rival. Click a cell of another row.", **names)


def _describe(found: why_there.WhyThere, tokens: Sequence[str], query: int, key: int, cut: PartCut | None) -> str:
    """The answer in sentences: what draws the query to the key most, where it was read, what asks for it, and a cut."""
    return join_sentences(
        _(
            "“{query}” gives {weight:.0%} to “{key}”. To that key’s score, **{part}** adds most, {value:+.1f}; all "
            "else comes to {rest}."
        ).format(
            query=escape_markdown(tokens[query]),
            key=escape_markdown(tokens[key]),
            weight=found.weight,
            part=part_label(found.largest),
            value=found.value,
            rest=f"{found.difference - found.value:+z.1f}".replace("-", "−"),
        ),
        ""
        if found.source is None
        else _("That head read it at “{source}”.").format(source=escape_markdown(tokens[found.source])),
        _("In the query, **{asker}** asks for it most.").format(asker=part_label(found.asker)),
        "" if cut is None else _describe_cut(cut, tokens[key]),
    )


def _read_cut(displayed: DisplayedHead, found: why_there.WhyThere, cell: why_there.Cell) -> PartCut | None:
    """What is left of the weight without the part that the visitor cut; None where none is cut."""
    part = link_state.value(choices.CUT)
    if part not in (*found.keys[:-1], found.largest):
        return None
    cut: Cut = model_cache.rerun_cached(displayed.run, Rerun(why_there.cut_part, (cell, part)))
    return part_cut(part, cut)


def score_figure(
    found: why_there.WhyThere, tokens: Sequence[str], query: int, key: int, head: tuple[int, int], cut: PartCut | None
) -> ScoreFigure:
    """The picture of a score; `tokens` begin with the keys, and a query that is none of them stands behind."""
    source = found.source if query < len(found.row) else None
    sums = describe_sum(tokens[key], found.score, found.baseline, found.outside)
    step = ScoreStep(found.row, found.table, found.largest, found.value, source, sums)
    label = strip_markdown(_describe(found, tokens, query, key, cut))
    return ScoreFigure(
        tokens,
        query,
        key,
        ".".join(map(str, head)),
        found.queries,
        found.keys,
        [step],
        cut=cut,
        label=label,
        title=label,
    )


def part_cut(part: str, cut: Cut) -> PartCut:
    """A cut as the picture draws it."""
    return PartCut(part, cut.weight_before, cut.weight, cut.total, cut.row.float().numpy(force=True), cut.estimate)


def _describe_cut(cut: PartCut, key: str) -> str:
    return _(
        "Without **{part}** in its keys, the head gives “{key}” {weight:.1%} instead of {before:.1%}: exact, norms "
        "computed again. The table alone would foretell {estimate:.1%}."
    ).format(
        part=part_label(cut.part),
        key=escape_markdown(key),
        weight=cut.after,
        before=cut.before,
        estimate=float(1 / (1 + np.exp(-cut.estimate))),
    )


def take_example(example: why_there.CellExample) -> None:
    """Choose an example's sentence, model, head and cell, with this panel open. A callback."""
    query, key = example.query, example.key
    link_state.set_many({
        **choices.FRESH,
        choices.SENTENCE: example.text,
        choices.MODEL: example.model,
        choices.AT: example.head,
        choices.PINS: {"t": [], "c": [query[0], key[0], query[1], key[1]]},
        choices.CUT: NOTHING,
        choices.OPEN["why"]: True,
    })  # fmt: skip
