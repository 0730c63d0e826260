"""A training run with a handle: its curves, and at the handle's step all heads, which the browser computes."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np

from attnviz.base.words import _
from attnviz.canvas.head.ahead import MOST_BYTES, offer_sentence
from attnviz.canvas.shared.component import count, mount
from attnviz.canvas.shared.packing import fingerprint
from attnviz.live import canvas_wording


@dataclass(frozen=True)
class BirthSizes:
    """What the model is made of; `depth` is the width of a head, `scales` multiply the scores of each layer."""

    words: int
    width: int
    layers: int
    heads: int
    depth: int
    base: float
    causal: bool
    scales: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class BirthCurves:
    """The loss of some steps, scores (C, L*H) of all heads at others; of kept steps the loss with some silenced."""

    loss_at: np.ndarray
    losses: np.ndarray
    at: np.ndarray
    previous: np.ndarray
    induction: np.ndarray
    without_at: np.ndarray
    without: np.ndarray  #: empty where none is silenced


@dataclass(frozen=True, eq=False)
class FilmedRun:
    """A run by its `name`; `numbers` (kept, N) of float16 are the model's at the `steps` (kept,)."""

    name: str
    sizes: BirthSizes
    curves: BirthCurves
    steps: np.ndarray
    numbers: np.ndarray


def birth(
    key: str,
    run: FilmedRun,
    tokens: Sequence[str],
    ids: Sequence[int],
    *,
    at: int,
    silenced: Sequence[int],
    whole: bool,
    on_stand: Callable[[tuple[int, tuple[int, ...]]], None],
) -> None:
    """Draw the run at place `at` of its kept steps, with some heads (by their place among all) silenced.

    `tokens` are two copies of some words, `ids` their numbers in the model's vocabulary. Unless `whole`, steps after
    the handle are not drawn before it has been there. `on_stand` hears where it was left, and what is silenced.
    """
    sizes, size = run.sizes, run.numbers.shape[1]
    name = fingerprint(run.numbers.tobytes())
    held = run.numbers.astype("<f2").tobytes()
    pieces = [
        offer_sentence(("born", name, begin), partial(_piece, run.numbers, begin))
        for begin in range(0, len(held), MOST_BYTES)
    ]
    header: dict[str, Any] = {
        "model": name,
        "sizes": asdict(sizes),
        "size": size,
        "steps": run.steps.tolist(),
        "at": at,
        "silenced": list(silenced),
        "pieces": pieces,
        "curves": {part: np.asarray(values).round(4).tolist() for part, values in vars(run.curves).items()},
        "open": whole,
        "names": [f"{layer}.{head}" for layer in range(sizes.layers) for head in range(sizes.heads)],
        "tokens": list(tokens),
        "ids": list(ids),
        "colours": canvas_wording.colours(),
        "words": _words(),
    }
    for part in ("previous", "induction"):  # a line for each head
        header["curves"][part] = np.transpose(header["curves"][part]).tolist()
    header["layout"] = fingerprint(str(header["words"]), name, str(tokens), str(ids))

    def stood(told: dict[str, Any]) -> tuple[int, tuple[int, ...]] | None:
        place, heads = count(told.get("at"), len(run.steps)), told.get("silenced")
        if place is None or not isinstance(heads, list):
            return None
        most = sizes.layers * sizes.heads
        return place, tuple(sorted(head for head in heads if count(head, most) is not None))

    mount("birth", key, "stood", header, stood, on_stand, run.numbers[at].astype("<f2").tobytes())


def _piece(numbers: np.ndarray, begin: int) -> bytes:
    return numbers.astype("<f2").tobytes()[begin : begin + MOST_BYTES]


def _words() -> dict[str, str]:
    """Sentences of the picture; {names} are filled in by the browser."""
    return {
        "play": _("Play"),
        "pause": _("Pause"),
        "step": _("Training step"),
        "at": _("step {step}"),
        "axis": _("training steps"),
        "loss": _("loss in nats"),
        "losses": _("loss in nats; dashed: with heads silenced"),
        "previous": _("weight on the token before, each head"),
        "induction": _("weight on what came next last time, each head"),
        "head": _("head {head}"),
        "score_previous": _("before {previous}"),
        "score_induction": _("next {induction}"),
        "silenced": _("silenced"),
        "silence": _("A click silences this head: its output is 0. Another click lets it speak."),
        "rest": _("Rows look at columns: the same words. Point at a cell; click a head to silence it."),
        "cell": _("Head {head}: “{query}” ({q}) gives “{key}” ({k}) {weight}"),
        "weight": _("weight"),
        "hidden": _("masked"),
        "number": _("no. {number}"),
        "first": _("Your words"),
        "second": _("Once more"),
        "said": _("Step {step}: {right} of {of} words of the second copy are predicted, loss {loss}."),
        "picture": _("Loss and scores of all heads over training"),
        "best_previous": _("Most on the token before: head {head}, {score}."),
        "best_induction": _("Most on what came next last time: head {head}, {score}."),
    } | canvas_wording.joins()
