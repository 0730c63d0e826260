"""Caches that grow as a slider moves, or plays: bars side by side, or bricks with a cache and without one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from attnviz.base.words import _
from attnviz.canvas.shared.component import count, mount_component
from attnviz.figures.theme import V_GREEN
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
    def stops(self) -> int:
        return len(self.tokens)

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


@dataclass(frozen=True)
class BrickFigure:
    """Tokens whose keys and values a decoder computes, with a cache and without one, at step `at` of `total`."""

    scene: ClassVar[str] = "bricks"
    payload: ClassVar[bytes] = b""
    labels: Sequence[str]  #: of the tokens processed so far
    contexts: Sequence[int]  #: tokens in the cache after each step
    kept: Sequence[int]  #: bytes of the cache after each
    total: int
    at: int
    title: str = ""

    @property
    def stops(self) -> int:
        return len(self.contexts)

    @property
    def header(self) -> dict[str, Any]:
        return {
            "labels": [str(label) for label in self.labels],
            "rows": self.contexts[0] + self.total - 1,
            "contexts": list(self.contexts),
            "kept": list(self.kept),
            "total": self.total,
            "at": self.at,
            "title": self.title,
            "colours": canvas_wording.scene_colours() | {"v": V_GREEN},
            "words": _brick_texts(),
        }


def cache_growth(key: str, figure: GrowthFigure | BrickFigure, *, on_stop: Callable[[int], None]) -> None:
    """Draw the bars or the bricks; `on_stop` receives the place where the visitor let go."""
    mount_component(
        "cache_growth", key, "stood", figure.header, lambda report: count(report.get("at"), figure.stops), on_stop
    )


def _brick_texts() -> dict[str, str]:
    return {
        "step": _("Step"),
        "place": _("Step {step} of {total}"),
        "play": _("Play"),
        "pause": _("Pause"),
        "cached": _("With a cache"),
        "cached_about": _("{n:token|tokens} computed, {bytes} kept"),
        "anew": _("Without one"),
        "anew_about": _("{n:token|tokens} computed, {again} thrown away: grey"),
        "said": _(
            "Step {step} of {total}. Keys and values computed so far: with a cache of {cached} "
            "{cached:token|tokens}, which take {bytes}; without one of {anew}."
        ),
        "film": _("A decoder’s keys and values, with a cache and without one"),
    }


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
