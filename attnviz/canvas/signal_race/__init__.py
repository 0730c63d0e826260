"""One signal through three machines, step by step: a recurrence, convolutions over each other, attention."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from attnviz.base.words import _
from attnviz.canvas.shared.component import count, mount_component
from attnviz.live import canvas_wording

TICKS = 20  #: places of the slider from one step to the next
MOST = 24  #: words on at most


@dataclass(frozen=True)
class RaceState:
    """Steps taken (None: all), words between start and goal, and the convolution's kernel and dilation."""

    step: int | None
    distance: int
    kernel: int
    dilated: bool


@dataclass(frozen=True)
class RaceFigure:
    """The race as it stands, as a part of a figure too. `kernels`: the smallest and the largest."""

    scene: ClassVar[str] = "race"
    payload: ClassVar[bytes] = b""
    state: RaceState
    kernels: tuple[int, int]
    colours: Mapping[str, str]  #: of recurrence, convolution and attention
    title: str = ""

    @property
    def header(self) -> dict[str, Any]:
        state, texts = self.state, _texts()
        return {
            "at": TICKS * min(state.distance if state.step is None else state.step, state.distance),
            "distance": state.distance,
            "kernel": state.kernel,
            "dilated": state.dilated,
            "ticks": TICKS,
            "most": MOST,
            "kernels": self.kernels,
            "machines": {name: _machines()[name] | {"colour": colour} for name, colour in self.colours.items()},
            "title": self.title,
            "colours": canvas_wording.scene_colours(),
            "words": texts,
        }


def signal_race(key: str, figure: RaceFigure, *, on_race: Callable[[RaceState], None]) -> None:
    """Draw the race; `on_race` receives the state that a visitor left."""

    def read(report: dict[str, Any]) -> RaceState | None:
        at, words = count(report.get("at")), count(report.get("distance"), MOST + 1)
        kernel = count(report.get("kernel"), figure.kernels[1] + 1)
        if at is None or not words or kernel is None or kernel < figure.kernels[0]:
            return None
        step = round(at / TICKS)
        return RaceState(step if step < words else None, words, kernel, report.get("dilated") is True)

    mount_component("signal_race", key, "stood", figure.header, read, on_race)


def _machines() -> dict[str, dict[str, str]]:
    return {
        "recurrence": {
            "name": _("Recurrence"),
            "about": _("each step takes it one word on"),
            "count": _("{n} {n:step|steps}"),
        },
        "convolution": {
            "name": _("Convolution"),
            "about": _("kernel {kernel}: each layer takes it {n} {n:word|words} on"),
            "dilated": _("kernel {kernel}, spread {kernel} times as wide in each layer"),
            "count": _("{n} {n:layer|layers}"),
        },
        "attention": {
            "name": _("Attention"),
            "about": _("one layer joins all words"),
            "count": _("{n} {n:layer|layers}"),
        },
    }


def _texts() -> dict[str, str]:
    return {
        "race": _("One signal, three machines"),
        "play": _("Play"),
        "pause": _("Pause"),
        "step": _("Steps taken"),
        "step_of": _("step {n} of {all}"),
        "distance": _("Words from the first to the one that it must reach"),
        "goal": _("← {n} {n:word|words} on →"),
        "start": _("first word"),
        "smaller": _("Smaller kernel"),
        "larger": _("Larger kernel"),
        "dilate": _("dilated"),
        "arrived": _(
            "From the first of {tokens} words to the last, a signal takes {recurrence} {recurrence:step|steps} in a "
            "recurrence, {convolution} in convolutions with kernel {kernel}, 1 in attention. "
            "For it attention compares all {pairs} pairs of words."
        ),
        "dilated": _(
            "From the first of {tokens} words to the last, a signal takes {recurrence} {recurrence:step|steps} in a "
            "recurrence, {convolution} in dilated convolutions with kernel {kernel}, 1 in attention. "
            "For it attention compares all {pairs} pairs of words."
        ),
    }
