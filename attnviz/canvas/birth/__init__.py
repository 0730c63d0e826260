"""A training run with a slider: its curves and, at the chosen step, all heads, computed in the browser."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from attnviz.base.words import _
from attnviz.canvas.head.ahead import MOST_BYTES, offer_bytes
from attnviz.canvas.shared.component import count, mount_component
from attnviz.canvas.shared.packing import fingerprint
from attnviz.live import canvas_wording

MOST_IN_FILE = 100_000  #: bytes of weights


def birth(
    key: str,
    run_header: Mapping[str, Any],
    numbers: np.ndarray,
    tokens: Sequence[str],
    ids: Sequence[int],
    passes: Callable[[Sequence[int]], tuple[np.ndarray, ...]],
    *,
    at: int,
    silenced: Sequence[int],
    show_all: bool,
    on_stand: Callable[[tuple[int, tuple[int, ...]]], None],
    plays: bool = False,
) -> None:
    """Draw a run at place `at` of its kept steps, with some heads (by their place among all) silenced.

    `run_header` are its name, sizes, curves, steps and names of heads, as in BirthHeader (types.d.ts); `numbers`
    (steps, N) of float16 are the model's. `tokens` are two copies of some words, `ids` their numbers in its vocabulary.
    `passes` makes, for a file, all weights at some steps, how likely each next word is, and whether it is the
    likeliest. Unless `whole`, steps after the handle are not drawn before it has been there. `on_stand` receives
    where it was left, and what is silenced. `plays`: on arrival it plays up to `at`.
    """
    header = _header(run_header, tokens, ids, at, silenced, show_all)
    cells = len(run_header["names"]) * len(ids) * (len(ids) + 1)
    sampled = np.unique(np.linspace(0, len(numbers) - 1, max(1, min(len(numbers), MOST_IN_FILE // cells))).round())
    places = sorted({at, *map(int, sampled)})

    def file_payload() -> bytes:
        """The numbers of the step on show, then the passes of as many steps as a file has room for."""
        weights, likely, right = passes(places)
        parts = (numbers[at].astype("<f2"), np.rint(weights * 65535).astype("<u2"), likely.astype("<f4"), right)
        return b"".join(array.tobytes() for array in parts)

    header |= {
        "size": numbers.shape[1],
        "pieces": [
            offer_bytes(("born", run_header["model"], begin), partial(_piece, numbers, begin))
            for begin in range(0, 2 * numbers.size, MOST_BYTES)
        ],
        "places": places,
        "plays": plays,
        "address": offer_bytes(("born file", run_header["model"], at, tuple(ids), tuple(silenced)), file_payload),
        "layout": fingerprint(str(header["words"]), run_header["model"], str(tokens), str(ids)),
    }

    def read_release(report: dict[str, Any]) -> tuple[int, tuple[int, ...]] | None:
        step_index, heads = count(report.get("at"), len(numbers)), report.get("silenced")
        if step_index is None or not isinstance(heads, list):
            return None
        return step_index, tuple(sorted(head for head in heads if count(head, len(run_header["names"])) is not None))

    mount_component("birth", key, "stood", header, read_release, on_stand, numbers[at].astype("<f2").tobytes())


@dataclass(frozen=True, eq=False)
class BirthFigure:
    """The picture of a run at a step for a file; `numbers` (N,) are the model's at it.

    For a film they are (steps, N). The rest is as in `birth`.
    """

    scene: ClassVar[str] = "birth"
    run_header: Mapping[str, Any]
    numbers: np.ndarray
    tokens: Sequence[str]
    ids: Sequence[int]
    at: int
    silenced: Sequence[int]
    show_all: bool

    @property
    def header(self) -> dict[str, Any]:
        return _header(self.run_header, self.tokens, self.ids, self.at, self.silenced, self.show_all) | {"title": ""}

    @property
    def payload(self) -> bytes:
        return self.numbers.astype("<f2").tobytes()


def _header(
    run_header: Mapping[str, Any],
    tokens: Sequence[str],
    ids: Sequence[int],
    at: int,
    silenced: Sequence[int],
    show_all: bool,
) -> dict[str, Any]:
    """The header for the browser and for a file."""
    return {
        **run_header,
        "at": at,
        "silenced": list(silenced),
        "open": show_all,
        "tokens": list(tokens),
        "ids": list(ids),
        "colours": canvas_wording.scene_colours(),
        "words": _texts(),
    }


def _piece(numbers: np.ndarray, begin: int) -> bytes:
    return numbers.astype("<f2").tobytes()[begin : begin + MOST_BYTES]


def _texts() -> dict[str, str]:
    """Sentences of the picture; {names} are filled in by the browser."""
    return {
        "play": _("Play"),
        "pause": _("Pause"),
        "step": _("Training step"),
        "at": _("step {step}"),
        "axis": _("training steps"),
        "loss": _("loss in nats"),
        "losses": _("loss in nats; dashed: with heads silenced"),
        "previous": _("weight on the token before, other words"),
        "induction": _("weight on what came next last time, other words"),
        "head": _("head {head}"),
        "score_previous": _("before {previous}"),
        "score_induction": _("next {induction}"),
        "silenced": _("silenced"),
        "silence": _(
            "A click silences this head: its output is 0. Another click lets it speak. Arrow keys read its cells."
        ),
        "rest": _("Rows look at columns: your words. Point at a cell; click a head to silence it."),
        "cell": _("Head {head}: “{query}” ({q}) gives “{key}” ({k}) {weight}"),
        "weight": _("weight"),
        "hidden": _("masked"),
        "number": _("no. {number}"),
        "first": _("Your words"),
        "second": _("Once more"),
        "said": _("Step {step}: {right} of {of} words of the second copy are predicted, loss {loss}."),
        "born": _(
            "Step {step}, a head is born: {head} gives half of its weight to what came next last time, and from here "
            "on some head always does."
        ),
        "unborn": _("No head is born: at step {step} none gives half of its weight to what came next last time."),
        "film": _("How a head is born: a training run"),
        "picture": _("Loss and scores of all heads over training"),
        "best_previous": _("No head has more on the token before than {head}: {score}."),
        "best_induction": _("No head has more on what came next last time than {head}: {score}."),
    } | canvas_wording.joining_text()
