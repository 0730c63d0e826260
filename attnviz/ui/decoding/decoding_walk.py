"""What next and previous of a presentation go through on this page: the decoder's steps, then the other views."""

from __future__ import annotations

from collections.abc import Mapping

from attnviz.ui.decoding import decoding_choices as choices
from attnviz.ui.shared import link_state, presenting
from attnviz.words import _


def walk(views: Mapping[str, str]) -> presenting.Walk:
    """The walk, with the views' names."""
    sections = presenting.through(choices.VIEW, views)
    if link_state.value(choices.VIEW) != "steps":
        return presenting.Walk(sections.title, sections.place, True, sections.after, _go(sections))
    at = _at()
    place = _("Step {number} of {count}").format(number=at + 1, count=max(1, link_state.value(choices.STEPS)))
    return presenting.Walk(sections.title, place, at > 0, sections.after, _go(sections))


def _at() -> int:
    """The step on show, from 0; while none is chosen, the last."""
    last = max(0, link_state.value(choices.STEPS) - 1)
    asked = link_state.value(choices.AT)
    return last if asked is None else min(asked, last)


def _go(sections: presenting.Walk) -> presenting.Go:
    def go(by: int) -> None:
        for _each in range(abs(by)):
            _one(1 if by > 0 else -1, sections)

    return go


def _one(by: int, sections: presenting.Walk) -> None:
    """One step on: among the decoder's while there are any on this side, else to the next view."""
    last = max(0, link_state.value(choices.STEPS) - 1)
    step = _at() + by
    if link_state.value(choices.VIEW) != "steps" or step > last:
        sections.go(by)
    elif step >= 0:
        link_state.put(choices.AT, None if step == last else step)
