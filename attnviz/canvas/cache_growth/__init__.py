"""Caches that grow side by side as a slider for tokens moves, or plays, in the browser."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from attnviz.base.words import _
from attnviz.canvas.shared.component import count, mount
from attnviz.live import canvas_wording


@dataclass(frozen=True)
class GrowingBar:
    """One cache: its name, what is said of it, its colour, and its bytes at each number of tokens."""

    name: str
    about: str
    colour: str
    bytes: Sequence[int]


@dataclass(frozen=True)
class GrowingGroup:
    """The caches of one model, drawn on one scale: the largest at the end fills the width."""

    name: str
    bars: Sequence[GrowingBar]


def cache_growth(
    key: str, tokens: Sequence[int], groups: Sequence[GrowingGroup], *, at: int, on_tokens: Callable[[int], None]
) -> None:
    """Draw the bars at place `at` of `tokens`; `on_tokens` hears the place where the visitor let go."""
    header: dict[str, Any] = {
        "tokens": list(tokens),
        "groups": groups,
        "at": at,
        "words": {
            "step": _("Tokens in the cache"),
            "one": _("{n} token in the cache"),
            "many": _("{n} tokens in the cache"),
            "kept": _("{said}: {kept}"),
            "play": _("Play"),
            "pause": _("Pause"),
            **canvas_wording.joins(),
        },
    }
    mount("cache_growth", key, "stood", header, lambda told: count(told.get("at"), len(tokens)), on_tokens)
