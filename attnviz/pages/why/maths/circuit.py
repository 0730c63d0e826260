"""The few heads that keep an answer while all others do what they do for another prompt, and how much they keep."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from attnviz.models.attribution.circuit import Ablation
from attnviz.models.attribution.patching import attribution_patching
from attnviz.models.capture import capture
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


@dataclass(frozen=True)
class CircuitPart:
    """A head, or an MLP where `head` is None."""

    layer: int
    head: int | None
    score: float  #: what exchanging it changes in the lead, to first order
    position: int  #: the token at which that is most
    reads: tuple[tuple[int, float], ...] = ()  #: (token, weight) of what a head looks at most there


@dataclass(frozen=True, eq=False)
class Circuit:
    """All parts by the size of their score, and the share of the lead that the first so many keep."""

    config: Config
    parts: tuple[CircuitPart, ...]
    sizes: tuple[int, ...]
    kept: tuple[float, ...] = ()  #: of as many sizes as were computed so far
    whole: float = 0.0  #: the lead of the prompt
    ablated: float = 0.0  #: the lead when every part is exchanged

    @property
    def nbytes(self) -> int:
        """Bytes that this result holds in memory, about."""
        return 200 * len(self.parts)

    @property
    def done(self) -> bool:
        """Whether every size was computed."""
        return len(self.kept) == len(self.sizes)


def run(run: ModelRun, loaded: LoadedModel, config: Config) -> Circuit:
    """The parts in their order; nothing is left out yet."""
    mlps = _mlps(loaded, config.text) if config.with_mlps else ()
    made = attribution_patching(loaded, config.text, config.other, *config.ids, modules=mlps)
    heads = made.heads.numpy()
    parts = [_head(run.stacks[0], heads, *place) for place in run.stacks[0].places]
    if made.modules is not None:
        rows = enumerate(made.modules.numpy())
        parts += [CircuitPart(layer, None, float(row.sum()), int(np.abs(row).argmax())) for layer, row in rows]
    parts.sort(key=lambda part: -abs(part.score))
    return Circuit(config, tuple(parts), sizes(len(parts)), (), made.after, made.before)


def _mlps(loaded: LoadedModel, text: str) -> tuple[str, ...]:
    """The names of the modules that add to the stream beside attention."""
    residual = capture(loaded, text, residual=True).residual
    assert residual is not None
    return residual.mlps


def sizes(parts: int) -> tuple[int, ...]:
    """The sizes that are measured of so many parts."""
    return (*range(min(DRAWN, parts - 1) + 1), *(size for size in BEYOND if DRAWN < size < parts), parts)


def _head(stack: Stack, scores: np.ndarray, layer: int, head: int) -> CircuitPart:
    values = scores[layer, head]
    at = int(np.abs(values).argmax())
    weights = stack.layers[layer].weights(head)[0, 0, at].float().cpu().numpy()
    order = np.argsort(-weights)[:MOST_READ]
    reads = tuple((int(n), float(weights[n])) for n in order if weights[n] >= READ_FROM)
    return CircuitPart(layer, head, float(values.sum()), at, reads)


def measured(loaded: LoadedModel, begun: Circuit) -> Iterator[Circuit]:
    """The same with what more and more parts keep: one pass for each size."""
    config = begun.config
    ablation = Ablation(loaded, config.text, config.other, *config.ids, by="resample")
    order = [(part.layer, part.head) for part in begun.parts]
    always = [] if config.with_mlps else [part for part in ablation.direct if part.head is None]
    ablated = ablation.lead(always)
    kept: tuple[float, ...] = ()
    for size in begun.sizes:
        share = (ablation.lead([*always, *order[:size]]) - ablated) / (ablation.whole - ablated)
        kept = (*kept, share)
        yield replace(begun, kept=kept, whole=ablation.whole, ablated=ablated)
