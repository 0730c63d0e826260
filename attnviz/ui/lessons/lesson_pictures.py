"""The pictures that a step can show, by id, and what each can be set to: all of them the app's own, and live."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from attnviz.experiments.lessons import Subject
from attnviz.ui.lessons import cost_pictures, hand_pictures, trained_pictures

Draw = Callable[[Subject, Mapping[str, str], str], None]
BOARDS = ("embed", "project", "scores", "scale", "mask", "softmax", "sum", "merge", "output", "residual")


@dataclass(frozen=True)
class LiveKind:
    """How it is drawn, the settings that it takes with the values that each allows, and whether it shows the sentence.

    `wide`: it is read at the width of the page only, below the words; `wide_on_page`: but when presented beside them,
    because a screen has less height.
    """

    draw: Draw
    allows: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    of_sentence: bool = True
    wide: bool = False
    wide_on_page: bool = False


PICTURES: dict[str, LiveKind] = {
    "tokens": LiveKind(hand_pictures.tokens, {"show": ("pieces", "vectors", "asked")}),
    "board": LiveKind(hand_pictures.board, {"step": BOARDS, "mask": ("none", "causal"), "heads": ("1", "2")}),
    "head": LiveKind(
        trained_pictures.head,
        {"mask": ("model", "none", "causal", "window"), "scale": ("model", "none", "inverse")},
    ),
    "heads": LiveKind(trained_pictures.heads, {"layer": tuple(str(n) for n in range(30))}),
    "mask": LiveKind(hand_pictures.mask, {"mask": ("none", "causal")}),
    "bars": LiveKind(
        cost_pictures.bars,
        {"d_k": ("1", "4", "16", "64", "256", "512", "1024"), "also": ("inverse",)},
        of_sentence=False,
    ),
    "curves": LiveKind(cost_pictures.curves, {"d_k": ("16", "64", "256", "512", "1024")}, of_sentence=False),
    "order": LiveKind(
        hand_pictures.order, {"kind": ("none", "sinusoidal", "rope-half", "alibi"), "mask": ("none", "causal")}
    ),
    "circle": LiveKind(hand_pictures.circle, of_sentence=False),
    "player": LiveKind(cost_pictures.player, {"decoder": ("core", "trained")}, wide_on_page=True),
    "growth": LiveKind(cost_pictures.growth, of_sentence=False),
    "sharing": LiveKind(cost_pictures.sharing, of_sentence=False, wide=True),
    "next": LiveKind(trained_pictures.following),
}
