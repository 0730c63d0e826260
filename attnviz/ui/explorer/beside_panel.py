"""The chosen head beside another head, the same head on another sentence, or another model's head."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from attnviz.core.message import Problem
from attnviz.experiments.explorer import Matrix, ModelRun, Stack, head_matrix, said_of_difference
from attnviz.models.catalogue import EXAMPLES
from attnviz.models.loading import availabilities
from attnviz.ui import canvas
from attnviz.ui.explorer import explorer_choices as choices
from attnviz.ui.explorer import explorer_state
from attnviz.ui.explorer.head_panel import Shown, axes, long_table, telling_row
from attnviz.ui.shared import model_cache, show, spoken, widgets
from attnviz.words import _


def panel(shown: Shown) -> None:
    """Draw the chosen head on the left and the visitor's other choice on the right."""
    kinds = {"head": _("another head"), "sentence": _("another sentence"), "model": _("another model")}
    kind = widgets.one_of(choices.BESIDE, _("Show beside it"), kinds)
    run = _run(shown, kind)
    stack = next((s for s in run.stacks if s.id == shown.stack.id), run.stacks[0])
    layer, head = _place(shown, stack, kind)
    other = head_matrix.head_matrix(stack, layer, head, shown.look)
    left, right = st.columns(2)
    same = shown.matrix.rows == other.rows and shown.matrix.cols == other.cols
    if shown.look.values == "values":
        top = max(canvas.Head(each.values, hidden=each.hidden).largest for each in (shown.matrix, other))
        shown = replace(shown, options=replace(shown.options, top=top))
    with left:
        _draw("beside-a", _name(shown.run, shown.layer, shown.head), shown.matrix, shown, "heads", shown.stack)
    with right:
        _draw("beside-b", _name(run, layer, head), other, shown, "heads" if same else "beside", stack)
    if same:
        st.markdown(spoken(said_of_difference(shown.matrix, other)))


def _run(shown: Shown, kind: str) -> ModelRun:
    request = shown.run.request
    if kind == "sentence":
        text = widgets.text_area(choices.OTHER_TEXT, _("The other sentence"), usual=_another(request.text))
        return model_cache.model_run(replace(request, text=text))
    if kind == "model":
        names = {s.entry.id: s.name for s in availabilities() if s.entry.kind != "pictures" and s.on_this_machine}
        names.pop(request.model, None)
        if not names:
            raise Problem("There is no second model on this machine")
        return model_cache.model_run(
            replace(request, model=widgets.one_of(choices.BESIDE_MODEL, _("The other model"), names, style="select"))
        )
    return shown.run


def _another(text: str) -> str:
    """A sentence to begin with that is not the visitor's: of the examples the one that shares most words with it."""
    words = set(text.lower().split())
    others = [example.text for example in EXAMPLES if example.text != text and not example.second]
    return max(others, key=lambda other: len(words & set(other.lower().split())))


def _place(shown: Shown, stack: Stack, kind: str) -> tuple[int, int]:
    """The (layer, head) to show beside; until one is typed, the next head, or the same of another sentence or model."""
    start = shown.layer, (shown.head + 1) % stack.layers[min(shown.layer, len(stack.layers) - 1)].n_heads
    if kind != "head":
        start = min(shown.layer, len(stack.layers) - 1), shown.head
    usual = f"{start[0]}.{min(start[1], stack.layers[start[0]].n_heads - 1)}"
    text = (
        widgets.text(choices.BESIDE_HEAD[kind], _("Its head, as layer.head"), usual=usual, width=260).strip() or usual
    )
    try:
        layer, head = choices.head_of(text)
    except ValueError:
        raise Problem("“{text}” is not a head: write layer.head, as in 3.0", text=text) from None
    if not stack.has(layer, head):
        raise Problem(
            "There is no head {text}: layers go from 0 to {last}, heads from 0 to {most}",
            text=text,
            last=len(stack.layers) - 1,
            most=stack.layers[min(layer, len(stack.layers) - 1)].n_heads - 1,
        )
    return layer, head


def _name(run: ModelRun, layer: int, head: int) -> str:
    return _("{model}, layer {layer}, head {head}").format(model=run.name, layer=layer, head=head)


def _draw(key: str, name: str, matrix: Matrix, shown: Shown, group: str, stack: Stack) -> None:
    options = replace(shown.options, compact=True, unit="", segments_q=matrix.row_breaks, segments_k=matrix.col_breaks)
    head = canvas.Head(matrix.values, name, matrix.hidden, shown.look.values)
    pins = canvas.head_view(key, head, *axes(matrix), options=options, group=group)
    show.under(
        lambda: canvas.head_picture(head, *axes(matrix), options, pins),
        name=name,
        key=f"{key}-out",
        words=spoken(matrix.said_of(_row(shown, matrix))),
        caption=" ".join(part for part in (name, explorer_state.link()) if part),
        table=lambda: long_table(matrix),
    )


def _row(shown: Shown, matrix: Matrix) -> int:
    """The row to spell out: the visitor's where this picture has the same rows, else one that tells most."""
    if shown.pins and matrix.rows == shown.matrix.rows:
        return min(shown.query, len(matrix.rows) - 1)
    return telling_row(matrix)
