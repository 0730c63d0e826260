"""Below the training run: why its strongest induction head looks there, by what earlier heads wrote, at every step."""

from functools import lru_cache

import streamlit as st

from attnviz.app import show
from attnviz.app.links.choices import head_name
from attnviz.base.words import _
from attnviz.canvas.score_table import ScoreFigure, ScoreStep, score_table
from attnviz.figures.score_table import part_in_table, part_label
from attnviz.live.scene_figure import SceneFigure
from attnviz.pages.born.maths import life
from attnviz.pages.born.maths.score_parts import ScoreParts, attribute_score


def draw(name: str, copies: life.RepeatedWords, at: int, ablated: life.AblatedHeads) -> None:
    """Draw the table of one score: of the second copy's second word, and what came after it in the first copy."""
    run = life.read(name)
    head = run.strongest_head(run.induction)
    query, key = len(copies.ids) // 2 + 1, 2
    found = score_steps(name, copies.ids, head, query, key, tuple(ablated))
    here = found[at]
    numbers = {"head": head_name(head), "query": copies.tokens[query], "key": copies.tokens[key]}
    part, value = here.parts[int(here.table.sum(0).argmax())], float(here.table.sum(0).max())
    st.markdown(_("**Why does head {head} look from “{query}” to “{key}”?**").format(**numbers))
    sentence = _(
        "At step {step:,} it gives “{key}” {weight:.0%}: to that key’s score, **{part}** adds most, {value:+.1f}. Drag "
        "the handle above: the table grows with the head."
    ).format(
        step=int(run.steps[at]), weight=float(here.row[key]), part=part_label(part), value=value, key=numbers["key"]
    )
    figure = ScoreFigure(
        tokens=copies.tokens,
        query=query,
        key=key,
        head=numbers["head"],
        queries=here.parts,
        keys=here.parts,
        steps=[_step(each, numbers["key"], key) for each in found],
        at=at,
        label=sentence,
        cuts=False,
    )
    score_table("born-score", figure)
    names = [part_in_table(name) for name in here.parts]
    show.footer(
        lambda: SceneFigure((figure,), _("Training step {step:,}").format(step=int(run.steps[at]))),
        name=f"{name}-score-{run.steps[at]}",
        key="born-score",
        canvases=["born-score"],
        sentence=sentence,
        table=lambda: {
            "step": [int(step) for step in run.steps for _cell in here.table.flat],
            "query part": [query for _step in run.steps for query in names for _key in names],
            "key part": [key for _step in run.steps for _query in names for key in names],
            "value": [float(value) for each in found for value in each.table.flat],
        },
    )


@lru_cache(maxsize=64)
def score_steps(
    name: str, ids: tuple[int, ...], head: tuple[int, int], query: int, key: int, ablated: tuple[tuple[int, int], ...]
) -> tuple[ScoreParts, ...]:
    """The score at every checkpoint of a run."""
    run = life.read(name)
    return tuple(attribute_score(numbers, ids, run.config, head, query, key, ablated) for numbers in run.numbers)


def _step(found: ScoreParts, word: str, key: int) -> ScoreStep:
    by_key = found.table.sum(0)
    values = {"score": found.score, "baseline": found.baseline, "difference": found.score - found.baseline}
    above = _("= “{key}” {score:.2f}, its rivals {baseline:.2f}: {difference:+.3f}").format(key=word, **values)
    source = found.source if found.source != key else None
    return ScoreStep(found.row, found.table, found.parts[int(by_key.argmax())], float(by_key.max()), source, [above])
