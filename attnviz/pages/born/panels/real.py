"""Section 3: the strongest previous-token head and induction head of a pretrained model, on the same words."""

from collections.abc import Mapping
from typing import Final

import streamlit as st
import torch

from attnviz.analysis.model_run import ModelRun, Request
from attnviz.app import glossary_terms, head_drawing, page_parts, widgets
from attnviz.app.cache import model_cache
from attnviz.app.panel import show_problems
from attnviz.app.sentence_input import require_model
from attnviz.app.text import escape_markdown
from attnviz.base.words import _
from attnviz.core import measures
from attnviz.models.loading import availability
from attnviz.pages.born import choices
from attnviz.pages.born.maths import life

MODEL: Final = "smollm2-135m"
Best = Mapping[str, tuple[float, int, int]]  #: pattern -> the largest score, and the layer and head that have it


def panel() -> None:
    """Draw the section."""
    picture_area = page_parts.main_picture()
    text = widgets.text_box(choices.TEXT, _("Your words, which come twice"))
    require_model(availability(MODEL).on_this_machine)
    copies = life.repeat_words(text, life.Config())
    run = model_cache.get_run(Request(MODEL, " ".join(copies.tokens)))
    best = model_cache.cached_result(run, "born-best", lambda: strongest_heads(run))
    names = {"previous_token": _("on the token before"), "induction": _("on what came next last time")}
    with picture_area:
        page_parts.draw_columns(*(lambda kind=kind: _draw_head(run, *best[kind], kind, names[kind]) for kind in names))
        (previous, layer, head), (induction, layer_2, head_2) = best["previous_token"], best["induction"]
        st.markdown(
            _(
                "In {model}, head {one} gives **{previous:.2f}** of its weight to the token before, and head {two} "
                "**{induction:.2f}** to what came next last time: the same two kinds, in layers {layer} and {layer_2}."
            ).format(
                model=escape_markdown(run.name),
                one=f"{layer}.{head}",
                previous=previous,
                two=f"{layer_2}.{head_2}",
                induction=induction,
                layer=layer,
                layer_2=layer_2,
            )
        )
    if st.button(_("All heads of this model on random words twice"), icon=":material/open_in_new:", type="tertiary"):
        glossary_terms.open_example("heads", {"hd_model": MODEL, "hd_text": "repeated", "hd_by": "induction"})


def strongest_heads(run: ModelRun) -> Best:
    """The strongest head for each pattern, by the mean over rows to which the pattern applies."""
    ids = torch.tensor(run.source.ids)
    best: dict[str, tuple[float, int, int]] = {}
    for layer, recorded in enumerate(run.stacks[0].layers):
        weights = recorded.weights()[0].float()
        for kind, rows in (
            ("previous_token", measures.previous_token_mass(weights)),
            ("induction", measures.induction_score(weights, ids)),
        ):
            score, head = rows.nanmean(-1).max(-1)
            best[kind] = max(best.get(kind, (0.0, 0, 0)), (float(score), layer, int(head)))
    return best


def _draw_head(run: ModelRun, score: float, layer: int, head: int, kind: str, what: str) -> None:
    key = f"born-{kind}"
    title = _("{model}, head {head}: {score:.2f} {what}").format(
        model=run.name, head=f"{layer}.{head}", score=score, what=what
    )
    with show_problems():
        head_drawing.draw(run, (layer, head), (key, f"{key}-out"), key, title=title, chips=False)
    if st.button(_("Open in Explore"), key=f"born-open-{kind}", icon=":material/arrow_forward:", type="tertiary"):
        page_parts.open_explorer(MODEL, run.request.text, (layer, head))
