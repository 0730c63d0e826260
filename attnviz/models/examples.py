"""Sentences that each show something, with the model and the head that show it best."""

from __future__ import annotations

from dataclasses import dataclass

from attnviz.core.message import Message


@dataclass(frozen=True)
class Example:
    """One sentence for the explorer. `head` is (layer, head) of `model`, where one head shows the point."""

    id: str
    text: str
    shows: Message
    model: str = "smollm2-135m"
    head: tuple[int, int] | None = None
    second: str = ""


EXAMPLES: tuple[Example, ...] = (
    Example(
        "pronoun",
        "The animal didn't cross the street because it was too tired.",
        Message("What “it” stands for: two candidates, and this head picks the animal."),
        head=(13, 8),
    ),
    Example(
        "pronoun-street",
        "The animal didn't cross the street because it was too wide.",
        Message("The same sentence with one other word: what does “it” stand for now?"),
        head=(13, 8),
    ),
)
