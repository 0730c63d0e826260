"""Below the training run: why its strongest induction head looks there, by what earlier heads wrote, at every step."""

from functools import lru_cache

import streamlit as st

from attnviz.app import show
from attnviz.app.links.choices import head_name
from attnviz.app.text import escape_markdown, strip_markdown
from attnviz.base.words import _, join_sentences
from attnviz.canvas.score_table import ScoreFigure, ScoreStep, describe_sum, score_table
from attnviz.figures.score_table import part_label, table_of_products
from attnviz.live.scene_figure import SceneFigure
from attnviz.pages.born.maths import life
from attnviz.pages.born.maths.score_parts import ScoreParts, attribute_score

LEAST = 0.05  #: what a part adds; less would be written as 0.0


def draw(name: str, copies: life.RepeatedWords, at: int, ablated: life.AblatedHeads) -> None:
    """Draw the table of one score: of the second copy's second word, and what came after it in the first copy."""
    run = life.read(name)
    head = run.strongest_head(run.induction)
    query, key = len(copies.ids) // 2 + 1, 2
    found = score_steps(name, copies.ids, head, query, key, tuple(ablated))
    here = found[at]
    query_word, key_word = escape_markdown(copies.tokens[query]), escape_markdown(copies.tokens[key])
    st.markdown(
        _("**Does head {head} look from “{query}” to “{key}”, and why?**").format(
            head=head_name(head), query=query_word, key=key_word
        )
    )
    adds = (
        _("To that key’s score, **{part}** adds most, {value:+.1f}.")
        if here.value >= LEAST
        else _("No part adds to that key’s score.")
    )
    told = join_sentences(
        _("At step {step:,} it gives “{key}” {weight:.0%}.").format(
            step=int(run.steps[at]), weight=float(here.row[key]), key=key_word
        ),
        adds.format(part=part_label(here.largest), value=here.value),
    )
    sentence = join_sentences(told, _("Drag the handle above: the table follows."))
    figure = ScoreFigure(
        tokens=copies.tokens,
        query=query,
        key=key,
        head=head_name(head),
        queries=here.parts,
        keys=here.parts,
        steps=[_step(each, copies.tokens[key]) for each in found],
        at=at,
        label=strip_markdown(sentence),
        cuts=False,
    )
    score_table("born-score", figure)
    show.footer(
        lambda: SceneFigure((figure,), _("Training step {step:,}").format(step=int(run.steps[at]))),
        name=f"{name}-score-{run.steps[at]}",
        key="born-score",
        canvases=["born-score"],
        sentence=sentence,
        caption=told,
        table=lambda: {
            "step": [int(step) for step in run.steps for _cell in here.table.flat],
            **table_of_products(here.parts, here.parts, [each.table for each in found]),
        },
    )


@lru_cache(maxsize=64)
def score_steps(
    name: str, ids: tuple[int, ...], head: tuple[int, int], query: int, key: int, ablated: tuple[tuple[int, int], ...]
) -> tuple[ScoreParts, ...]:
    """The score at every checkpoint of a run."""
    run = life.read(name)
    return tuple(attribute_score(numbers, ids, run.config, head, query, key, ablated) for numbers in run.numbers)


def _step(found: ScoreParts, word: str) -> ScoreStep:
    sums = describe_sum(word, found.score, found.baseline)
    return ScoreStep(found.row, found.table, found.largest, found.value, found.source, sums)
