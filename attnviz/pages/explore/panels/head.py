"""All heads at once, one head large, and a sentence and an export below it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, cast

import streamlit as st

from attnviz.app import head_drawing, show, widgets
from attnviz.app.cache import model_cache
from attnviz.app.head_drawing import axes, head_title, long_table, sentence_of, titles, unit_of
from attnviz.app.text import plain, spoken
from attnviz.base.head_edit import HeadEdit
from attnviz.base.words import _, listed, sentences
from attnviz.canvas.head.attention_view import head_view
from attnviz.canvas.head.pictures import head_picture, lines_picture
from attnviz.canvas.shared.kinds import Head, HeadScene, Options
from attnviz.figures.svg_head import HeadPicture, LinesPicture
from attnviz.figures.theme import overlaid
from attnviz.pages.explore import choices
from attnviz.pages.explore.panels import addresses, explorer_state, request_form
from attnviz.pages.explore.panels import overview as overview_panel
from attnviz.pages.explore.panels.shown_head import Shown, caption_of_shown, drawn_head, offers, origin_of, weights_of
from attnviz.runs import head_matrix as experiment
from attnviz.runs.head_matrix import Look, Matrix
from attnviz.runs.model_run import ModelRun, Request, Stack, StackId


def explore(run: ModelRun, below: Callable[[Shown], None]) -> None:
    """Draw the overview on the left, the chosen head on the right, the panels `below`, and last the standouts.

    Pictures go to the browser first, because measuring all heads takes longer than drawing them.
    """
    stack = _stack(run)
    left, right = st.columns([1, 1.9], gap="medium")
    with left:
        layer, head = overview_panel.draw(run, stack)
        standouts = st.container()
        overview_panel.export(run, stack)
    with right:
        shown = _large(run, stack, layer, head)
    below(shown)
    with standouts:
        overview_panel.standouts(run, stack)


def _stack(run: ModelRun) -> Stack:
    names = {"encoder": _("Encoder"), "decoder": _("Decoder"), "cross": _("Decoder looks at encoder")}
    if len(run.stacks) == 1:
        return run.stacks[0]
    chosen = widgets.one_of(
        choices.STACK, _("Attention"), {s.id: names[s.id] for s in run.stacks}, label_visibility="collapsed"
    )
    return run.stack(cast(StackId, chosen))


def _large(run: ModelRun, stack: Stack, layer: int, head: int) -> Shown:
    held, below = st.container(), st.container()
    with below:
        look, colours = _how_shown(run, stack)
    edit = explorer_state.edit(stack, layer)
    matrix = head_drawing.edited_matrix(run, stack, layer, head, look, edit)
    options = Options(**colours, segments_q=matrix.row_breaks, segments_k=matrix.col_breaks, unit=unit_of(look))
    scene = _scene(run, stack, (layer, head), matrix, options, edit, look)
    drawn = _drawn(stack, layer, head, matrix, look)
    with held:
        pins = head_view("head", drawn, scene)
    shown = Shown(run, stack, layer, head, look, scene, matrix, pins, edit)
    with held:
        _under(shown, drawn)
    return shown


def _scene(
    run: ModelRun,
    stack: Stack,
    at: tuple[int, int],
    matrix: Matrix,
    options: Options,
    edit: HeadEdit,
    look: Look,
) -> HeadScene:
    """The head's tokens, what is pinned and changed, and where the browser fetches other heads."""
    places = explorer_state.Places.of(stack, matrix)
    every = addresses.of_heads(run, stack)
    return HeadScene(
        *axes(matrix),
        options=options,
        group="heads",
        pins=explorer_state.pins(places),
        edit=explorer_state.edit_on_canvas(edit),
        over=explorer_state.over(),
        others=_others(run.request, stack.id, look),
        every=every,
        edited_tiles=None if every else addresses.of_tiles(run, stack, *at, edit),
        on_pins=partial(explorer_state.keep_pins, places),
        on_edit=explorer_state.keep_edit,
        on_over=explorer_state.keep_over,
    )


def _how_shown(run: ModelRun, stack: Stack) -> tuple[Look, dict[str, Any]]:
    """Draw where the weights are from, and the switches for how they are shown."""
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.caption(
            weights_of(run).format(model=plain(run.name)),
            help=origin_of(run),
            width="content",
        )
        with st.popover(_("Display"), icon=":material/palette:", type="tertiary"):
            pair = stack.same_tokens and any(span.segment for span in stack.queries.spans)
            return request_form.look(pair), request_form.colours()


def _drawn(stack: Stack, layer: int, head: int, matrix: Matrix, look: Look) -> Head:
    """A head for the canvas."""
    return Head(
        matrix.values,
        head_title(stack, layer, head),
        matrix.hidden,
        look.values,
        layer,
        head,
        head_drawing.raw_of(stack, layer, head, look),
        sentence_of(matrix),
        titles(stack, layer),
    )


def _others(request: Request, stack_id: StackId, look: Look) -> Callable[[int, int], Head]:
    """A function that computes any head of a run while the run is in memory; it holds the request, not the tensors."""

    def compute(layer: int, head: int) -> Head:
        stack = model_cache.remembered(request).stack(stack_id)
        if not stack.has(layer, head):
            raise LookupError((layer, head))
        return _drawn(stack, layer, head, experiment.head_matrix(stack, layer, head, look), look)

    return compute


def _under(shown: Shown, drawn: Head) -> None:
    matrix = shown.matrix
    name = f"attention-{shown.run.request.model}-layer{shown.layer}-head{shown.head}"
    more = matrix.said_before_w_o(min(shown.query, len(matrix.rows) - 1))
    caption = caption_of_shown(shown)
    live = offers(shown, drawn, caption)

    def heatmap() -> HeadPicture:
        return head_picture(drawn_head(shown), shown.scene, shown.pins)

    laid = overlaid(explorer_state.over(), shown.head, shown.stack.layers[shown.layer].n_heads)[1:]
    more_heads = _("Laid over it: heads {heads} of the same layer.").format(heads=listed(laid))

    def threads() -> LinesPicture:
        others = explorer_state.matrices_over(laid, shown.run, shown.stack, shown.layer, shown.look, shown.edit)
        return lines_picture(drawn_head(shown), shown.scene, shown.pins, others=others)

    with show.line_under("head-out"):
        if more:
            st.markdown(spoken(more), width="stretch")
        show.export_menu(heatmap, name, "head-out", lambda: long_table(matrix), caption, None, live, embeds=True)
        told = sentences(more_heads, caption) if laid else caption
        show.export_menu(threads, f"{name}-lines", "lines-out", None, told, _("Export lines"))
    for note in matrix.notes:
        st.caption(spoken(note))
    explorer_state.say_refusals(shown.stack)
