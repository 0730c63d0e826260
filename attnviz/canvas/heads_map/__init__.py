"""All heads of a model, each drawn as its own small pattern, in the model's order or by kind."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from attnviz.base.words import _
from attnviz.canvas.shared.component import count, mount_component
from attnviz.live import canvas_wording

LONGEST_QUOTE = 150  #: characters
WORDS = 4  #: of a small picture, each of them twice


@dataclass(frozen=True, eq=False)
class HeadsMapFigure:
    """The map for the page and for a file.

    `numbers` has a row for each head: layer, head, number of its strongest pattern, whether it is named after it, the
    standard error, cost (NaN: unknown), share of rows explained, number of the best sentence; then the mean weight on
    each of `patterns`, and the score of the first sentence of each tenth (NaN where there are fewer).
    """

    scene: ClassVar[str] = "headsMap"
    numbers: np.ndarray
    #: id -> a head's name, what such a head does, the pattern's own name, [key, query] of its cells in a small picture
    patterns: Mapping[str, tuple[str, str, str, list[list[int]]]]
    sentences: Sequence[str]
    causal: bool
    at: int | None
    by: str
    title: str = ""

    @property
    def header(self) -> dict[str, Any]:
        names, does, nouns, cells = zip(*self.patterns.values(), strict=True)
        quotes = [text if len(text) <= LONGEST_QUOTE else text[:LONGEST_QUOTE] + "…" for text in self.sentences]
        return {
            "patterns": list(self.patterns),
            "cells": list(cells),
            "kinds": [*names, _("no name")],
            "does": list(does),
            "nouns": list(nouns),
            "sentences": quotes,
            "causal": self.causal,
            "at": self.at,
            "by": self.by,
            "title": self.title,
            "colours": canvas_wording.scene_colours(),
            "words": _texts(bool(np.isfinite(self.numbers[:, 5]).any())),
        }

    @property
    def payload(self) -> bytes:
        return self.numbers.astype("<f4").tobytes()


def heads_map(key: str, figure: HeadsMapFigure, *, on_choose: Callable[[tuple[int | None, str, bool]], None]) -> None:
    """Draw the map; `on_choose` receives which head is chosen, the order, and whether it is to be opened."""

    def read_choice(report: dict[str, Any]) -> tuple[int | None, str, bool] | None:
        by = report.get("by")
        at = count(report.get("at"), len(figure.numbers))
        return (at, by, report.get("open") is True) if by in ("kind", "layer") else None

    mount_component("heads_map", key, "stood", figure.header, read_choice, on_choose, figure.payload)


def _texts(has_costs: bool) -> dict[str, str]:
    """Sentences of the map; {names} are filled in by the browser."""
    legend = _(
        "Each picture is a head on eight tokens, four words twice: lines are as bright as their mean weight, and what "
        "is left is spread evenly."
    )
    area = (
        _("Its area is what the loss rises by without it; of each kind the costliest stand first.")
        if has_costs
        else _("All are equally large.")
    )
    return {
        "kind": _("By kind"),
        "layer": _("layer"),
        "head": _("head"),
        "model": _("In the model"),
        "orders": _("Order of the heads"),
        "picture": _("All heads, one small picture each"),
        "help": _("All heads: arrow keys go from head to head, Enter chooses one"),
        "name": _("Layer {layer}, head {head}: {kind}"),
        "does": _("It {does}: {mean} of its weight, where there is such a token."),
        "unnamed": _("No pattern has half of its weight. It has most on “{pattern}”: {mean}."),
        "rows": _("That pattern explains {share} of all its rows."),
        "cost": _("Without it the loss changes by {cost} nats a token."),
        "uncosted": _("Its cost has not been measured."),
        "spread": _(
            "Weight on “{pattern}” in its texts, a tenth a bar: from the text that has most to the one that has least."
        ),
        "open": _("Open in Explore, on the sentence below"),
        "single": _("From a single text, which is below."),
        "legend": f"{legend} {area}",
        "film": _("Heads go to their kinds"),
        **canvas_wording.joining_text(),
    }
