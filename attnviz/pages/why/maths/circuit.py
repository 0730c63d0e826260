"""The few heads that keep an answer while all others do what they do for another prompt, and how much they keep."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from attnviz.base.message import Problem
from attnviz.models.attribution.circuit import Ablation, Member
from attnviz.models.catalogue import LoadedModel
from attnviz.pages.why.maths.parts import Ids
from attnviz.runs.model_run import ModelRun, Stack

READ_FROM, MOST_READ = 0.1, 3  #: the smallest weight that is drawn as a line, and how many of a head
DRAWN = 20  #: the largest circuit that is drawn; each size up to it is measured, and some beyond
BEYOND = (30, 50, 100, 200)


@dataclass(frozen=True)
class Config:
    """A prompt, the one whose parts stand in, the tokens asked about, and whether MLPs may be left out as well."""

    text: str
    other: str
    ids: Ids
    with_mlps: bool = False
    position: int | None = None  #: of a masked token that is predicted; None: what follows the last


@dataclass(frozen=True)
class CircuitPart:
    """A head, or an MLP where `head` is None."""

    layer: int
    head: int | None
    score: float  #: what exchanging it changes in the lead, linearised at both prompts
    position: int  #: the token at which that is most
    reads: tuple[tuple[int, float], ...] = ()  #: (token, weight) of what a head looks at most there


@dataclass(frozen=True, eq=False)
class MeasuredCircuit:
    """All parts by the size of their score, and the share of the lead that the first so many keep."""

    config: Config
    parts: tuple[CircuitPart, ...]
    sizes: tuple[int, ...]
    kept: tuple[float, ...] = ()  #: of as many sizes as were computed so far
    whole: float = 0.0  #: the lead of the prompt
    ablated: float = 0.0  #: the lead when every part is exchanged

    @property
    def done(self) -> bool:
        """Whether every size was computed."""
        return len(self.kept) == len(self.sizes)


def run(run: ModelRun, loaded: LoadedModel, config: Config) -> Iterator[MeasuredCircuit]:
    """The parts in the order of their linearised effects, then what more and more of them keep: a pass for a size."""
    ablation = Ablation(loaded, config.text, config.other, *config.ids, by="resample", position=config.position)
    effects = {member: effect.cpu().numpy() for member, effect in ablation.effects_by_position().items()}
    parts = [
        _part(run.stacks[0], member, effect)
        for member, effect in effects.items()
        if config.with_mlps or member.head is not None
    ]
    parts.sort(key=lambda part: -abs(part.score))
    always = [] if config.with_mlps else [member for member in effects if member.head is None]
    ablated = ablation.lead(always)
    if ablation.whole == ablated:
        raise Problem("Both prompts answer alike, so there is no difference to give back: change a word of the second")
    kept: tuple[float, ...] = ()
    made = MeasuredCircuit(config, tuple(parts), sizes(len(parts)), kept, ablation.whole, ablated)
    yield made
    for size in made.sizes:
        members = [*always, *((part.layer, part.head) for part in parts[:size])]
        kept = (*kept, (ablation.lead(members) - ablated) / (ablation.whole - ablated))
        yield replace(made, kept=kept)


def sizes(parts: int) -> tuple[int, ...]:
    """The sizes that are measured of so many parts."""
    return (*range(min(DRAWN, parts - 1) + 1), *(size for size in BEYOND if DRAWN < size < parts), parts)


def _part(stack: Stack, member: Member, effect: np.ndarray) -> CircuitPart:
    """The part at the token at which its effect is largest, and what it looks at there."""
    at = int(np.abs(effect).argmax())
    if member.head is None:
        return CircuitPart(member.layer, None, float(effect.sum()), at)
    weights = stack.layers[member.layer].weights(member.head)[0, 0, at].float().cpu().numpy()
    order = np.argsort(-weights)[:MOST_READ]
    reads = tuple((int(n), float(weights[n])) for n in order if weights[n] >= READ_FROM)
    return CircuitPart(member.layer, member.head, float(effect.sum()), at, reads)
