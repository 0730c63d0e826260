"""Why there? The clicked cell's score by the parts that wrote query and key, and what remains when one is cut."""

import numpy as np
import streamlit as st

from attnviz.app import page_parts, show, widgets
from attnviz.app.cache import model_cache
from attnviz.app.links import link_state
from attnviz.app.text import escape_markdown
from attnviz.base.message import Problem
from attnviz.base.rounding import Rounded
from attnviz.base.words import _, join_sentences, translate_message
from attnviz.engine import Rerun
from attnviz.figures import attention_figures, score_table
from attnviz.figures.score_table import part_label
from attnviz.models.capture import Cut
from attnviz.pages.explore import choices, figures
from attnviz.pages.explore.maths import why_there
from attnviz.pages.explore.panels.shown_head import DisplayedHead

MOST_BARS = 8  # keys whose weights are drawn before and after a cut
NOTHING = ""
NO_NUMBER = 5e-4  # would be written as 0.000


def panel(displayed: DisplayedHead) -> None:
    """Draw the sentence with two arcs, the table of parts, and the cut."""
    if not displayed.stack.layers[displayed.layer].exact:
        raise Problem("This model gives only its attention weights, so its scores cannot be taken apart")
    query, key = _cell(displayed)
    cell: why_there.Cell = (displayed.stack.id, displayed.layer, displayed.head, query, key)
    with st.spinner(_("Running the model again…")):
        found: why_there.WhyThere = model_cache.rerun_cached(displayed.run, Rerun(why_there.run, (cell,)))
    tokens, keys = displayed.stack.queries.labels, displayed.stack.keys.labels
    answer = _describe(found, tokens[query], keys[key], keys)
    arcs = [(key, query, found.weight, "q")] if displayed.stack.same_tokens else []
    if arcs and found.source is not None and found.source != key:
        arcs.append((found.source, key, found.value, "k"))
    if arcs:
        show.chart(show.chart_of(figures.token_arcs, tokens, arcs), key="why-arcs", alt=answer)
    show.figure(
        show.chart_of(score_table.score_table, found.queries, found.keys, found.table),
        name=f"why-there-{displayed.run.request.model}",
        key="why-there",
        sentence=answer,
        table=lambda: _table(found),
    )
    sums = (
        _(
            "The table adds up to {total:+.3f}. Less {entropy:.3f} for how the other keys share the rest, that is the "
            "log-odds of the weight: {log_odds:+.3f}."
        )
        if abs(found.outside) < NO_NUMBER
        else _(
            "The table adds up to {total:+.3f}, and what no part carries is {outside:+.3f}. Less {entropy:.3f} for how "
            "the other keys share the rest, that is the log-odds of the weight: {log_odds:+.3f}."
        )
    )
    numbers = {"total": found.difference - found.outside, "outside": found.outside}
    st.caption(
        join_sentences(
            sums.format(entropy=found.entropy, log_odds=found.log_odds, **numbers),
            _("A part says which component wrote it, not what it means. Weights are not causes; the cut is."),
        )
    )
    if displayed.pins.cell is None:
        st.caption(_("Click a cell in the picture above to ask about another one."))
    _draw_cut(displayed, found, cell)
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


def _describe(found: why_there.WhyThere, query: str, key: str, keys: tuple[str, ...]) -> str:
    """The answer in sentences: what draws the query to the key most, where it was read, and what asks for it."""
    head = _("That head read it at “{source}”.") if found.source is not None else ""
    return join_sentences(
        _(
            "“{query}” gives {weight:.0%} to “{key}”. To that key’s score, **{part}** adds most, {value:+.1f}; all "
            "else comes to {rest:+.1f}."
        ).format(
            query=escape_markdown(query),
            key=escape_markdown(key),
            weight=found.weight,
            part=part_label(found.largest),
            value=found.value,
            rest=found.difference - found.value,
        ),
        head.format(source="" if found.source is None else escape_markdown(keys[found.source])),
        _("In the query, **{asker}** asks for it most.").format(asker=part_label(found.asker)),
    )


def _draw_cut(displayed: DisplayedHead, found: why_there.WhyThere, cell: why_there.Cell) -> None:
    """Draw the choice of a part to cut, the three weights, and the row before and after."""
    options = {NOTHING: _("nothing")} | {part: part_label(part) for part in found.keys[:-1]}
    part = widgets.select_one(choices.CUT, _("Cut it out of the keys"), options, style="select", width=260)
    if part == NOTHING:
        return
    cut: Cut = model_cache.rerun_cached(displayed.run, Rerun(why_there.cut_part, (cell, part)))
    keys = displayed.stack.keys.labels
    before, after = (row.float().numpy(force=True) for row in (cut.row_before, cut.row))
    weights = {
        _("weight as it is"): cut.weight_before,
        _("with this path cut"): cut.weight,
        _("switched off everywhere"): cut.total,
    }
    for column, (label, weight) in zip(st.columns(3), weights.items(), strict=True):
        column.metric(label, "–" if weight is None else f"{Rounded(weight):.1%}")
    order = np.sort(np.argsort(-np.maximum(before, after), kind="stable")[:MOST_BARS])
    show.figure(
        show.chart_of(
            attention_figures.bars,
            [keys[index] for index in order],
            before[order].tolist(),
            after[order].tolist(),
            labels=(_("weight as it is"), _("with this path cut")),
        ),
        name=f"cut-{displayed.run.request.model}",
        key="why-cut",
        sentence=_(
            "Without **{part}** in its keys, the head gives “{key}” {weight:.1%} instead of {before:.1%}: exact, norms "
            "computed again. The table alone would foretell {estimate:.1%}."
        ).format(
            part=part_label(part),
            key=escape_markdown(keys[cell[-1]]),
            weight=cut.weight,
            before=cut.weight_before,
            estimate=float(1 / (1 + np.exp(-cut.estimate))),
        ),
        table={"key": [*keys], "before": before.tolist(), "after": after.tolist()},
    )


def _table(found: why_there.WhyThere) -> dict[str, list[object]]:
    """Long table of all products, one row each."""
    cells = [(query, key) for query in found.queries for key in found.keys]
    return {
        "query part": [query for query, _key in cells],
        "key part": [key for _query, key in cells],
        "value": found.table.flatten().tolist(),
    }


def take_example(example: why_there.CellExample) -> None:
    """Choose an example's sentence, model, head and cell, with this panel open. A callback."""
    query, key = example.query, example.key
    link_state.set_many({
        choices.SENTENCE: example.text,
        choices.SECOND: "",
        choices.FRAME: "usual",
        choices.MODEL: example.model,
        choices.AT: example.head,
        choices.PINS: {"t": [], "c": [query[0], key[0], query[1], key[1]]},
        choices.STAGE: None,
        choices.CUT: NOTHING,
        choices.OPEN["why"]: True,
    })  # fmt: skip
