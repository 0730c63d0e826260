"""A word's way through attention, step by step: words, vectors, scores, weights and a mixture, as marks that move."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from attnviz.base.query_numbers import QueryNumbers
from attnviz.base.words import _
from attnviz.canvas.shared.component import count, mount_component
from attnviz.figures.theme import TENSORS
from attnviz.live import canvas_wording

#: what is seen, one after the other; story_scene.js has the same
STAGES = (
    "words", "vectors", "asked", "roles", "scores", "scaled", "masked", "shares", "weights", "values", "mixture", "new",
    "changed", "matrix",
)  # fmt: skip
HANDLES = ("scale", "terms")


@dataclass(frozen=True)
class StoryView:
    """What a step shows: its stages in order, and what the visitor has set. Also a part of a figure."""

    numbers: QueryNumbers
    track: Sequence[str]
    step: int  #: a number that grows from step to step
    pair: int  #: the key that the query meets large
    factor: float  #: what multiplies the scores
    terms: int  #: how many products a score adds up
    handle: str = ""  #: one of HANDLES, if it can be moved
    title: str = field(default="", compare=False)

    @property
    def scene(self) -> str:
        return "story"

    @property
    def header(self) -> dict[str, Any]:
        numbers = self.numbers
        return {
            "tokens": list(numbers.tokens),
            "starts": [bool(start) for start in numbers.starts],
            "row": numbers.row,
            "width": int(numbers.q.size),
            "seen": [int(seen) for seen in numbers.seen],
            "changed": numbers.changed,
            "track": list(self.track),
            "at": len(self.track) - 1,
            "step": self.step,
            "pair": self.pair,
            "factor": self.factor,
            "terms": self.terms,
            "handle": self.handle,
            "title": self.title,
            "colours": canvas_wording.scene_colours() | {"roles": TENSORS},
            "words": _texts(),
        }

    @property
    def payload(self) -> bytes:
        numbers = self.numbers
        arrays = (numbers.x, numbers.k, numbers.v, numbers.q, numbers.weights)
        return b"".join(np.ascontiguousarray(array, "<f4").tobytes() for array in arrays)


@dataclass(frozen=True)
class StoryPick:
    """What a visitor set: the key on show, the factor of the scores, and how many products they add up."""

    pair: int
    factor: float
    terms: int


def attention_story(key: str, view: StoryView, *, on_pick: Callable[[StoryPick], None]) -> None:
    """Draw the story; `on_pick` receives what a visitor has set, on release."""
    keys, width = len(view.numbers.tokens), view.numbers.q.size

    def read(report: dict[str, Any]) -> StoryPick | None:
        pair, terms, factor = count(report.get("pair"), keys), count(report.get("terms"), width + 1), report["factor"]
        is_factor = isinstance(factor, int | float) and not isinstance(factor, bool) and 0 <= factor <= 1
        return StoryPick(pair, float(factor), terms) if pair is not None and terms and is_factor else None

    mount_component("attention_story", key, "stood", view.header, read, on_pick, view.payload)


def _texts() -> dict[str, str]:
    return {
        "story": _("From words to a new vector"),
        "keys": _("The key that meets the query"),
        "play": _("Play"),
        "pause": _("Pause"),
        "query": _("query"),
        "key": _("key"),
        "value": _("value"),
        "score": _("score"),
        "weight": _("weight"),
        "scale": _("Scores times"),
        "terms": _("Products added up"),
        "hidden": _("masked"),
        "new_vector": _("new “{token}”"),
        "with_new": _("with “{token}”"),
        "with_old": _("grey: with “{token}”"),
        "story_words": _("The sentence, as the model cuts it into tokens."),
        "story_vectors": _("Each strip is a vector: a strong colour is a number far from 0."),
        "story_asked": _("“{token}” looks at itself and at what comes before it."),
        "story_roles": _("One query, of “{token}”; a key and a value of every token."),
        "story_scores": _("“{token}” and “{key}”: {terms} products, added up, make {value}."),
        "story_scaled": _("Every score times {factor}: with “{key}” it is {value}."),
        "story_masked": _("Tokens after “{token}” are masked: they get no weight."),
        "story_shares": _("“{token}” gives “{best}” {share}: no key gets more."),
        "story_weights": _("“{token}” gives “{best}” {share} of its weight; all together are 100%."),
        "story_handle": _(
            "Scores times {factor}: “{best}” has {share}. {effective} effective keys: so many would share alike."
        ),
        "story_values": _("Weights on the left, the values that they are for on the right."),
        "story_mixture": _("Each value times its weight, added up: {share} of “{best}”."),
        "story_new": _("“{token}” goes on with this vector: {share} of it is the value of “{best}”."),
        "story_changed": _("“{token}” gave “{old}” {before}, and gives “{fresh}” {after}."),
        "story_matrix": _("All rows of the head: each adds up to 1. The stronger the colour, the larger the weight."),
    }
