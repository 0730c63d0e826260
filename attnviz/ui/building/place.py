"""The visitor's place on the walk: the step, the chosen number, the head and the sentence on show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from attnviz.experiments.building import attention_by_hand
from attnviz.ui.building import building_choices
from attnviz.ui.shared import link_state

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
    return Place(**{name: link_state.value(choice) for name, choice in building_choices.AT.items()})


def change(**changes: Any) -> None:
    """Choose another number, head or sentence. Call it from callbacks."""
    link_state.put_all({building_choices.AT[name]: value for name, value in changes.items()})


def step(ids: tuple[str, ...]) -> str:
    """The id of the step on show: the chosen one; else the first on an untouched page, and the scores in a link.

    The scores, too, where this configuration has no such step.
    """
    asked = link_state.value(building_choices.STEP) or link_state.opened(building_choices.STEP)
    if asked in ids:
        return asked
    link_state.refuse(building_choices.STEP, asked, building_choices.STEP_OF_LINKS)
    return building_choices.STEP_OF_LINKS


def walk_to(wanted: str) -> None:
    """Go to another step, at its first matrix. Call it from callbacks."""
    link_state.put_all({building_choices.STEP: wanted, building_choices.AT["part"]: 0})


def head(result: attention_by_hand.Result) -> int:
    """The index of the query head on show."""
    return min(read().head, result.config.n_heads - 1)


def sentence(result: attention_by_hand.Result) -> int:
    """The index of the batch's sentence on show."""
    return min(read().sentence, result.config.batch - 1)
