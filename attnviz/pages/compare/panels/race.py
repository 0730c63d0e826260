"""The page's picture: one signal through a recurrence, convolutions and attention, step by step."""

from attnviz.app import guess, show, widgets
from attnviz.app.links import link_state
from attnviz.base.words import _
from attnviz.canvas import signal_race
from attnviz.live.scene_figure import SceneFigure
from attnviz.pages.compare import choices, figures
from attnviz.pages.compare.maths import layer_costs

KERNEL = choices.SIZES["k"]
#: by the machine's name in the picture
KINDS = {"recurrence": "rnn", "convolution": "conv", "attention": "attention"}


def draw_race() -> None:
    """Draw the race as the link has it; what a hand changes goes into the link, the kernel for the costs below too."""
    value = link_state.value
    distance, kernel, dilated = value(choices.DISTANCE), value(KERNEL), value(choices.DILATED)
    state = signal_race.RaceState(value(choices.STEP), distance, kernel, dilated)
    colours = {machine: figures.COLOURS[kind] for machine, kind in KINDS.items()}
    widgets.show_too_high(choices.STEP, max(layer_costs.race_steps(distance, kernel, dilated).values()))
    race = signal_race.RaceFigure(state, layer_costs.LIMITS["k"], colours)
    signal_race.signal_race("c_race", race, on_race=_keep)
    _ask(distance, kernel, dilated)
    distances = range(1, signal_race.MOST + 1)
    steps = [layer_costs.race_steps(away, kernel, dilated) for away in distances]
    show.footer(
        SceneFigure((race,), _("One signal, three machines"), film=race),
        name=f"race-distance-{distance}",
        key="c_race_save",
        canvas=show.live_canvas("c_race"),
        table={"distance": list(distances)} | {machine: [row[machine] for row in steps] for machine in KINDS},
    )


def _ask(distance: int, kernel: int, dilated: bool) -> None:
    """Ask of a convolution whose gaps double what dilation does; an answer shows it."""
    about = f"{distance}.{kernel}"
    if dilated and guess.asked_about(choices.GUESS) != about:  # a hand has shown it
        return
    now, then = (layer_costs.race_steps(distance, kernel, each)["convolution"] for each in (False, True))
    template = (
        _("Dilated, a convolution reaches the word {distance} further on in {then} layers; undilated, in {now}.")
        if then < now
        else _("Dilated or not, a convolution needs as many layers to reach the word {distance} further on: {then}.")
    )
    guess.ask(
        choices.GUESS,
        _(
            "Let each layer of the convolution look {k} times as far as the one below: how many layers does it take?"
        ).format(k=kernel),
        {str(layers): str(layers) for layers in sorted({now, then, (now + 1) // 2, then + 1}, reverse=True)},
        lambda: (str(then), template.format(distance=distance, then=then, now=now)),
        about=about,
        shows=lambda answered: {choices.DILATED: answered},
    )


def _keep(race: signal_race.RaceState) -> None:
    link_state.set_many(
        {
            choices.STEP: race.step,
            choices.DISTANCE: race.distance,
            KERNEL: race.kernel,
            choices.DILATED: race.dilated,
        }
    )
