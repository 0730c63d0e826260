"""The picture with its heads, what the model says of it, and what it says when something is changed."""

from __future__ import annotations

from functools import partial
from typing import cast

import streamlit as st

from attnviz.app import widgets
from attnviz.app.code_snippet import snippet
from attnviz.app.links import link_state
from attnviz.app.text import plain, spoken
from attnviz.base.words import _
from attnviz.canvas.patch_view import PatchChoices, PatchRows, patch_view
from attnviz.canvas.shared import packing
from attnviz.models.catalogue import LoadedModel
from attnviz.models.pictures import PatchGrid, card
from attnviz.pages.pictures import choices
from attnviz.pages.pictures.maths.picture_program import changed_program, program
from attnviz.pages.pictures.maths.picture_record import STAGES, HeadChange, PatchStack, PictureRun, PictureStack
from attnviz.pages.pictures.maths.windowed_run import coarser, finer
from attnviz.pages.pictures.panels import picture_answer, picture_cache, picture_export, picture_scene, smallest
from attnviz.pages.pictures.panels.picture_cache import ChosenPicture


def draw(loaded: LoadedModel, picture: ChosenPicture) -> None:
    """Draw everything about one picture."""
    run = picture_cache.picture_run(loaded, picture)
    for notice in run.notices:
        st.info(spoken(notice))
    stack = _stack(run)
    said, ordered = st.columns([2, 1], vertical_alignment="center")
    with ordered:
        order = _order(stack)
    _say_what_is_not_here(stack)
    chosen = chosen_in(run, stack)
    scene = picture_scene.scene(loaded, picture, run, stack, picture_scene.shown_under(stack, chosen), order)
    chosen = scene.allowed(chosen)
    change = change_of(run, stack, chosen)
    with said:
        picture_answer.draw(loaded, picture, run, change)
    document = packing.fingerprint(*picture.about, run.model, loaded.version, stack.id)
    patch_view("patches", document, scene, chosen, partial(_keep, run.stacks[0].grid, stack))
    picture_export.under(loaded, picture, run, stack, scene, chosen, change)
    picture_answer.draw_facts(loaded, picture, stack, scene, chosen.layer)
    if run.texts is not None:
        picture_answer.draw_text_tower(run.texts)
    smallest.draw(loaded, picture, run)
    if told := card(loaded.entry.id):
        st.caption(spoken(told))
    if loaded.entry.shipped:
        _program(run, stack, chosen.pins[-1] if chosen.pins else scene.usual, change)


def _program(run: PictureRun, stack: PatchStack, query: int, change: HeadChange) -> None:
    """The program of what is on show, with the change that is made, and what it prints of it."""
    if change:
        about = _(
            "Paste this code into a notebook: it prints the answer with the change and without it, and one row of this "
            "head as it is changed: {query}."
        )
        code = changed_program(run, stack.id, query, change)
    else:
        about = _("Paste this code into a notebook: it prints the answer, and one row of this head: {query}.")
        code = program(run, stack.id, change.head[1], change.head[2], query)
    snippet(code, "pictures", about=about.format(query=plain(picture_export.query_name(stack, query))))


def _stack(run: PictureRun) -> PatchStack:
    """Which layers are on show, where there are several kinds."""
    if len(run.stacks) == 1:
        return run.stacks[0]
    names = {"words": _("Words look at patches"), "picture": _("Patches look at patches")}
    if run.windows:
        staged = _("Stage {number}: {rows} × {columns} patches")
        names = {
            each.id: staged.format(number=STAGES.index(each.id) + 1, rows=each.grid.rows, columns=each.grid.columns)
            for each in run.stacks
        }
    return run.stack(widgets.one_of(choices.STACK, _("Attention"), names, label_visibility="collapsed"))


def _order(stack: PatchStack) -> str:
    names = {"place": _("Heads by layer")}
    if not stack.words:
        names["distance"] = _("Heads by distance in pixels")
    names["entropy"] = _("Heads by spread (entropy)")
    if stack.grid.has_class:
        names["class"] = _("Heads by weight on the class token")
    return widgets.one_of(
        choices.ORDER, _("All heads, ordered by"), names, style="select", label_visibility="collapsed"
    )


def chosen_in(run: PictureRun, stack: PatchStack) -> PatchChoices:
    """What the link and the session hold, for this stack."""
    silenced = tuple((layer, head) for name, layer, head in link_state.value(choices.SILENCED) if name == stack.id)
    layer = min(link_state.value(choices.LAYER), len(stack.layers) - 1)
    return PatchChoices(
        layer,
        min(link_state.value(choices.HEAD), stack.layers[layer].n_heads - 1),
        link_state.value(choices.PINS),
        coarser(link_state.value(choices.HIDDEN), run.stacks[0].grid, stack.grid),
        silenced,
        link_state.value(choices.FACTOR),
        cast(PatchRows, link_state.value(choices.SHOWS)),
    )


def _say_what_is_not_here(stack: PatchStack) -> None:
    """Name a layer or a head of the link that the model does not have; its last one is shown."""
    top = len(stack.layers) - 1
    heads = stack.layers[min(link_state.value(choices.LAYER), top)].n_heads
    for choice, last in ((choices.LAYER, top), (choices.HEAD, heads - 1)):
        widgets.say_too_high(choice, last)


def _keep(fine: PatchGrid, stack: PatchStack, chosen: PatchChoices) -> None:
    """Put what was chosen in the view into the link. Hidden patches are kept as those of the finest grid."""
    others = tuple(each for each in link_state.value(choices.SILENCED) if each[0] != stack.id)
    hidden = link_state.value(choices.HIDDEN)
    if coarser(hidden, fine, stack.grid) != chosen.hidden:  # else parts of a coarse patch stay as they are
        hidden = finer(chosen.hidden, fine, stack.grid)
    link_state.put_all(
        {
            choices.LAYER: chosen.layer,
            choices.HEAD: chosen.head,
            choices.PINS: chosen.pins,
            choices.HIDDEN: hidden,
            choices.SILENCED: others + tuple((stack.id, layer, head) for layer, head in chosen.silenced),
            choices.FACTOR: chosen.factor,
            choices.SHOWS: chosen.shows,
        }
    )


def change_of(run: PictureRun, stack: PatchStack, chosen: PatchChoices) -> HeadChange:
    """What is changed in the model: everything hidden, silenced or scaled, on all stacks."""
    silenced: list[tuple[PictureStack, int, int]] = [(stack.id, layer, head) for layer, head in chosen.silenced]
    for other in run.stacks:
        if other.id != stack.id:
            held = [each for each in link_state.value(choices.SILENCED) if each[0] == other.id]
            silenced += [(other.id, layer, head) for _name, layer, head in held if other.has(layer, head)]
    hidden = tuple(patch for patch in link_state.value(choices.HIDDEN) if patch < run.stacks[0].grid.patches)
    return HeadChange(hidden, tuple(silenced), chosen.factor, (stack.id, chosen.layer, chosen.head))
