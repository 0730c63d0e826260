"""The large head, with a sentence and export menus below it.

The browser fetches on its own what it may need next: other heads, all heads of a short sentence, or the thumbnails of a
long one under a change. The functions that serve it hold no tensors.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attnviz.analysis import head_matrix, what_if
from attnviz.analysis.model_run import ModelRun, Request, Stack, StackId
from attnviz.app import head_drawing, show, widgets
from attnviz.app.cache import model_cache
from attnviz.app.exports import ExportOffer
from attnviz.app.links import link_state
from attnviz.app.page_parts import menu
from attnviz.app.text import escape_markdown, translate_markdown
from attnviz.base.head_edit import HeadEdit
from attnviz.base.head_record import HeadData, HeadView
from attnviz.base.words import _, join_list, join_sentences
from attnviz.canvas.head.attention_view import head_picture, head_view, lines_picture
from attnviz.canvas.shared import packing
from attnviz.figures.theme import overlaid_heads
from attnviz.pages.explore import choices
from attnviz.pages.explore.maths import whole_model
from attnviz.pages.explore.maths.one_head import compute_stages
from attnviz.pages.explore.panels import shown_head, stages

_ASKED = "_why_there_asked"


def ask_why() -> None:
    """Open the panel Why there? and bring it into the window. A callback of the door in the unfolded cell."""
    st.session_state[_ASKED] = times_asked() + 1
    link_state.set_many({choices.OPEN["why"]: True, choices.CUT: ""})


def times_asked() -> int:
    """How many times that door was opened."""
    return int(st.session_state.get(_ASKED, 0))


def draw(run: ModelRun, stack: Stack, layer: int, head: int) -> shown_head.DisplayedHead:
    """Draw the selected head large, with its display options below."""
    picture = st.container()
    line = show.caption_line("head-out")
    with line:
        caption = shown_head.weights_caption(run).format(model=escape_markdown(run.name))
        st.caption(caption, help=shown_head.origin_sentence(run))
        with menu(_("Display"), "display", icon="palette", type="tertiary"):
            options = _choose_options(stack.same_tokens and any(span.segment for span in stack.queries.spans))
            colours = _choose_colours(stack)
    shown_head.leave_out_what_is_missing(stack)
    edit = shown_head.current_edit(stack, layer)
    matrix = head_drawing.edited_matrix(run, stack, layer, head, options, edit)
    axes = shown_head.picture_axes(stack, matrix)
    address = head_drawing.offer_heads(run, stack)
    data = head_drawing.head_data(run, stack, layer, head, options, matrix)
    view = replace(
        head_drawing.default_view(stack, layer, head, options, matrix),
        **colours,
        chips=False,
        lit_row=True,
        pins=shown_head.current_pins(axes),
        over=shown_head.overlaid_heads(),
    )
    with picture:
        pins = head_view(
            "head",
            data,
            view,
            replace(edit, seen=link_state.value(choices.SEEN)),  # what was looked at last, even if nothing is changed
            group="heads",
            others=_make_head_function(run.request, stack.id, options, colours, view.over),
            every=address,
            edited_tiles=None if address else offer_edited_tiles(run, stack, layer, head, edit),
            on_pins=partial(shown_head.store_pins, axes),
            on_edit=shown_head.store_edit,
            on_over=partial(link_state.set_and_push, choices.OVER),
            on_why=ask_why if stack.layers[layer].exact else None,
            displayed=matrix.plain,
        )
        displayed = shown_head.DisplayedHead(
            run, stack, layer, head, options, data, replace(view, pins=pins), matrix, edit
        )
    _draw_footer(displayed, line)
    return displayed


def _choose_options(has_pair: bool) -> head_matrix.DisplayOptions:
    """Draw the display options; `has_pair`: the input has two sentences that can be told apart."""
    values = widgets.select_one(
        choices.VALUES,
        _("Show"),
        {"weights": _("weights"), "values": _("weights × values")},
        help=_(
            "Weights show where a head looks. Weights × values show how much it takes from there: each "
            "weight times the length of the value vector."
        ),
    )
    units = widgets.select_one(
        choices.UNITS,
        _("Tokens as"),
        {"pieces": _("pieces"), "words": _("whole words")},
        help=_(
            "Whole words: weights are summed over the pieces of a word that is looked at, and averaged over "
            "the pieces of a word that looks."
        ),
    )
    special = widgets.select_one(
        choices.SPECIAL,
        _("Special tokens"),
        {"shown": _("shown"), "hidden": _("hidden"), "rest": _("hidden, rows sum to 1 again")},
    )
    segments = "all"
    if has_pair:
        segments = widgets.select_one(
            choices.SEGMENTS,
            _("Sentences"),
            {
                "all": _("everything"),
                "first to second": _("first looks at second"),
                "second to first": _("second looks at first"),
                "first to first": _("first looks at itself"),
                "second to second": _("second looks at itself"),
            },
            style="select",
        )
    return head_matrix.DisplayOptions(values, units, special == "shown", special == "rest", segments)  # type: ignore[arg-type]


def _choose_colours(stack: Stack) -> dict[str, Any]:
    """Draw the colour switches and return them as options of the canvas."""
    scale = widgets.select_one(
        choices.COLOURS,
        _("Colours from 0 to"),
        {"one": _("1, the same for every head"), "own": _("this head's largest")},
    )
    curve = widgets.select_one(
        choices.CURVE,
        _("Colour steps"),
        {"even": _("even"), "root": _("square root")},
        usual=shown_head.current_curve(stack),
    )
    return {"full_range": scale == "one", "root": curve == "root"}


def _make_head_function(
    request: Request,
    stack_id: StackId,
    options: head_matrix.DisplayOptions,
    colours: dict[str, Any],
    over: tuple[int, ...] | None,
) -> Callable[[int, int], tuple[HeadData, HeadView]]:
    """Make a function that computes any head while the run is in memory; it holds the request, not tensors."""

    def compute(layer: int, head: int) -> tuple[HeadData, HeadView]:
        run = model_cache.run_in_memory(request)
        stack = run.stack(stack_id)
        if not stack.has(layer, head):
            raise LookupError((layer, head))
        matrix = head_drawing.unedited_head(run, stack, layer, head, options)
        view = replace(
            head_drawing.default_view(stack, layer, head, options, matrix),
            **colours,
            chips=False,
            lit_row=True,
            over=over,
        )
        return head_drawing.head_data(run, stack, layer, head, options, matrix), view

    return compute


def offer_edited_tiles(run: ModelRun, stack: Stack, layer: int, head: int, edit: HeadEdit) -> str | None:
    """Address of the thumbnails under the visitor's mask and scale; None where nothing is changed.

    All visitors who make this change share it. Nothing is computed before the browser asks, and no model runs.
    """
    if not edit.changes_attention:
        return None
    change = replace(edit, seen="after", silenced=())
    head_position = (layer if edit.where != "all" else 0, head if edit.where == "head" else 0)
    return head_drawing.offer_bytes(
        run.request,
        stack.id,
        ("edited tiles", head_position, change),
        lambda stack: packing.deflate(compute_edited_tiles(stack, head_position, change)),
    )


def compute_edited_tiles(stack: Stack, head_position: tuple[int, int], edit: HeadEdit) -> bytes:
    """Thumbnail codes of all heads, layer by layer, under the edit where it reaches."""
    codes = [packing.thumbnail_codes(layer.largest) for layer in whole_model.sweep_model(stack)]
    for index, heads, weights, hidden in what_if.changed_layers(stack, *head_position, edit):
        codes[index][heads] = packing.make_thumbnails(weights, hidden)
    return np.concatenate(codes).tobytes()


def _cell_offer(displayed: shown_head.DisplayedHead, name: str, caption: str) -> ExportOffer:
    """How the chosen cell came about, as a picture and as numbers, to be saved."""
    stack, matrix = displayed.stack, displayed.matrix
    row, col = displayed.pins.cell or (0, 0)
    query, key = matrix.row_at[row], matrix.col_at[col]
    mask, scale = head_drawing.mask_and_scale_choices(stack, displayed.layer, displayed.edit)
    compute = partial(compute_stages, stack, displayed.layer, displayed.head, query, mask, scale)
    return ExportOffer(
        lambda: stages.cell_picture(compute(), key, stack.queries.labels, stack.keys.labels),
        f"{name}-cell",
        "cell-out",
        lambda: stages.steps_table(compute(), key, stack.keys.labels),
        caption,
        canvases=["head .av-cell"],
    )


def _draw_footer(displayed: shown_head.DisplayedHead, line: DeltaGenerator) -> None:
    """Draw the footer of the large head: the menu that saves it and what stands beside it, and notes."""
    run, stack, matrix = displayed.run, displayed.stack, displayed.matrix
    name = f"attention-{run.request.model}-layer{displayed.layer}-head{displayed.head}"
    output_sentence = matrix.sentence_before_w_o(displayed.query)
    caption, title = shown_head.displayed_caption(displayed), displayed.picture_title(matrix, displayed.edit.seen)
    # what is on show, as numbers: the head under the visitor's mask and scale, or the difference that they make
    view = replace(displayed.view, kind="diff") if displayed.edit.seen == "difference" else displayed.view
    overlaid = overlaid_heads(shown_head.overlaid_heads(), displayed.head, stack.layers[displayed.layer].n_heads)[1:]
    overlay_sentence = (
        _("Laid over it: heads {heads} of the same layer.").format(heads=join_list(overlaid)) if overlaid else ""
    )
    overlaid_values = partial(
        shown_head.overlaid_matrices, overlaid, run, stack, displayed.layer, displayed.options, displayed.edit
    )
    if displayed.pins.cell is not None and stack.layers[displayed.layer].exact:  # unfolded in the place of the lines
        beside = (_("Matrix"), _("Cell"), _cell_offer(displayed, name, caption))
    else:
        lines = ExportOffer(
            lambda: lines_picture(matrix.data, view, view.pins, title, overlaid_values()),
            f"{name}-lines",
            "lines-out",
            caption=join_sentences(overlay_sentence, caption),
            canvases=["head .av-lines"],
        )
        beside = (_("Matrix"), _("Lines"), lines)
    if output_sentence:
        st.markdown(translate_markdown(output_sentence))
    with line:
        show.save_menu(
            partial(head_picture, matrix.data, view, view.pins, title, computed=displayed.data, edit=displayed.edit),
            name,
            "head-out",
            partial(head_drawing.to_long_table, matrix),
            caption,
            live=shown_head.save_offers(displayed, caption),
            embeds=True,
            canvases=["head"],
            beside=beside,
        )
    for note in matrix.notes:
        st.caption(translate_markdown(note))
    shown_head.show_refusals()
