"""The words of a head on a dial, each turned by its place; a word is dragged along the sentence and scores follow."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from attnviz.base.words import _
from attnviz.canvas.shared.component import count, mount_component
from attnviz.live import canvas_wording


@dataclass(frozen=True)
class DialState:
    """Which share is turned, in percent; which word stands at each place; the word that looks; the pair on the dial."""

    turned: int
    order: tuple[int, ...]
    row: int
    pair: int


@dataclass(frozen=True, eq=False)
class DialFigure:
    """The dial as it stands, as a part of a figure too; `q` and `k` (T, P, 2) are not turned yet."""

    scene: ClassVar[str] = "dial"
    state: DialState
    words: tuple[str, ...]
    turns: np.ndarray  #: (P,) radians for each place
    q: np.ndarray
    k: np.ndarray
    scale: float
    title: str = ""

    @property
    def header(self) -> dict[str, Any]:
        return {
            "at": self.state.turned,
            "order": self.state.order,
            "row": self.state.row,
            "pair": self.state.pair,
            "tokens": self.words,
            "turns": self.turns.tolist(),
            "scale": self.scale,
            "title": self.title,
            "colours": canvas_wording.scene_colours(),
            "words": _texts(),
        }

    @property
    def payload(self) -> bytes:
        return self.q.astype("<f4").tobytes() + self.k.astype("<f4").tobytes()


def word_dial(key: str, figure: DialFigure, *, on_turn: Callable[[DialState], None]) -> None:
    """Draw the dial; `on_turn` receives the state that a visitor left."""

    def read(report: dict[str, Any]) -> DialState | None:
        turned, row = count(report.get("at"), 101), count(report.get("row"), len(figure.words))
        order, pair = report.get("order"), count(report.get("pair"), len(figure.turns))
        if turned is None or row is None or pair is None or not isinstance(order, list):
            return None
        places = [count(word, len(figure.words)) for word in order]
        known = [place for place in places if place is not None]
        return DialState(turned, tuple(known), row, pair) if sorted(known) == [*range(len(figure.words))] else None

    mount_component("word_dial", key, "stood", figure.header, read, on_turn, figure.payload)


def _texts() -> dict[str, str]:
    """Words of the picture; {names} are filled in by the browser."""
    return {
        "step": _("Turned by RoPE, share of each angle"),
        "play": _("Play"),
        "pause": _("Pause"),
        "back": _("As typed"),
        "share": _("turned {share}"),
        "dial": _("Pair {pair}: {degrees}° for each place"),
        "place": _("place"),
        "product": "q·k",
        "weight": _("weight of “{query}”"),
        "masked": _("stands after it"),
        "pairs": _("q·k of “{query}” and “{key}”, pair by pair"),
        "pair": _("Pair on the dial"),
        "word": _("“{key}”, place {place}: q·k {score}, weight {share}"),
        "hidden": _("“{key}”, place {place}: stands after “{query}”"),
        "hint": _("Drag a word to another place, or press Alt and an arrow key; a click lets a word look."),
        "first": _("“{query}” stands first: it sees itself alone."),
        "own": _("“{query}” looks most at itself: {share} of its weight."),
        "most": _("“{query}” looks most at “{key}”, {n} {n:place|places} before it: {share} of its weight."),
        "typed": _("As typed it is “{key}” with {share}."),
        "unturned": _("Nothing is turned: scores know no places, only the mask does."),
        "film": _("Words turn by their places, and a head finds the word before"),
    } | canvas_wording.joining_text()
