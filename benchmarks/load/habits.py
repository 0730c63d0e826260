"""What visitors of a class do: mostly choose heads and move mask and scale, now and then type or turn a page."""

import random
from collections.abc import Callable
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
SHARES = {"choose a head": 40, "mask or scale": 30, "a sentence": 10, "another page": 10, "a control": 10}
OWN = 0.1  # the share of visitors who type sentences of their own
#: what a visitor may set a control to, by its kind
VALUES: dict[str, Callable[[Any, random.Random], dict[str, Any]]] = {
    "slider": lambda proto, chance: {"double_array_value": [_at_a_step(proto, chance) for _ in proto.default]},
    "radio": lambda proto, chance: {"string_value": chance.choice(proto.options)},
    "number_input": lambda proto, chance: {"double_value": proto.default + (proto.step or 1) * chance.randint(0, 2)},
    "checkbox": lambda proto, chance: {"bool_value": chance.random() < 0.5},
}


def _at_a_step(proto: Any, chance: random.Random) -> float:
    steps = round((proto.max - proto.min) / proto.step) if proto.step else 0
    return float(proto.min + proto.step * chance.randint(0, steps))


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
        self.doing = f"{kind} on {self.page or 'home'}"
        match kind:
            case "choose a head":
                layer, head = self.chance.randrange(LAYERS), self.chance.randrange(HEADS)
                return await self.tell("heads", "pick", {"layer": layer, "head": head})
            case "mask or scale":
                return await self.tell("head", "edit", self.edit())
            case "a sentence":
                return await self.visitor.use(self.control("text"), string_value=self.sentence())
            case "a control":
                return await self.any_control()
        return await self.other_page()

    def control(self, key: str) -> Control:
        control = self.visitor.find(key)
        if control is None:
            raise LookupError(f"{self.page or 'home'} has no control {key!r}: {sorted(self.visitor.controls)}")
        return control

    async def tell(self, canvas: str, name: str, value: dict[str, Any]) -> float:
        self.messages += 1
        return await self.visitor.tell(self.control(canvas), name, value | {"seq": self.messages})

    def edit(self) -> dict[str, Any]:
        """A mask and a scale, as the head's canvas tells them."""
        mask, window = self.chance.choice(("model", "none", "causal", "window")), self.chance.randint(1, 6)
        factor = round(self.chance.uniform(0, 10), 2)
        drawn = {"hidden": [], "painted": "", "silenced": [], "where": "head", "seen": "after"}
        return {"mask": mask, "window": window, "scale": "factor", "factor": factor} | drawn

    def sentence(self) -> str:
        if self.own:
            return " ".join(self.chance.choices(WORDS, k=self.chance.randint(6, 20)))
        return self.chance.choice(CLASS_SENTENCES)

    async def any_control(self) -> float:
        """Some slider, switch, or choice of the page; another page where there is none."""
        usable = [each for each in self.visitor.controls.values() if each.kind in VALUES]
        if not usable:
            return await self.other_page()
        control = self.chance.choice(usable)
        return await self.visitor.use(control, **VALUES[control.kind](control.proto, self.chance))

    async def other_page(self) -> float:
        pages = [page for page in (*OTHER_PAGES, EXPLORE) if page != self.page]
        back = self.page != EXPLORE and self.chance.random() < 0.7
        self.page = EXPLORE if back else self.chance.choice(pages)
        return await self.visitor.go(self.page)
