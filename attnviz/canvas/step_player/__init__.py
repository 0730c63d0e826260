"""A decoder's steps as a film: the new q, keys and values that grow row by row, the new row of attention, the choice.

All steps are sent at once, and the browser plays them; Python hears where the visitor stopped.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from attnviz.base.words import _, ngettext
from attnviz.canvas.shared.component import count, mount_component
from attnviz.canvas.shared.packing import fingerprint
from attnviz.figures.theme import K_VERMILION, MASKED, Q_BLUE, V_GREEN, WEIGHTS
from attnviz.live import canvas_wording


@dataclass(frozen=True)
class PlayedStep:
    """One step: tokens processed with a cache and without, and what each took; bytes of each layer's cache."""

    context: int  #: tokens in the cache after this step
    tokens: tuple[int, int]
    flops: tuple[int, int]
    seconds: tuple[float, float]
    difference: float
    layer_bytes: tuple[int, ...]
    alternatives: Sequence[tuple[str, float, bool]]  #: label, probability, whether it was chosen


@dataclass(frozen=True, eq=False)
class HeadFilm:
    """One head over the T tokens processed: q (T, D), k (T, D), v (T, Dv), output (T, Dv), weights (T, T)."""

    q: np.ndarray
    k: np.ndarray
    v: np.ndarray
    output: np.ndarray
    weights: np.ndarray


@dataclass(frozen=True, eq=False)
class StepFigure:
    """Step `at` as a part of a figure. `labels` are the prompt's tokens (`prompt` of them) and those chosen.

    `total` is how many steps there will be.
    """

    scene: ClassVar[str] = "steps"
    labels: Sequence[str]
    prompt: int
    steps: Sequence[PlayedStep]
    film: HeadFilm
    at: int
    total: int

    @property
    def title(self) -> str:
        """The step in a sentence, as the player says it."""
        end = self.steps[self.at].context
        return player_text(self.prompt, 1)["decode" if self.at else "prefill"].format(
            step=self.at + 1, total=self.total, new=end, token=self.labels[end - 1].strip(), cached=end
        )

    @property
    def header(self) -> dict[str, Any]:
        return {
            "labels": [str(label) for label in self.labels],
            "prompt": self.prompt,
            "rows": len(self.film.q),
            "widths": [self.film.q.shape[1], self.film.v.shape[1]],
            "steps": self.steps,
            "total": self.total,
            "at": self.at,
            "title": self.title,
            "colours": {"q": Q_BLUE, "k": K_VERMILION, "v": V_GREEN, "weights": WEIGHTS, "masked": MASKED},
            "words": player_text(self.prompt, len(self.steps[0].layer_bytes)),
        }

    @property
    def payload(self) -> bytes:
        film = self.film
        return b"".join(array.astype("<f4").tobytes() for array in (film.q, film.k, film.v, film.output, film.weights))


def step_player(key: str, figure: StepFigure, *, on_step: Callable[[int], None]) -> None:
    """Draw the player; `on_step` receives where the visitor stopped.

    While steps still come, the player follows the newest one.
    """
    header, payload = figure.header, figure.payload
    header["name"] = fingerprint(payload, str(header["labels"]), len(figure.steps))
    mount_component(
        "step_player", key, "stood", header, lambda report: count(report.get("at"), len(figure.steps)), on_step, payload
    )


def player_text(prompt: int, layers: int) -> dict[str, str]:
    """Sentences of the player for a prompt of so many tokens; {names} are filled in by the browser."""
    return {
        "first": _("First step"),
        "back": _("Step back"),
        "play": _("Play"),
        "pause": _("Pause"),
        "next": _("Next step"),
        "last": _("Last step"),
        "step": _("Step"),
        "prefill": ngettext(
            "Step 1 of {total}, prefill: the prompt’s {new} token in one pass",
            "Step 1 of {total}, prefill: the prompt’s {new} tokens in one pass",
            prompt,
        ),
        "decode": _("Step {step} of {total}: “{token}” alone is processed; then {cached} tokens are in the cache"),
        "q": _("q of “{token}”"),
        "k": _("K in the cache"),
        "v": _("V in the cache"),
        "weights": _("weight"),
        "output": _("Σ weight · v"),
        "now": _("processed now"),
        "with": _("with"),
        "without": _("without"),
        "rest": _("Row by row: a token’s key, the weight that “{token}” gives it, its value. Point at a row."),
        "row": _("“{token}” gives “{other}” {weight} of its attention"),
        "after": _("“{other}” comes later: at this step it is not in the cache"),
        "film": _("A decoder at work, token by token"),
        "choices": _("Next token"),
        "chosen": _("chosen"),
        "nothing": _("nothing to choose: zero steps were asked for"),
        "work": _("Work"),
        "cache": _("with a cache"),
        "anew": _("without"),
        "tokens": _("tokens, this step"),
        "flops": _("FLOPs, so far"),
        "time": _("time, so far"),
        "same": _("Largest difference between their logits: {now} at this step, {all} so far."),
        "bytes": ngettext("Cache: {bytes} in {layers} layer", "Cache: {bytes} in {layers} layers", layers),
        "of": _("{said}: {kept}"),
        "layer": _("layer {layer}: {bytes}"),
        "scene": _("Keys and values in the cache, and the newest token’s attention to them"),
    } | canvas_wording.joining_text()
