"""What a lecturer reads at the top of a lesson's file: how to change it."""

from __future__ import annotations

from attnviz.base.words import _, listed
from attnviz.pages.lessons.panels.hand_pictures import PICTURES


def lines() -> list[str]:
    """Each is a line of the file."""
    return [
        _("Change the words between quotation marks. A step begins with [[step]]: copy whole steps, or delete them."),
        _("Every step needs title, idea and picture; any other line can go."),
        _("picture: {pictures}; set: how it opens; do: what to try with it").format(pictures=listed(PICTURES)),
        _("facts: what computes the numbers that stand in braces; keep it as long as its words have braces"),
        _("question, answers: asked before truth is shown; right: the number of the right answer, counted from 1"),
        _("after, after_set: the picture once it is answered, where it is to be another"),
        _("say, wrong, minutes: teacher’s notes; terms: words that are explained below the step"),
        _("link: where the step goes on, as Share copies it"),
    ]
