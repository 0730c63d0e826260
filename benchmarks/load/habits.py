"""What visitors of a class do: mostly choose heads and move mask and scale, now and then type or turn a page."""

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from benchmarks.load.visitor import Control, Visitor

EXPLORE = "explore"
CLASS_SENTENCES = (
    "The cat sat on the mat because it was tired",
    "When Mary and John went to the store, John gave a drink to",
    "The keys to the cabinet are on the table",
)
WORDS = ("river", "stone", "cloud", "teacher", "window", "garden", "letter", "winter", "music", "lamp", "bridge")
OTHER_PAGES = ("build", "masks", "scaling", "sharing", "lessons", "")
LAYERS, HEADS = 30, 9  # of the model that Explore opens with
#: of 100 answers, how many are of each kind
SHARES = {"choose a head": 40, "mask or scale": 30, "the class's sentence": 10, "another page": 10, "a control": 10}
OWN = 0.1  # the share of visitors who type sentences of their own

Action = Callable[["Habit"], Awaitable[float]]


@dataclass
class Habit:
    """A visitor with a random generator of his own, and the page he is on."""

    visitor: Visitor
    chance: random.Random
    own: bool = False  #: one of those who type sentences of their own
    page: str = EXPLORE
    doing: str = "opens"
    messages: int = 0  #: how many a canvas has sent: each has a number

    async def act(self) -> float:
        """Do one thing; returns the seconds until it is answered."""
        kind = self.chance.choices(list(SHARES), weights=list(SHARES.values()))[0]
        if self.page != EXPLORE and kind not in ("another page", "a control"):
            kind = "another page"
        if kind == "the class's sentence" and self.own:
            kind = "a sentence of one's own"
        self.doing = f"{kind} on {self.page or 'home'}"
        return await ACTIONS[kind](self)

    def next_number(self) -> int:
        self.messages += 1
        return self.messages

    def control(self, key: str) -> Control:
        control = self.visitor.find(key)
        if control is None:
            raise LookupError(f"{self.page or 'home'} has no control {key!r}: {sorted(self.visitor.controls)}")
        return control


async def choose_head(habit: Habit) -> float:
    layer, head = habit.chance.randrange(LAYERS), habit.chance.randrange(HEADS)
    value = {"layer": layer, "head": head, "seq": habit.next_number()}
    return await habit.visitor.tell(habit.control("heads"), "pick", value)


async def mask_or_scale(habit: Habit) -> float:
    edit: dict[str, Any] = {
        "mask": habit.chance.choice(("model", "none", "causal", "window")),
        "window": habit.chance.randint(1, 6),
        "hidden": [],
        "painted": "",
        "scale": "factor",
        "factor": round(habit.chance.uniform(0, 10), 2),
        "where": "head",
        "seen": "after",
        "seq": habit.next_number(),
    }
    return await habit.visitor.tell(habit.control("head"), "edit", edit)


async def class_sentence(habit: Habit) -> float:
    text = habit.chance.choice(CLASS_SENTENCES)
    return await habit.visitor.use(habit.control("text"), string_value=text)


async def own_sentence(habit: Habit) -> float:
    text = " ".join(habit.chance.choices(WORDS, k=habit.chance.randint(6, 20)))
    return await habit.visitor.use(habit.control("text"), string_value=text)


async def other_page(habit: Habit) -> float:
    pages = [page for page in (*OTHER_PAGES, EXPLORE) if page != habit.page]
    habit.page = EXPLORE if habit.page != EXPLORE and habit.chance.random() < 0.7 else habit.chance.choice(pages)
    return await habit.visitor.go(habit.page)


async def any_control(habit: Habit) -> float:
    """Some slider, switch, or choice of the page."""
    usable = [each for each in habit.visitor.controls.values() if each.kind in VALUES]
    if not usable:
        return await other_page(habit)
    control = habit.chance.choice(usable)
    return await habit.visitor.use(control, **VALUES[control.kind](control.proto, habit.chance))


def _slider(proto: Any, chance: random.Random) -> dict[str, Any]:
    steps = round((proto.max - proto.min) / proto.step) if proto.step else 0
    return {"double_array_value": [proto.min + proto.step * chance.randint(0, steps) for _ in proto.default]}


def _one_option(proto: Any, chance: random.Random) -> dict[str, Any]:
    return {"string_value": chance.choice(proto.options)}


def _steps_up(proto: Any, chance: random.Random) -> dict[str, Any]:
    return {"double_value": proto.default + (proto.step or 1) * chance.randint(0, 2)}


VALUES: dict[str, Callable[[Any, random.Random], dict[str, Any]]] = {
    "slider": _slider,
    "radio": _one_option,
    "number_input": _steps_up,
    "checkbox": lambda proto, chance: {"bool_value": chance.random() < 0.5},
}
ACTIONS: dict[str, Action] = {
    "choose a head": choose_head,
    "mask or scale": mask_or_scale,
    "the class's sentence": class_sentence,
    "a sentence of one's own": own_sentence,
    "another page": other_page,
    "a control": any_control,
}
