"""Activation patching: the change of a metric when activations of another prompt's pass are put into a pass.

The linearised effect of every head, MLP and stream position takes two passes and one backward. The exact effect takes
one pass for a few sites. Prompts may come in pairs: row by row, with the mean and its standard error over them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, count, islice, product
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import torch
from torch import Tensor, nn

from attnviz.base.extras import load_figures, pandas
from attnviz.base.message import Problem, require_one_of, require_whole
from attnviz.base.words import N_
from attnviz.models.attribution.measure import Measure
from attnviz.models.capture.edit import Edit, list_blocks
from attnviz.models.capture.forward_pass import (
    attach_hooks,
    has_two_stacks,
    modules_by_name,
    this_thread_only,
    unwrap_model,
)
from attnviz.models.capture.head_selection import resolve_index, to_float32
from attnviz.models.capture.metric import Metric, accept_old_words
from attnviz.models.capture.recorder import require_gradient
from attnviz.models.capture.run import intervene
from attnviz.models.capture.trace import Trace, shared_labels
from attnviz.models.catalogue import LoadedModel

if TYPE_CHECKING:
    import pandas as pd

Model = nn.Module | LoadedModel
#: a sentence or several, token ids (B, T), or the model's arguments by name
Prompt = str | Sequence[str] | Tensor | Mapping[str, Any]
Part = int | Literal["mlp", "attn", "resid"]
Among = Literal["heads", "positions", "mlps", "streams"]


_ONE_LIST = N_("patching needs a model with one list of self-attention layers")


class Site(NamedTuple):
    """A patched activation: what a part of a layer hands on, at a position. Layers and heads count from 0.

    A head hands on its `z`, and "attn" is all heads of the layer; "mlp" is what the MLP adds to the stream. Of an
    encoder-decoder, layers of heads are those of the trace, "resid" counts the encoder's blocks first, and "mlp" the
    decoder's alone.
    """

    layer: int
    part: Part = "resid"  #: a head's number, "attn", "mlp", or the residual stream where the block begins
    position: int | None = None  #: None: all positions

    @property
    def head(self) -> int | None:
        """The head's number; None for another part."""
        return None if isinstance(self.part, str) else self.part


def cell(layer: int, head: int | None = None, position: int | None = None) -> Site:
    """Site of a head, or of the residual stream without one: the name of the version before."""
    return Site(layer, "resid" if head is None else head, position)


class Effect(float):
    """Change of a metric, the mean over the prompts, with its standard error and the change of each prompt."""

    by_prompt: Tensor  #: (B,)

    @staticmethod
    def of(by_prompt: Tensor) -> Effect:
        """The mean of the changes (B,)."""
        effect = Effect(by_prompt.double().mean())
        effect.by_prompt = by_prompt
        return effect

    @property
    def stderr(self) -> float:
        """Standard error of the mean; NaN of one prompt."""
        return float(standard_error(self.by_prompt))


def standard_error(by_prompt: Tensor) -> Tensor:
    """Standard error of the mean over the first axis; NaN of one prompt."""
    count = len(by_prompt)
    return by_prompt.double().std(0) / count**0.5 if count > 1 else torch.full_like(by_prompt[0], torch.nan)


@dataclass(frozen=True, eq=False, repr=False)
class Patching:
    """First-order effects on the metric of patching clean activations into the corrupted run.

    `before` is the metric of the corrupted run, `after` that of the clean one; all are means over the prompts.
    `activation_patching` may differ where an activation is far from its clean value, or where a softmax is saturated.
    """

    by_prompt: Mapping[str, Tensor]  #: "heads" (B, L, H, T), NaN where a layer has fewer; "streams", "mlps" (B, L, T)
    metrics: tuple[Tensor, Tensor]  #: metric of each prompt, corrupted and clean, (B,)
    layers: tuple[str, ...] = ()  #: the attention layers' dotted names
    tokens: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())  #: labels of both prompts, clean first, where known

    def __repr__(self) -> str:
        most = ", ".join(f"{site.layer}.{site.part} {self.at(site):+.2f}" for site in self.top(3))
        layers, heads, length = self.heads.shape
        sizes = f"{len(self.metrics[0])} prompts, {layers} layers, {heads} heads, {length} tokens"
        return f"<Patching from {self.before:.2f} to {self.after:.2f}: heads {most}, ...; {sizes}>"

    @property
    def heads(self) -> Tensor:
        """Effect of each head at each position, (L, H, T); NaN where a layer has fewer heads."""
        return self.by_prompt["heads"].mean(0)

    @property
    def streams(self) -> Tensor:
        """Effect of the residual stream where each block begins, at each position, (L, T)."""
        return self.by_prompt["streams"].mean(0)

    @property
    def mlps(self) -> Tensor:
        """Effect of each block's MLP at each position, (L, T); a Problem where MLPs cannot be told apart."""
        return self._rows("mlps").mean(0)

    @property
    def before(self) -> float:
        """Metric of the corrupted run."""
        return float(self.metrics[0].mean())

    @property
    def after(self) -> float:
        """Metric of the clean run."""
        return float(self.metrics[1].mean())

    @property
    def by_head(self) -> Tensor:
        """Effect of each head at all positions together, (L, H)."""
        return _sum_positions(self.heads)

    def at(self, site: Site | tuple[Any, ...]) -> float:
        """Linearised effect of one site, the mean over the prompts."""
        return float(self.effect(site))

    def effect(self, site: Site | tuple[Any, ...]) -> Effect:
        """Linearised effect of one site with its standard error over the prompts."""
        layer, part, position = parse_site(site)
        values = self._rows({"mlp": "mlps", "resid": "streams"}.get(str(part), "heads"))
        values = values[:, resolve_index("layer", layer, values.shape[1])]
        if part == "attn":
            values = values.nansum(1)
        elif not isinstance(part, str):
            values = values[:, resolve_index("head", part, values.shape[1])]
        length = values.shape[-1]
        return Effect.of(
            _sum_positions(values) if position is None else values[:, resolve_index("position", position, length)]
        )

    def _rows(self, name: str) -> Tensor:
        if name not in self.by_prompt:
            raise Problem(NO_MLPS)
        return self.by_prompt[name]

    def top(self, n: int = 10, among: Among = "heads") -> list[Site]:
        """The n sites of largest effect, up or down.

        `among` "heads" are heads at all positions together, "positions" heads at one position, "mlps" MLPs at all
        positions, "streams" the residual stream at one position.
        """
        require_whole("n", n)
        parts = {"heads": None, "positions": None, "mlps": "mlp", "streams": "resid"}
        part = parts[require_one_of("among", among, parts)]
        if part is None:
            values = self.by_head if among == "heads" else self.heads
        else:
            values = _sum_positions(self.mlps) if part == "mlp" else self.streams
        best = values.nan_to_num(0.0).abs().flatten().topk(min(n, values.numel())).indices
        places = torch.stack(torch.unravel_index(best, values.shape), 1).tolist()
        return [Site(*index) if part is None else Site(index[0], part, *index[1:]) for index in places]  # type: ignore[arg-type]

    def correlation(self, exact: Iterable[tuple[Site, float]]) -> float:
        """Pearson correlation of exact with linearised effects of the same sites; NaN for fewer than 2."""
        pairs = torch.tensor([(self.at(site), float(value)) for site, value in exact], dtype=torch.float64)
        return float(torch.corrcoef(pairs.T)[0, 1]) if len(pairs) > 1 else float("nan")

    def to_dataframe(self) -> pd.DataFrame:
        """One row for each head, MLP and stream at each position: layer, part, position, effect, stderr. By pandas."""
        _, heads, length = self.heads.shape
        parts: dict[str, Sequence[Part]] = {"heads": range(heads), "mlps": ["mlp"], "streams": ["resid"]}
        rows = [
            Site(*place)._asdict() | {"effect": effect, "stderr": error}
            for name, values in self.by_prompt.items()
            for place, effect, error in zip(
                product(range(values.shape[1]), parts[name], range(length)),
                values.mean(0).flatten().tolist(),
                standard_error(values).flatten().tolist(),
                strict=True,
            )
        ]
        return pandas().DataFrame(rows).dropna(subset="effect", ignore_index=True)

    def plot(self) -> Any:
        """A Plotly figure: a map of the heads' effects at all positions together, layers by heads."""
        return load_figures("library_charts").draw_head_map("effect", self.by_head.numpy())


def _sum_positions(values: Tensor) -> Tensor:
    """Sum over the last axis without NaN; NaN where nothing else is."""
    return values.nansum(-1).masked_fill(values.isnan().all(-1), torch.nan)


NO_MLPS = N_("the MLPs of this model cannot be told from what is around them")


@accept_old_words("versus", "position", "tokenizer")
def attribution_patching(
    model: Model,
    clean: Prompt,
    corrupted: Prompt,
    metric: Metric,
    *,
    position: int | None = None,
    tokenizer: Any = None,
) -> Patching:
    """Linearised effect of patching every head, MLP and the stream, at every position, into the corrupted run.

    `metric` is a token, whose logit counts, `logit_diff(token, versus)`, `attention_weight(...)`, or a function of the
    logits (B, V) at `position`, by default the last real one, that makes one number for each row. Both prompts, or
    the two of each pair in two batches, must have as many tokens. Two passes and one backward.
    """
    measure = Measure.of(model, metric, position, tokenizer)
    good, bad = clean_and_corrupted_pass(model, clean, corrupted, measure, find_mlps=True, grad=True)
    value = measure.evaluate(bad.trace)
    parts = [*bad.outputs, *bad.streams, *bad.mlps.values()]
    slopes = torch.autograd.grad(value.sum(), parts, materialize_grads=True)
    clean_parts = [*good.outputs, *good.streams, *(good.mlps[name] for name in bad.mlps)]
    effects = [
        (to_float32(slope) * (to_float32(new) - to_float32(old)).detach()).sum(-1).cpu()
        for slope, new, old in zip(slopes, clean_parts, parts, strict=True)
    ]  # (B, H, T) or (B, T)
    longest = max(effect.shape[-1] for effect in effects)  # an encoder's positions are not a decoder's
    effects = [nn.functional.pad(effect, (0, longest - effect.shape[-1]), value=torch.nan) for effect in effects]
    heads, streams = effects[: len(bad.outputs)], effects[len(bad.outputs) :][: len(bad.streams)]
    mlps = dict(zip(bad.mlps, effects[len(heads) + len(streams) :], strict=True))
    most = max(effect.shape[1] for effect in heads)
    padded = [nn.functional.pad(effect, (0, 0, 0, most - effect.shape[1]), value=torch.nan) for effect in heads]
    by_prompt = {"heads": torch.stack(padded, 1), "streams": torch.stack(streams, 1)}
    if mlps:
        nothing = torch.zeros_like(next(iter(mlps.values())))
        by_prompt["mlps"] = torch.stack([mlps.get(name, nothing) for name in good.mlp_names], 1)
    return Patching(
        by_prompt,
        (value.detach().cpu(), measure.evaluate(good.trace).cpu()),
        tuple(layer.name for layer in bad.trace),
        (good.labels, bad.labels),
    )


@accept_old_words("versus", "position", "tokenizer", "at_once")
def activation_patching(
    model: Model,
    clean: Prompt,
    corrupted: Prompt,
    metric: Metric,
    sites: Iterable[Site | tuple[Any, ...]],
    *,
    position: int | None = None,
    tokenizer: Any = None,
    at_once: int = 8,
) -> Iterator[tuple[Site, Effect]]:
    """Yield each site, as it was given, with the exact change of the metric when it is patched into the corrupted run.

    The change is a number, the mean over the prompts, with `.stderr` and `.by_prompt`. Two passes run both prompts;
    then each pass measures `at_once` sites.
    """
    measure = Measure.of(model, metric, position, tokenizer)
    require_whole("at_once", at_once)
    return _exact_effects(model, clean, corrupted, measure, parse_sites(sites), at_once)


def _exact_effects(
    model: Model, clean: Prompt, corrupted: Prompt, measure: Measure, sites: Sequence[GivenSite], at_once: int
) -> Iterator[tuple[Site, Effect]]:
    """Yield each site with its exact effect."""
    find_mlps = any(site.part == "mlp" for _, site in sites)  # which takes memory
    good, bad = clean_and_corrupted_pass(model, clean, corrupted, measure, find_mlps)
    before, left = measure.evaluate(bad.trace), ((given, good.resolve_site(site)) for given, site in sites)
    while some := list(islice(left, at_once)):
        with good.patch([site for _, site in some]) as edits:
            trace = intervene(model, edits, **repeat_inputs(bad.inputs, len(some)), logits=measure.logits)
        after = measure.evaluate(trace, len(before)).view(len(some), -1)
        yield from zip((given for given, _ in some), map(Effect.of, after - before), strict=True)


GivenSite = tuple[Any, Site]  #: a site as it was given, and parsed


def parse_site(site: Any) -> Site:
    """Parse a site; a Problem if it is none."""
    try:
        parsed = Site(*site)
    except TypeError as error:
        raise Problem(
            '{site} is no site: give (layer, part) or (layer, part, position); a part is a head\'s number, "attn", '
            '"mlp" or "resid"',
            site=repr(site)[:60],
        ) from error
    if parsed.part is None:  # a cell of the version before
        return parsed._replace(part="resid")
    if isinstance(parsed.part, str) and parsed.part not in ("attn", "mlp", "resid"):
        raise Problem('part={part} must be a head\'s number, "attn", "mlp" or "resid"', part=repr(parsed.part)[:60])
    return parsed


def parse_sites(sites: Iterable[tuple[Any, ...]]) -> list[GivenSite]:
    """Each site as it was given and as a Site; raises a Problem for what is none."""
    if not isinstance(sites, Iterable) or isinstance(sites, Site):
        raise Problem(
            "{sites} are no sites: give a list of (layer, part) or (layer, part, position)", sites=repr(sites)
        )
    return [(tuple(site) if isinstance(site, list) else site, parse_site(site)) for site in sites]


@dataclass(frozen=True, eq=False)
class PromptPass:
    """A pass of prompts, with the outputs of heads and MLPs and the residual stream at the input of each block."""

    model: nn.Module
    trace: Trace
    inputs: dict[str, Any]
    streams: list[Tensor]
    mlps: dict[str, Tensor] = field(default_factory=dict)  #: (B, T, M), by the modules' names
    mlp_names: tuple[str, ...] = ()  #: of each block; "" where it has none

    @staticmethod
    def run(
        model: Model,
        prompt: Prompt,
        measure: Measure,
        find_mlps: bool = False,
        mlp_names: tuple[str, ...] | None = None,
    ) -> PromptPass:
        """Run the prompt, and find its MLPs if asked to; with their names, its activations stay in the graph."""
        streams: list[Tensor] = []
        mlps: dict[str, Tensor] = {}

        def keep(stream: Tensor) -> Tensor:
            streams.append(require_gradient(stream))
            return streams[-1]

        def keep_mlp(name: str, output: Tensor) -> Tensor:
            mlps[name] = require_gradient(output)
            return mlps[name].clone()  # to which Falcon's block adds in place

        args, inputs = model_arguments(prompt)
        names, module = mlp_names or (), unwrap_model(model)
        with change_outputs(module, {name: partial(keep_mlp, name) for name in names if name}):
            trace = intervene(
                model,
                _edit_all_streams(module, keep),
                *args,
                **inputs,
                logits=measure.logits,
                grad=mlp_names is not None,
                residual=find_mlps,
                tokenizer=measure.tokenizer,
            )
        residual = trace.residual
        if residual is not None:
            names = residual.mlps
            mlps = {name: out for name, out in zip(names, residual.mlp_writes, strict=True) if name}
            plain = (replace(layer, w_o=None, b_o=None) for layer in trace)  # copies of weights, which nobody reads
            trace = replace(trace, layers=tuple(plain), residual=None)
        return PromptPass(module, trace, dict(trace.inputs) | inputs, streams, mlps, names)

    @property
    def outputs(self) -> list[Tensor]:
        """Head outputs of each layer, (B, H, T, Dv)."""
        return [layer.head_outputs() for layer in self.trace]

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels of its tokens, … where rows differ; empty where they are not known."""
        return tuple(map(str, shared_labels(self.trace.tokens)))

    @property
    def lengths(self) -> list[int]:
        """Number of real tokens of each row; raises a Problem unless they went through one list of self-attention.

        Of an encoder-decoder it is the encoder's.
        """
        last = 1 if has_two_stacks(self.model) else None
        shapes = {(layer.kind, layer.shape[0], layer.shape[2]) for layer in self.trace.layers[:last]}
        kind, batch, length = shapes.pop()
        if shapes or kind != "self":
            raise Problem(_ONE_LIST)
        mask = self.inputs.get("attention_mask")
        known = isinstance(mask, Tensor) and mask.shape == (batch, length)
        return mask.sum(1).tolist() if known and isinstance(mask, Tensor) else [length] * batch

    def resolve_site(self, site: Site) -> Site:
        """Site with non-negative indices; raises a Problem if it is not one of this pass."""
        if site.part == "mlp" and not any(self.mlp_names):
            raise Problem(NO_MLPS)
        count = {"mlp": len(self.mlp_names), "resid": len(self.streams)}.get(str(site.part), len(self.trace))
        layer = resolve_index("layer", site.layer, count)
        if site.part == "mlp" and not self.mlp_names[layer]:
            raise Problem("layer {index} has no MLP", index=layer)
        part: Any = (
            site.part if isinstance(site.part, str) else resolve_index("head", site.part, self.trace[layer].n_heads)
        )
        stream = {"mlp": -1, "resid": layer}.get(part)
        length = self.trace[layer].shape[2] if stream is None else self.streams[stream].shape[1]
        return Site(layer, part, None if site.position is None else resolve_index("position", site.position, length))

    def patch(self, sites: list[Site]) -> _Patch:
        """Context in which passes of a copy of the prompts for each site have it from this pass, with edits for it."""
        return _Patch(self, sites)


class _Patch:
    """See `PromptPass.patch`."""

    def __init__(self, source: PromptPass, sites: list[Site]) -> None:
        numbered = list(enumerate(sites))
        of = {part: [entry for entry in numbered if entry[1].part == part] for part in ("mlp", "resid")}
        heads = [entry for entry in numbered if entry[1].part not in of]
        self.edits, blocks = [], count()
        for number in sorted({site.layer for _, site in heads}):
            layer = source.trace[number]
            put = partial(_insert, layer.head_outputs(), [entry for entry in heads if entry[1].layer == number])
            self.edits.append(Edit(layers=layer.name, run=layer.run, output=put))

        def put_stream(stream: Tensor) -> Tensor:
            number = next(blocks)
            return _insert(source.streams[number], [entry for entry in of["resid"] if entry[1].layer == number], stream)

        self.edits += _edit_all_streams(source.model, put_stream) if of["resid"] else []
        changes = {}
        for number in {site.layer for _, site in of["mlp"]}:
            name = source.mlp_names[number]
            mine = [entry for entry in of["mlp"] if entry[1].layer == number]
            changes[name] = partial(_insert, source.mlps[name], mine)
        self._hooks: AbstractContextManager[None] = change_outputs(source.model, changes) if changes else nullcontext()

    def __enter__(self) -> list[Edit]:
        self._hooks.__enter__()
        return self.edits

    def __exit__(self, *error: Any) -> None:
        self._hooks.__exit__(*error)


def clean_and_corrupted_pass(
    model: Model,
    clean: Prompt,
    corrupted: Prompt,
    measure: Measure,
    find_mlps: bool = False,
    grad: bool = False,
) -> tuple[PromptPass, PromptPass]:
    """Run both prompts, or batches of them; raises a Problem if the two of a pair differ in length.

    MLPs are those of the clean pass; with `grad`, activations of the corrupted one stay in the graph.
    """
    good = PromptPass.run(model, clean, measure, find_mlps)
    bad = PromptPass.run(model, corrupted, measure, mlp_names=good.mlp_names if grad else None)
    lengths = good.lengths, bad.lengths
    if len(lengths[0]) != len(lengths[1]):
        raise Problem(
            "there are {clean} clean prompts and {corrupted} corrupted ones: patching needs pairs",
            clean=len(lengths[0]),
            corrupted=len(lengths[1]),
        )
    positions = [list(zip(*lengths, strict=True))]
    positions += [[(one.shape[2], other.shape[2])] for one, other in zip(good.trace, bad.trace, strict=True)]
    for one, other in chain.from_iterable(positions):
        if one != other:
            raise Problem(
                "the clean prompt has {clean} tokens and the corrupted one {corrupted}: patching needs as many in both",
                clean=one,
                corrupted=other,
            )
    return good, bad


def _edit_all_streams(model: nn.Module, change: Callable[[Tensor], Tensor]) -> list[Edit]:
    """Edits of the stream at each block, of an encoder and its decoder too."""
    towers = sorted(list_blocks(model, None)) if has_two_stacks(model) else [None]
    return [Edit(stream=change, tower=tower) for tower in towers]


def change_outputs(model: nn.Module, changes: Mapping[str, Any]) -> AbstractContextManager[None]:
    """Change the outputs of these modules, by name, for this thread's passes inside the block."""
    modules = modules_by_name(model)
    return attach_hooks(
        modules[name].register_forward_hook(this_thread_only(partial(_change_output, change)))
        for name, change in changes.items()
    )


def _change_output(change: Any, _module: nn.Module, _args: Any, output: Any) -> Any:
    """Forward hook: replace a module's output by `change(output)`, unless that is None."""
    several = isinstance(output, tuple)
    new = change(output[0] if several else output)
    return (new, *output[1:]) if several and new is not None else new


def _insert(source: Tensor, sites: list[tuple[int, Site]], values: Tensor) -> Tensor:
    """`values` (n*B, H, T, Dv) or (n*B, T, M), with these sites of `source` in the copies of these numbers."""
    copies = values.clone().reshape(-1, *source.shape)  # an MLP's may have all rows in one axis
    for number, (_, part, position) in sites:
        index: tuple[Any, ...] = (slice(None), slice(None) if position is None else position)
        if source.dim() == 4:
            index = (slice(None), slice(None) if isinstance(part, str) else part, index[1])
        copies[number][index] = source[index].to(copies)
    return copies.reshape(values.shape)


def model_arguments(prompt: Prompt) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Positional and keyword arguments with which a model takes the prompt."""
    return ((), dict(prompt)) if isinstance(prompt, Mapping) else ((prompt,), {})


def repeat_inputs(inputs: Mapping[str, Any], copies: int) -> dict[str, Any]:
    """Arguments for that many copies of the batch, one after the other."""
    return {name: repeat_rows(value, copies) for name, value in inputs.items()}


def repeat_rows(value: Any, copies: int) -> Any:
    """Rows of a batch that many times, one copy after the other."""
    return value.repeat(copies, *[1] * (value.dim() - 1)) if isinstance(value, Tensor) and value.dim() > 1 else value
