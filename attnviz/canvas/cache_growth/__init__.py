"""Caches that grow side by side as a slider for tokens moves, or plays, in the browser."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from attnviz.base.words import _
from attnviz.canvas.shared.component import count, mount_component
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


@dataclass(frozen=True)
class GrowthFigure:
    """The caches at place `at` of `tokens`, as a part of a figure too."""

    scene: ClassVar[str] = "growth"
    payload: ClassVar[bytes] = b""
    tokens: Sequence[int]
    groups: Sequence[GrowingGroup]
    at: int

    @property
    def title(self) -> str:
        """How many tokens there are, as the slider says it."""
        n = self.tokens[self.at]
        return _texts()["one" if n == 1 else "many"].format(n=f"{n:,}")

    @property
    def header(self) -> dict[str, Any]:
        return {
            "tokens": list(self.tokens),
            "groups": self.groups,
            "at": self.at,
            "title": self.title,
            "colours": canvas_wording.scene_colours(),
            "words": _texts(),
        }


def cache_growth(key: str, figure: GrowthFigure, *, on_tokens: Callable[[int], None]) -> None:
    """Draw the bars; `on_tokens` hears the place where the visitor let go."""
    mount_component(
        "cache_growth",
        key,
        "stood",
        figure.header,
        lambda report: count(report.get("at"), len(figure.tokens)),
        on_tokens,
    )


def _texts() -> dict[str, str]:
    return {
        "step": _("Tokens in the cache"),
        "one": _("{n} token in the cache"),
        "many": _("{n} tokens in the cache"),
        "kept": _("{said}: {kept}"),
        "play": _("Play"),
        "pause": _("Pause"),
        **canvas_wording.joining_text(),
    }
