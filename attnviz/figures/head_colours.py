"""Which heads lie over each other in one picture of lines, and in which colours: `src/overlay.js` does the same."""

from __future__ import annotations

from collections.abc import Sequence

from attnviz.figures.theme import HEADS

MOST_HEADS = len(HEADS)


def overlaid(chosen: Sequence[int], lead: int, count: int) -> tuple[int, ...]:
    """The heads in the picture of a layer of `count` heads, the one on show first."""
    others = [head for head in dict.fromkeys(chosen) if head != lead and 0 <= head < count]
    return (lead, *others)[:MOST_HEADS]


def colours_of(shown: Sequence[int]) -> dict[int, int]:
    """The place of each head among the colours: its own where no other has it, else the next free one."""
    places: dict[int, int] = {}
    for head in (*shown[1:], shown[0]):
        place = head % MOST_HEADS
        while place in places.values():
            place = (place + 1) % MOST_HEADS
        places[head] = place
    return places
