"""Where the visitor stands on the walk: the step, the number that is chosen, the head and the sentence on show."""

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
    """As the link has it; nothing is checked against today's tensors."""
    return Place(**{name: link_state.value(choice) for name, choice in building_choices.AT.items()})


def change(**changes: Any) -> None:
    """Move. Call it from callbacks."""
    link_state.put_all({building_choices.AT[name]: value for name, value in changes.items()})


def step(ids: tuple[str, ...]) -> str:
    """The step stood on: the one asked for, or the scores where this configuration has no such step."""
    asked = link_state.value(building_choices.STEP) or building_choices.FIRST_STEP
    if asked in ids:
        return asked
    link_state.refuse(building_choices.STEP, asked, building_choices.FIRST_STEP)
    return building_choices.FIRST_STEP


def walk_to(wanted: str) -> None:
    """Another step, from its first matrix on. Call it from callbacks."""
    usual = "" if wanted == building_choices.FIRST_STEP else wanted
    link_state.put_all({building_choices.STEP: usual, building_choices.AT["part"]: 0})


def head(result: attention_by_hand.Result) -> int:
    """The query head on show."""
    return min(read().head, result.config.n_heads - 1)


def sentence(result: attention_by_hand.Result) -> int:
    """The sentence of the batch on show."""
    return min(read().sentence, result.config.batch - 1)
