"""The mask and the scale that a visitor put on the head on show: between the link, the canvas and the experiment."""

from __future__ import annotations

import base64

from attnviz import canvas
from attnviz.app import edited_head, widgets
from attnviz.app.links import link_state
from attnviz.pages.explore import choices
from attnviz.runs.model_run import Stack
from attnviz.runs.what_if import WhatIf


def chosen(stack: Stack) -> WhatIf:
    """The change of mask and scale that the link holds, as far as this sentence has its tokens."""
    keys = tuple(key for key in link_state.value(choices.HIDDEN) if isinstance(key, int))
    asked = canvas.HeadEdit(
        link_state.value(choices.MASK),
        link_state.value(choices.WINDOW),
        keys,
        base64.b64decode(link_state.value(choices.PAINTED) or ""),
        link_state.value(choices.SCALE),
        link_state.value(choices.FACTOR),
        link_state.value(choices.WHERE),
    )
    return edited_head.fitted(asked, len(stack.queries), len(stack.keys))[0]


def on_canvas(change: WhatIf) -> canvas.HeadEdit:
    """The change as the canvas has it."""
    return canvas.HeadEdit(
        change.pattern,
        change.window,
        change.hidden,
        change.painted,
        change.scale,
        change.factor,
        change.where,
        link_state.value(choices.SEEN),
    )


def keep(edit: canvas.HeadEdit) -> None:
    """Keep what a hand has changed; in the link it is one step. A callback."""
    window, factor = choices.WINDOW, choices.FACTOR
    link_state.put_all({
        choices.MASK: edit.mask,
        window: min(edit.window, choices.LONGEST_WINDOW),
        choices.HIDDEN: edit.hidden,
        choices.PAINTED: base64.b64encode(edit.painted).decode() or None if edit.mask == "painted" else None,
        choices.SCALE: edit.scale,
        factor: min(edit.factor, choices.LARGEST_FACTOR),
        choices.WHERE: edit.where,
        choices.SEEN: edit.seen,
    })  # fmt: skip


def say_refusals(stack: Stack) -> None:
    """Say why parts of the link that are about mask and scale are not used."""
    widgets.chosen_of(choices.HIDDEN, range(len(stack.keys)))
    for choice in (choices.MASK, choices.WINDOW, choices.HIDDEN, choices.SCALE, choices.FACTOR, choices.WHERE):
        widgets.say_refusal(choice)


def seen(stack: Stack, layer: int, change: WhatIf) -> str:
    """What of the change is on show: "before" where there is nothing to show."""
    return link_state.value(choices.SEEN) if change.changes_attention and stack.layers[layer].exact else "before"
