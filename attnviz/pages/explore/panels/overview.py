"""All heads at once: thumbnails, their order, and the heads that stand out."""

import functools
import time
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, cast

import numpy as np
import streamlit as st

from attnviz.analysis.model_run import ModelRun, Stack, StackId
from attnviz.app import head_drawing, show, widgets
from attnviz.app.cache import model_cache
from attnviz.app.links import link_state
from attnviz.app.text import translate_markdown
from attnviz.base.head_edit import HeadEdit
from attnviz.base.words import _, current_language, join_sentences, ngettext, translate_message
from attnviz.canvas.head.attention_view import overview_grid
from attnviz.canvas.shared import packing
from attnviz.canvas.shared.blobs import Overview, RequestedText
from attnviz.live.matrix_figures import MosaicFigure
from attnviz.live.scene_figure import SceneFigure
from attnviz.pages.explore import choices
from attnviz.pages.explore.maths import whole_model
from attnviz.pages.explore.panels import head as head_panel
from attnviz.pages.explore.panels import shown_head

TOGETHER = 400  # tokens: in a longer sentence weights are computed once, for pictures and measures together
FILLS = 1.75  # layers for each head: such a grid is as high as its box at every width, so that its room can be kept
LONGEST_QUOTED = 80  # characters of the sentence in the title of the picture
PATIENCE = 0.4  # seconds of measuring before its progress is shown


def choose_stack(run: ModelRun) -> Stack:
    """Return the stack of layers to display; draw the choice where there are several."""
    names = {"encoder": _("Encoder"), "decoder": _("Decoder"), "cross": _("Decoder looks at encoder")}
    if len(run.stacks) == 1:
        return run.stacks[0]
    chosen = widgets.select_one(
        choices.STACK, _("Attention"), {s.id: names[s.id] for s in run.stacks}, label_visibility="collapsed"
    )
    return run.stack(cast(StackId, chosen))


def draw(run: ModelRun, stack: Stack) -> tuple[Overview, tuple[int, int]]:
    """Draw the grid of heads; return its thumbnails and the selected (layer, head).

    Heads are measured only if the visitor orders by a measure.
    """
    measures = {
        name: translate_message(whole_model.MEASURES[name][0]) for name in whole_model.applicable_measures(stack)
    }
    measure = widgets.select_one(
        choices.ORDER,
        _("All heads by"),
        {"place": _("layer and head")} | measures,
        style="select",
    )
    tiles, curve = _get_tiles(run, stack), shown_head.current_curve(stack)
    if measure != "place":
        st.caption(translate_message(whole_model.MEASURES[measure][1]))
        tiles = _order_tiles(tiles, _get_measures(run, stack), measure, measures[measure])
    tiles = replace(tiles, grid=replace(tiles.grid, root=curve == "root", silenced=shown_head.silenced_heads(stack)))
    # what the visitor asked for, with all that these pictures depend on besides the sentence
    fingerprint = packing.fingerprint(replace(run.request, text=""), stack.id, measure, curve, current_language())
    fills_box = len(tiles.grid.heads) >= FILLS * max(tiles.grid.heads)
    with st.container(key="many-heads" if fills_box else "few-heads"):
        return tiles, overview_grid(
            "heads",
            tiles,
            *stack.tokens,
            selected=shown_head.current_head(stack),
            on_pick=shown_head.select_head,
            requested=RequestedText(sentence_label(is_read=len(run.stacks) > 1), run.request.text, fingerprint),
        )


def sentence_label(*, is_read: bool) -> str:
    """Label of the sentence's field; `is_read`: a decoder writes another text."""
    return _("Sentence to read") if is_read else _("Sentence")


def _order_tiles(tiles: Overview, measured: whole_model.StackMeasures, measure: str, name: str) -> Overview:
    """Order the thumbnails by a measure, the strongest first; keep their order if all values are equal."""
    values = measured.values[measure]
    finite = values[np.isfinite(values)]
    if finite.size and np.ptp(finite) > 1e-6:
        return tiles.by(values, name, order=True, dim=True)
    if finite.size:
        template = _("All heads have the same value, {value:.2f}: they keep their own order.")
        st.caption(template.format(value=float(finite.max())))
    elif measure in ("induction", "duplicate_token"):
        st.caption(
            _(
                "No token of this sentence comes twice, so no head can look at an earlier copy or at what followed "
                "one: the heads keep their own order. Repeat a word to measure this."
            )
        )
    else:
        st.caption(_("No row of this sentence can be measured this way: the heads keep their own order."))
    return tiles


def offer_grid(run: ModelRun, stack: Stack, tiles: Overview) -> None:
    """Offer the grid as a picture, and every measure of every head as a table."""
    text = run.request.text
    text = text if len(text) <= LONGEST_QUOTED else f"{text[: LONGEST_QUOTED - 1].rstrip()}…"
    title = _("All heads of {model} on “{text}”").format(model=run.name, text=text)
    selected = shown_head.find_nearest_head(stack)
    edit = replace(shown_head.current_edit(stack, selected[0]), seen=link_state.value(choices.SEEN))
    visible_edit = edit if edit.seen != "before" and edit.changes_attention else None
    about = ngettext(
        "{count} head. In each small picture rows are queries and columns keys.",
        "{count} heads. In each small picture rows are queries and columns keys.",
        sum(tiles.grid.heads),
    ).format(count=sum(tiles.grid.heads))
    show.footer(
        lambda: SceneFigure(
            (_edit_figure(stack, MosaicFigure(tiles.thumbnails, tiles.grid, selected, title), visible_edit),), title
        ),
        name=f"attention-all-heads-{run.request.model}",
        key="mosaic",
        canvases=["heads"],
        caption=join_sentences(about, "" if visible_edit is None else _describe_change(stack, selected, visible_edit)),
        table=lambda: _measure_table(_get_measures(run, stack)),
        embeds=False,
    )


def _describe_change(stack: Stack, selected: tuple[int, int], edit: HeadEdit) -> str:
    """Describe the mask and scale of the grid, and which heads they reach."""
    layer, head = selected
    mask, scale, more = head_drawing.describe_edit(edit, stack, layer)
    frame_sentence = _("The head in the frame is head {head} of layer {layer}.").format(layer=layer, head=head)
    original_scale = stack.layers[layer].scale
    return join_sentences(
        "" if edit.where == "all" else frame_sentence,
        head_drawing.mask_and_scale_sentence(mask, scale, original_scale),
        more,
    )


def _edit_figure(stack: Stack, figure: MosaicFigure, edit: HeadEdit | None) -> MosaicFigure:
    """Apply the visitor's mask and scale to the grid, as the browser shows it."""
    if edit is None or figure.selected is None:
        return figure
    if head_drawing.sends_all_heads(stack):
        return replace(figure, edit=edit, every=head_drawing.pack_heads(stack))
    codes = np.frombuffer(
        head_panel.compute_edited_tiles(stack, figure.selected, replace(edit, seen="after")), np.uint8
    )
    return replace(figure, codes=codes.reshape(figure.codes.shape))


def draw_standouts(run: ModelRun, stack: Stack) -> None:
    """Draw a button for each head that shows one pattern most; it selects the head."""
    if len(stack.keys) == 1:
        st.caption(_("A single token can only look at itself: type more words to see what the heads do."))
        return
    strongest = _get_measures(run, stack).standouts
    if not strongest:
        st.caption(_("No head stands out here: none gives half of its weight to one simple pattern."))
        return
    for message, (layer, head) in strongest[:4]:
        st.button(
            translate_markdown(message),
            key=f"standout-{layer}-{head}-{message.template[-20:]}",
            on_click=shown_head.select_head,
            args=(layer, head),
            type="tertiary",
            icon=":material/arrow_forward:",
        )


def _get_tiles(run: ModelRun, stack: Stack) -> Overview:
    """Thumbnails of all heads. Those of a short sentence come without measures, which take longer."""
    key = ("tiles", stack.id)
    layers: Iterable[whole_model.LayerPictures] = whole_model.sweep_model(stack)
    if len(stack.queries) * len(stack.keys) > TOGETHER**2 and model_cache.find_cached(run, key) is None:
        layers = _sweep_layers(run, stack)

    def pack() -> Overview:
        tiles = Overview(
            np.concatenate([packing.thumbnail_codes(layer.largest) for layer in layers]),
            stack.grid,
        )
        return replace(tiles, compressed=tiles.packed)  # once for all visitors, and weighed by the cache

    tiles: Overview = model_cache.cached_result(run, key, pack)
    return tiles


def _get_measures(run: ModelRun, stack: Stack) -> whole_model.StackMeasures:
    """Every measure of every head, from the cache if it is there."""
    key = ("measured", stack.id)
    cached: whole_model.StackMeasures | None = model_cache.find_cached(run, key)
    if cached is not None:
        return cached
    parts = _sweep_layers(run, stack)
    return model_cache.cached_result(run, key, lambda: whole_model.measure_heads(stack, parts))


def _sweep_layers(run: ModelRun, stack: Stack) -> list[whole_model.LayerPictures]:
    """Thumbnails and measures, cached layer by layer, so that a click can interrupt without losing layers."""
    note: Any = None
    start, count = time.monotonic(), len(stack.layers)
    measuring = functools.cache(functools.partial(whole_model.build_yardstick, stack))
    layers: list[whole_model.LayerPictures] = []

    def sweep(index: int) -> whole_model.LayerPictures:
        return whole_model.sweep_one_layer(stack, index, measuring())

    for index in range(count):
        layers.append(model_cache.cached_result(run, ("swept", stack.id, index), functools.partial(sweep, index)))
        if time.monotonic() - start > PATIENCE:
            note = note or st.empty()
            note.caption(_("Measuring the heads: {done} of {layers} layers").format(done=index + 1, layers=count))
    if note is not None:
        note.empty()
    return layers


def _measure_table(measured: whole_model.StackMeasures) -> dict[str, Any]:
    layers, heads = zip(*measured.places, strict=True)
    columns: dict[str, Any] = {"layer": list(layers), "head": list(heads)}
    return columns | {name: np.round(values, 6).tolist() for name, values in measured.values.items()}
