"""Averages over heads, and rollout through layers, both labelled as no head's own attention."""

from __future__ import annotations

import streamlit as st

from attnviz.app import show, widgets
from attnviz.app.cache import model_cache
from attnviz.app.head_drawing import axes, long_table, telling_row
from attnviz.app.text import spoken
from attnviz.base.words import _, sentences
from attnviz.canvas.head.attention_view import head_view
from attnviz.canvas.head.pictures import head_picture
from attnviz.canvas.shared.kinds import Head, HeadScene, Options
from attnviz.pages.explore import choices
from attnviz.pages.explore.panels import explorer_state
from attnviz.pages.explore.panels.shown_head import Shown
from attnviz.runs.head_matrix import average, rolled_out, telling_depth


def panel(shown: Shown) -> None:
    """Draw a mean over heads, or attention followed through the layers (rollout)."""
    kinds = {
        "layer": _("mean of this layer"),
        "all": _("mean of all heads"),
        "chosen": _("mean of chosen heads"),
        "rollout": _("rollout"),
    }
    if not shown.stack.same_tokens:
        kinds.pop("rollout")
    kind = widgets.one_of(choices.COMBINE, _("Combine"), kinds)
    places = _places(shown, kind)
    if not places:
        st.info(_("Choose at least one head."))
        return
    if kind == "rollout":
        through = _through(shown)
        key = ("rollout", shown.stack.id, shown.look, through)
        matrix = model_cache.cached(shown.run, key, lambda: rolled_out(shown.stack, shown.look, layers=through))
        title = _("Rollout through {layers} layers (not a head)").format(layers=through)
        st.caption(
            _(
                "Each layer's mean attention, averaged half and half with the residual connection, multiplied "
                "through the layers: an estimate of where information comes from, not a weight that any head "
                "computes. Where tokens only look back, many layers lead every path to the first token: try "
                "fewer."
            )
        )
    else:
        heads = ("mean", shown.stack.id, places, shown.look)
        matrix = model_cache.cached(shown.run, heads, lambda: average(shown.stack, places, shown.look))
        title = _("Mean of {count} heads (not a head)").format(count=len(places))
        st.caption(_("A mean hides what single heads do: two sharp heads look like one blurred head."))
    options = Options(full_range=shown.scene.options.full_range, root=shown.scene.options.root)
    title = title if shown.look.values == "weights" else _("{title}, of weights").format(title=title)
    head = Head(matrix.values, title, matrix.hidden)
    scene = HeadScene(*axes(matrix), options, "average")
    pins = head_view("average", head, scene)
    show.under(
        lambda: head_picture(head, scene, pins),
        name=f"{kind}-{shown.run.request.model}",
        key="average-out",
        words=spoken(matrix.said_of(min(shown.query, len(matrix.rows) - 1) if shown.pins else telling_row(matrix))),
        caption=sentences(_("{name}: {title}.").format(name=shown.run.name, title=title), explorer_state.link()),
        table=lambda: long_table(matrix),
    )


def _places(shown: Shown, kind: str) -> tuple[tuple[int, int], ...]:
    """The heads to take the mean over, as (layer, head)."""
    layers = range(len(shown.stack.layers))
    if kind == "layer":
        layers = range(shown.layer, shown.layer + 1)
    everyone = tuple((layer, head) for layer in layers for head in range(shown.stack.layers[layer].n_heads))
    if kind != "chosen":
        return everyone
    names = {choices.name_of(place): choices.name_of(place) for place in everyone}
    here = choices.name_of((shown.layer, shown.head))
    chosen = widgets.several(choices.MEAN_OF, _("Heads, as layer.head"), names, usual=[here])
    return tuple(choices.head_of(name) for name in chosen)


def _through(shown: Shown) -> int:
    """The number of layers that the rollout goes through, counted from the first."""
    layers = len(shown.stack.layers)
    if layers == 1:
        return 1
    telling = model_cache.cached(shown.run, ("rollout depth", shown.stack.id), lambda: telling_depth(shown.stack))
    return int(widgets.slider(choices.ROLLOUT_TO, _("Layers, from the first on"), high=layers, usual=telling))
