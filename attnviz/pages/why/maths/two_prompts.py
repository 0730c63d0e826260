"""Circuits by resample ablation, and activation patching, between two prompts of equal length."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from attnviz.analysis.model_run import ModelRun, Stack
from attnviz.base.message import Problem
from attnviz.models.attribution.circuit import Ablation, Member
from attnviz.models.attribution.patching import Site, activation_patching, attribution_patching
from attnviz.models.capture import logit_diff
from attnviz.models.catalogue import LoadedModel
from attnviz.pages.why.maths.parts import Ids

MIN_READ_WEIGHT, MAX_READS = 0.1, 3  #: the smallest weight that is drawn as a line, and how many of a head
MAX_CIRCUIT_SIZE = 20  #: the largest circuit that is drawn; each size up to it is measured, and some beyond
LARGER_SIZES = (30, 50, 100, 200)
MAX_EXACT_CELLS = 600  #: cells that are computed exactly, the largest first


@dataclass(frozen=True)
class TwoPrompts:
    """Two prompts of equal length, and the two tokens whose logit difference is measured (None: one logit)."""

    text: str
    second_prompt: str
    ids: Ids
    position: int | None = None  #: of a masked token that is predicted; None: what follows the last

    def refuse_equal_answers(self, difference: float) -> None:
        """Raise a Problem if both prompts have the same logit difference."""
        if abs(difference) < 1e-6:
            raise Problem(
                "Both prompts answer alike, so there is no difference to give back: change a word of the second"
            )


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
    """Components by absolute score, and the faithfulness of the circuits of the first 0, 1, 2... of them."""

    prompts: TwoPrompts
    with_mlps: bool  #: whether MLPs may be left out as well
    parts: tuple[CircuitPart, ...]
    sizes: tuple[int, ...]
    faithfulness: tuple[float, ...] = ()  #: of as many sizes as were computed so far
    logit_diff: float = 0.0  #: the lead of the prompt
    ablated_logit_diff: float = 0.0  #: the lead when every part is exchanged

    @property
    def is_done(self) -> bool:
        """Whether every size was computed."""
        return len(self.faithfulness) == len(self.sizes)


def measure_circuit(
    run: ModelRun, loaded: LoadedModel, prompts: TwoPrompts, with_mlps: bool = False
) -> Iterator[MeasuredCircuit]:
    """Rank components by linearised effect, then measure circuits of growing size, one pass each."""
    ablation = Ablation(
        loaded,
        prompts.text,
        prompts.second_prompt,
        logit_diff(*prompts.ids),
        by="resample",
        position=prompts.position,
    )
    effects = {member: effect.cpu().numpy() for member, effect in ablation.effects_by_position().items()}
    parts = [
        _locate_component(run.stacks[0], member, effect)
        for member, effect in effects.items()
        if with_mlps or member.head is not None
    ]
    parts.sort(key=lambda component: -abs(component.score))
    always = [] if with_mlps else [member for member in effects if member.head is None]
    ablated = ablation.lead(always)
    prompts.refuse_equal_answers(ablation.whole - ablated)
    faithfulness: tuple[float, ...] = ()
    circuit = MeasuredCircuit(
        prompts, with_mlps, tuple(parts), measured_sizes(len(parts)), faithfulness, ablation.whole, ablated
    )
    yield circuit
    for size in circuit.sizes:
        members = [*always, *((component.layer, component.head) for component in parts[:size])]
        faithfulness = (*faithfulness, (ablation.lead(members) - ablated) / (ablation.whole - ablated))
        yield replace(circuit, faithfulness=faithfulness)


def measured_sizes(parts: int) -> tuple[int, ...]:
    """The sizes that are measured of so many parts."""
    return (
        *range(min(MAX_CIRCUIT_SIZE, parts - 1) + 1),
        *(size for size in LARGER_SIZES if MAX_CIRCUIT_SIZE < size < parts),
        parts,
    )


def _locate_component(stack: Stack, member: Member, effect: np.ndarray) -> CircuitPart:
    """A component at the token where its effect is largest, with the tokens that a head attends to there."""
    at = int(np.abs(effect).argmax())
    if member.head is None:
        return CircuitPart(member.layer, None, float(effect.sum()), at)
    weights = stack.layers[member.layer].weights(member.head)[0, 0, at].float().cpu().numpy()
    order = np.argsort(-weights)[:MAX_READS]
    reads = tuple((int(n), float(weights[n])) for n in order if weights[n] >= MIN_READ_WEIGHT)
    return CircuitPart(member.layer, member.head, float(effect.sum()), at, reads)


# One prompt's residual stream put into another's: to first order at once, then exactly.
@dataclass(frozen=True, eq=False)
class PatchMap:
    """Effect of patching the clean residual stream into the corrupted run, by layer and position."""

    prompts: TwoPrompts
    linear: np.ndarray  #: (layers, tokens): to first order, in logits
    exact: np.ndarray  #: the same computed anew; NaN where it was not
    n_exact: int  #: how many cells are to be computed
    before: float  #: the lead in the corrupted run
    after: float  #: in the clean one
    tokens: tuple[tuple[str, ...], tuple[str, ...]]  #: of both prompts, the clean one first

    @property
    def n_done(self) -> int:
        """How many cells were computed."""
        return int((~np.isnan(self.exact[self.linear != 0])).sum())

    @property
    def shares(self) -> np.ndarray:
        """(layers, tokens): the share of the difference that each cell gives back, exact where that is known."""
        return np.where(np.isnan(self.exact), self.linear, self.exact) / (self.after - self.before)

    @property
    def correlation(self) -> float | None:
        """Pearson's, of linearised and exact values; None for fewer than three cells, or where all are one number."""
        known = ~np.isnan(self.exact) & (self.linear != 0)
        pairs = np.stack([self.linear[known], self.exact[known]])
        return float(np.corrcoef(pairs)[0, 1]) if known.sum() > 2 and np.ptp(pairs, axis=1).all() else None


def patch_prompts(loaded: LoadedModel, prompts: TwoPrompts) -> Iterator[PatchMap]:
    """Yield the linearised map, then maps with more and more exact cells, the largest first."""
    linearised = linearise_patches(loaded, prompts)
    yield linearised
    order = np.argsort(-np.abs(linearised.linear), axis=None)[: linearised.n_exact]
    sites = [Site(int(n) // linearised.linear.shape[1], "resid", int(n) % linearised.linear.shape[1]) for n in order]
    metric, exact = logit_diff(*prompts.ids), linearised.exact.copy()
    for site, value in activation_patching(
        loaded, prompts.text, prompts.second_prompt, metric, sites, position=prompts.position
    ):
        exact[site.layer, site.position] = value
        yield replace(linearised, exact=exact.copy())


def linearise_patches(loaded: LoadedModel, prompts: TwoPrompts) -> PatchMap:
    """Attribution patching: two passes and one backward. Cells without any effect are exactly 0."""
    metric = logit_diff(*prompts.ids)
    patching = attribution_patching(loaded, prompts.text, prompts.second_prompt, metric, position=prompts.position)
    prompts.refuse_equal_answers(patching.after - patching.before)
    linear = patching.streams.numpy()
    exact = np.where(linear == 0, 0.0, np.nan).astype(np.float32)
    return PatchMap(
        prompts,
        linear,
        exact,
        min(MAX_EXACT_CELLS, int((linear != 0).sum())),
        patching.before,
        patching.after,
        patching.tokens,
    )
