"""The visitor's place on the walk: the step, the chosen number, the head and the sentence on show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from attnviz.app.links import link_state
from attnviz.pages.build import choices
from attnviz.pages.build.maths import attention_by_hand

STRIP = "build_strip"


@dataclass(frozen=True)
class Place:
    """The chosen number (part, row, col), head and sentence."""

    part: int = 0
    row: int = 1
    col: int = 0
    head: int = 0
    sentence: int = 0


def read() -> Place:
    """The place that is in the link, which may lie outside the tensors on show."""
    return Place(**{name: link_state.value(choice) for name, choice in choices.AT.items()})


def change(**changes: Any) -> None:
    """Choose another number, head or sentence. Call it from callbacks."""
    link_state.put_all({choices.AT[name]: value for name, value in changes.items()})


def step(ids: tuple[str, ...]) -> str:
    """The id of the step on show: the chosen one; else the first on an untouched page, and the scores in a link.

    The scores, too, where this configuration has no such step.
    """
    asked = link_state.value(choices.STEP) or link_state.opened(choices.STEP)
    if asked in ids:
        return asked
    link_state.refuse(choices.STEP, asked, choices.STEP_OF_LINKS)
    return choices.STEP_OF_LINKS


def walk_to(wanted: str) -> None:
    """Go to another step, at its first matrix. Call it from callbacks."""
    link_state.put_all({choices.STEP: wanted, choices.AT["part"]: 0})


def head(result: attention_by_hand.Result) -> int:
    """The index of the query head on show."""
    return min(read().head, result.config.n_heads - 1)


def sentence(result: attention_by_hand.Result) -> int:
    """The index of the batch's sentence on show."""
    return min(read().sentence, result.config.batch - 1)
