"""Find the few heads and MLPs that preserve a logit difference when all others are ablated."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import torch
from torch import Tensor

from attnviz.base.extras import load_figures, pandas
from attnviz.base.message import MessageList, Problem, require_one_of, require_whole
from attnviz.models.attribution.measure import Measure
from attnviz.models.attribution.patching import Model, Prompt, change_outputs, model_arguments
from attnviz.models.capture import Edit, Trace, capture, intervene
from attnviz.models.capture.forward_pass import has_two_stacks, unwrap_model
from attnviz.models.capture.head_selection import to_float32
from attnviz.models.capture.metric import Metric, accept_old_words

if TYPE_CHECKING:
    import pandas as pd

By = Literal["mean", "resample"]


class Member(NamedTuple):
    """A head of a layer, or its MLP; numbers count from 0."""

    layer: int
    head: int | None = None  #: None: the MLP


@dataclass(frozen=True, repr=False)
class Circuit:
    """Heads and MLPs ordered by score, and the share of the logit difference that the first few preserve.

    `kept[i]` is the share that the first `sizes[i]` members keep when every other head and MLP is replaced. It is 0
    for no member and 1 for all. In between it may leave that range, where ablated components had suppressed others.
    """

    members: tuple[Member, ...]  #: largest score first, up or down
    scores: tuple[float, ...]
    sizes: tuple[int, ...]
    kept: tuple[float, ...]
    whole: float  #: the logit difference with nothing ablated
    ablated: float  #: the logit difference with every head and MLP ablated
    by: By = "mean"  #: what ablated parts were replaced by
    per_position: bool = True  #: whether means were taken at each position, and not over all tokens

    def __repr__(self) -> str:
        shares = ", ".join(f"{size} keep {share:.0%}" for size, share in zip(self.sizes, self.kept, strict=True))
        of = f"{len(self.members)} heads and MLPs"
        return f"<Circuit of a logit difference of {self.whole:.2f}: of {of}, {shares[:300]}>"

    def smallest(self, share: float = 0.8) -> tuple[Member, ...]:
        """Members of the smallest measured circuit that keeps at least `share` of the logit difference."""
        size = next(
            size
            for size, kept_share in zip(self.sizes, self.kept, strict=True)
            if kept_share >= share or size == self.sizes[-1]
        )
        return self.members[:size]

    def to_dataframe(self) -> pd.DataFrame:
        """One row for each head and MLP in order: layer, part, score, size and kept, NaN where not measured.

        `kept` is the share that this member and those before it, `size` of them, preserve. Needs pandas.
        """
        shares = dict(zip(self.sizes, self.kept, strict=True))
        rows = [
            {"layer": member.layer, "part": "mlp" if member.head is None else member.head, "score": score}
            | {"size": size, "kept": shares.get(size, math.nan)}
            for size, (member, score) in enumerate(zip(self.members, self.scores, strict=True), 1)
        ]
        return pandas().DataFrame(rows)

    def plot(self) -> Any:
        """A Plotly figure: the share that the first members preserve, over their number."""
        return load_figures("library_charts").draw_kept_shares(self.sizes, self.kept)


class Ablation:
    """Ablate heads and MLPs of one prompt: their outputs are replaced by those of other prompts.

    `by` "mean" takes the mean output over the prompts of `other`: at each position if all are as long as the prompt,
    else over all their tokens. "resample" takes the outputs of one other prompt of the same length.
    """

    @accept_old_words("versus", "by", "position", "tokenizer")
    def __init__(
        self,
        model: Model,
        prompt: Prompt,
        other: Prompt | Sequence[Prompt],
        metric: Metric,
        *,
        by: By = "mean",
        position: int | None = None,
        tokenizer: Any = None,
    ) -> None:
        require_one_of("by", by, ("mean", "resample"))
        self.by, self._module, self._prompt = by, unwrap_model(model), prompt
        if has_two_stacks(self._module):
            raise Problem("a circuit is found in models with one list of self-attention layers")
        self._measure = Measure.of(model, metric, position, tokenizer)
        self._pass = partial(_run_prompt, model, tokenizer=tokenizer)
        self._record = partial(self._pass, residual=True, logits=self._measure.logits)
        self._trace = trace = self._record(prompt)
        assert trace.residual is not None
        trace.residual.require_path()
        self._layers, self._mlps = trace.layers, trace.residual.mlps
        self.members = [Member(n, head) for n, layer in enumerate(trace) for head in range(layer.n_heads)]
        self.members += [Member(n) for n, name in enumerate(self._mlps) if name]
        self._direct = partial(trace.logit_attribution, metric, position=position, tokenizer=tokenizer)
        prompts = list(other) if isinstance(other, Sequence) and not isinstance(other, str) else [other]
        if not prompts:
            raise Problem("other holds no prompt: ablated outputs are replaced by those of at least one")
        answers = [self._collect_outputs(self._record(other_prompt)) for other_prompt in prompts]
        unpadded = zip(prompts, answers, strict=True)
        self._other_prompts = [(other_prompt, outputs) for other_prompt, (outputs, real) in unpadded if real.all()]
        self.per_position, self._values = self._replacements(answers, trace)
        self.whole = float(self._mean_metric(trace))

    @cached_property
    def direct(self) -> dict[Member, float]:
        """Direct contribution of each member to a logit or difference of logits, from the first layer to the last."""
        attribution = self._direct()
        heads, mlps = attribution.heads.nanmean(0), attribution.mlps.mean(0)
        return {member: float(mlps[member.layer] if member.head is None else heads[member]) for member in self.members}

    @cached_property
    def ablated(self) -> float:
        """Logit difference with every head and MLP ablated."""
        return self.lead(())

    def lead(self, members: Collection[tuple[int, int | None]]) -> float:
        """Mean logit difference over the rows when all but `members` are ablated: one pass."""
        kept_members = {self._resolve_member(*member) for member in members}
        if len(kept_members) == len(self.members):
            return self.whole
        gone = [member for member in self.members if member not in kept_members]
        edits = []
        for number, layer in enumerate(self._layers):
            heads = [member.head for member in gone if member.layer == number and member.head is not None]
            if heads:
                edits.append(Edit(layers=layer.name, heads=heads, output=self._values[layer.name][:, heads]))
        names = [self._mlps[member.layer] for member in gone if member.head is None]
        with change_outputs(self._module, {name: partial(self._replacement_for, name) for name in names}):
            return float(self._mean_metric(self._pass(self._prompt, edits, logits=self._measure.logits)))

    def _resolve_member(self, layer: int, head: int | None = None) -> Member:
        """Member with non-negative indices; raises a Problem if the model has no such head or MLP."""
        count = len(self._layers)
        heads = self._layers[layer % count].n_heads
        member = Member(layer % count, None if head is None else head % heads)
        if member not in self.members or not -count <= layer < count or not -heads <= (head or 0) < heads:
            raise Problem("{part} is no part of this model that can be ablated", part=(layer, head))
        return member

    def complete_scores(self, scores: Mapping[tuple[int, int | None], float]) -> dict[Member, float]:
        """Scores of all members, 0 of those that `scores` leaves out."""
        return dict.fromkeys(self.members, 0.0) | {self._resolve_member(*at): scores[at] for at in scores}

    def _replacement_for(self, name: str, output: Tensor) -> Tensor:
        """Replacement for an MLP's output, in the shape of that output."""
        batch, _, length, _ = self._layers[0].shape
        return self._values[name].expand(batch, 1, length, -1).reshape(output.shape).to(output).clone()

    def effects(self) -> dict[Member, float]:
        """First-order contribution of each member to the logit difference: what ablating it alone would take away."""
        return {member: float(effect.sum()) for member, effect in self.effects_by_position().items()}

    def effects_by_position(self) -> dict[Member, Tensor]:
        """First-order contribution of each member at each position, (Q,).

        It is the gradient of the logit difference times the distance of a member's output from its replacement. The
        gradient is averaged over the prompt and the other prompts of its shape: at one end alone a saturated softmax
        may hide an effect. Two passes for each prompt.
        """
        prompt_answers = self._collect_outputs(self._trace)[0]
        slopes = self._gradients(self._prompt, prompt_answers)
        others = [
            self._gradients(prompt, answers)
            for prompt, answers in self._other_prompts
            if _shapes(answers) == _shapes(prompt_answers)
        ]
        if others:
            slopes = {
                name: (slope + sum(other_slopes[name] for other_slopes in others) / len(others)) / 2
                for name, slope in slopes.items()
            }
        effects = {
            name: ((prompt_answers[name] - self._values[name]) * slope).sum((0, 3)) for name, slope in slopes.items()
        }  # (H, Q)
        names = [layer.name for layer in self._layers]
        return {
            member: effects[self._mlps[member.layer]][0]
            if member.head is None
            else effects[names[member.layer]][member.head]
            for member in self.members
        }

    def _gradients(self, prompt: Prompt, answers: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Gradient of a prompt's logit difference with respect to the outputs of its heads and MLPs, by name."""
        probes = {name: torch.zeros_like(answer).requires_grad_() for name, answer in answers.items()}
        edits = [Edit(layers=layer.name, output=probes[layer.name].add) for layer in self._layers]
        with change_outputs(self._module, {name: partial(_add_probe, probes[name]) for name in self._mlps if name}):
            lead = self._mean_metric(self._pass(prompt, edits, grad=True, logits=self._measure.logits))
        return dict(zip(probes, torch.autograd.grad(lead, list(probes.values())), strict=True))

    def kept(self, members: Collection[tuple[int, int | None]]) -> float:
        """Share of the logit difference that these members keep: 1 for all of them, 0 for none."""
        if self.whole == self.ablated:
            raise Problem("no part of this model changes the lead: it is {lead} without them", lead=self.whole)
        return (self.lead(members) - self.ablated) / (self.whole - self.ablated)

    def curve(
        self, members: Sequence[tuple[int, int | None]], sizes: Iterable[int] | None = None
    ) -> Iterator[tuple[int, float]]:
        """Yield each size and the share that the first `size` members keep: one pass each."""
        for size in circuit_sizes(len(members)) if sizes is None else sizes:
            yield size, self.kept(members[:size])

    def _mean_metric(self, trace: Trace) -> Tensor:
        return self._measure.evaluate(trace).mean()

    def _replacements(
        self, answers: list[tuple[dict[str, Tensor], Tensor]], trace: Trace
    ) -> tuple[bool, dict[str, Tensor]]:
        """Replacements by module name, and whether they differ by position.

        Of a layer's heads (B or 1, H, Q or 1, Dv), of an MLP (B or 1, 1, Q or 1, M).
        """
        length = trace[0].shape[2]
        lengths = {next(iter(values.values())).shape[2] for values, _ in answers}
        same = lengths == {length} and all(bool(real.all()) for _, real in answers)
        if self.by == "resample" and (len(answers) > 1 or lengths != {length}):
            raise Problem(
                "resampling takes one other prompt of {length} tokens; {count} were given, of {lengths}",
                length=length,
                count=len(answers),
                lengths=MessageList(sorted(lengths)),
            )
        values = {}
        for name in answers[0][0]:
            every = [(outputs[name], real) for outputs, real in answers]
            values[name] = every[0][0] if self.by == "resample" else _mean_output(every, same)
        return same or self.by == "resample", values

    def _collect_outputs(self, trace: Trace) -> tuple[dict[str, Tensor], Tensor]:
        """Outputs of heads (B, H, Q, Dv) and MLPs (B, 1, Q, M) in a pass, and its mask of real tokens (B, Q)."""
        assert trace.residual is not None
        trace.residual.require_path()
        batch, _, length, _ = trace[0].shape
        writes = zip(self._mlps, trace.residual.mlp_writes, strict=True)
        mlps = {name: to_float32(value).reshape(batch, 1, length, -1) for name, value in writes if name}
        mask = trace.inputs.get("attention_mask", torch.ones(batch, length))
        return {layer.name: layer.head_outputs() for layer in trace} | mlps, mask.bool()


@accept_old_words("versus", "by", "position", "scores", "sizes", "tokenizer")
def find_circuit(
    model: Model,
    prompt: Prompt,
    other: Prompt | Sequence[Prompt],
    metric: Metric,
    *,
    by: By = "mean",
    position: int | None = None,
    scores: Mapping[tuple[int, int | None], float] | None = None,
    sizes: Iterable[int] | None = None,
    tokenizer: Any = None,
) -> Circuit:
    """Find the circuit behind a metric: a token's logit, `logit_diff(token, versus)`, or as in `attribution_patching`.

    For each size, one pass measures the share that the first members keep when all others are ablated. Members are
    ordered by `scores`, whose keys are (layer, head), with None for the MLP. Without `scores`, `Ablation.effects`
    orders them. Ablated outputs are replaced by their mean over the prompts of `other`. With `by` "resample" they are
    replaced by those of one other prompt of the same length.
    """
    chosen = None if sizes is None else _parse_sizes(sizes)
    ablation = Ablation(model, prompt, other, metric, by=by, position=position, tokenizer=tokenizer)
    values = ablation.effects() if scores is None else ablation.complete_scores(scores)
    members = sorted(values, key=lambda member: -abs(values[member]))
    curve = dict(ablation.curve(members, chosen))
    return Circuit(
        tuple(members),
        tuple(values[member] for member in members),
        tuple(curve),
        tuple(curve.values()),
        ablation.whole,
        ablation.ablated,
        by,
        ablation.per_position,
    )


def _parse_sizes(sizes: Iterable[int]) -> list[int]:
    """Sizes as numbers; raises a Problem for what is none."""
    if not isinstance(sizes, Iterable) or isinstance(sizes, str):
        raise Problem("sizes={sizes} must be whole numbers, such as [1, 2, 5]", sizes=repr(sizes))
    found = list(sizes)
    for size in found:
        require_whole("size", size, 0)
    return found


def circuit_sizes(most: int) -> list[int]:
    """1, 2, 3, 5, 8, 12, 18 and so on, each about half as much again, up to `most`."""
    sizes = [0, 1, 2, 3]
    while sizes[-1] < most:
        sizes.append(max(sizes[-1] * 3 // 2, sizes[-1] + 2))
    return [size for size in sizes if size < most] + [most]


def _run_prompt(model: Model, prompt: Prompt, edits: Sequence[Edit] = (), **options: Any) -> Trace:
    """Run a prompt, under edits if there are any, and record it."""
    args, inputs = model_arguments(prompt)
    run = partial(intervene, model, edits) if edits else partial(capture, model)
    return run(*args, **options, **inputs)


def _mean_output(answers: list[tuple[Tensor, Tensor]], per_position: bool) -> Tensor:
    """The mean (1, H, Q or 1, D) of answers (B, H, Q, D), over rows or over all real tokens (B, Q)."""
    if per_position:
        return torch.cat([values for values, _ in answers]).mean(0, keepdim=True)
    total = sum((values * real[:, None, :, None]).sum((0, 2), keepdim=True) for values, real in answers)
    return torch.as_tensor(total / sum(int(real.sum()) for _, real in answers))


def _shapes(answers: Mapping[str, Tensor]) -> set[tuple[int, ...]]:
    return {tuple(answer.shape) for answer in answers.values()}


def _add_probe(probe: Tensor, output: Tensor) -> Tensor:
    return output + probe.reshape(output.shape).to(output)
