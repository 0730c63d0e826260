"""Path patching: the direct effect of one head on another, or on the logits, with no head between them.

As in Wang et al. 2022: the clean prompt runs with all heads frozen at their clean outputs, except the sender, which
gets its corrupted output. The receiver's resulting q, k or v then goes into one more clean run, to the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from itertools import islice
from typing import Any, Literal, NamedTuple

from torch import Tensor, nn

from attnviz.base.message import Problem, require_one_of, require_whole
from attnviz.models.attribution.measure import Measure
from attnviz.models.attribution.patching import (
    Effect,
    GivenSite,
    Model,
    Prompt,
    PromptPass,
    Site,
    clean_and_corrupted_pass,
    parse_sites,
    repeat_inputs,
    repeat_rows,
)
from attnviz.models.capture.edit import Edit
from attnviz.models.capture.forward_pass import (
    attach_hooks,
    block_name,
    is_hidden,
    is_within,
    modules_by_name,
    parent_name,
    this_thread_only,
    unwrap_model,
)
from attnviz.models.capture.metric import Metric, accept_old_words
from attnviz.models.capture.run import capture, intervene
from attnviz.models.capture.trace import Trace

Through = Literal["q", "k", "v"]
Mlps = Literal["recomputed", "frozen"]


class Receiver(NamedTuple):
    """A head and the input, q, k or v, in which a path ends."""

    layer: int
    head: int
    through: Through


@accept_old_words("versus", "position", "mlps", "tokenizer", "at_once")
def path_patching(
    model: Model,
    clean: Prompt,
    corrupted: Prompt,
    metric: Metric,
    senders: Iterable[Site | tuple[int, ...]],
    receivers: Iterable[tuple[int, int, Through]] | Literal["logits"] = "logits",
    *,
    position: int | None = None,
    mlps: Mlps = "recomputed",
    tokenizer: Any = None,
    at_once: int = 8,
) -> Iterator[tuple[Site, Effect]]:
    """Yield each sender, as given, with its corrupted output's effect on the clean metric by paths to receivers.

    `metric` and the batches of pairs are those of `attribution_patching`. A sender is a head, (layer, head) or
    (layer, head, position); `receivers` are heads with one of q, k and v each, patched together, or "logits". All other
    heads are frozen at the clean run. With `mlps` "recomputed" a path may lead through MLPs; with "frozen" only through
    the residual stream. Two passes for `at_once` senders.
    """
    require_one_of("mlps", mlps, ("recomputed", "frozen"))
    measure = Measure.of(model, metric, position, tokenizer)
    require_whole("at_once", at_once)
    ends = None if receivers == "logits" else _parse_receivers(receivers)
    return _path_effects(model, clean, corrupted, measure, parse_sites(senders), ends, mlps, at_once)


def _path_effects(
    model: Model,
    clean: Prompt,
    corrupted: Prompt,
    measure: Measure,
    senders: Sequence[GivenSite],
    receivers: list[Receiver] | None,
    mlps: Mlps,
    at_once: int,
) -> Iterator[tuple[Site, Effect]]:
    """Yield each sender with its effect by direct paths to the receivers, None meaning the logits."""
    good, bad = clean_and_corrupted_pass(model, clean, corrupted, measure)
    ends = None if receivers is None else [_resolve_receiver(receiver, good) for receiver in receivers]
    frozen_mlps = _FrozenMlps(unwrap_model(model), good) if mlps == "frozen" else None
    before, left = measure.evaluate(good.trace), ((given, _resolve_sender(site, bad, ends)) for given, site in senders)
    while some := list(islice(left, at_once)):
        inputs, logits = repeat_inputs(good.inputs, len(some)), measure.logits
        frozen = [
            Edit(layer.name, run=layer.run, output=repeat_rows(layer.head_outputs(), len(some))) for layer in good.trace
        ]
        with (
            nullcontext() if frozen_mlps is None else frozen_mlps.freeze_outputs(),
            bad.patch([site for _, site in some]) as edits,
        ):
            trace = intervene(model, [*frozen, *edits], **inputs, logits=logits)
        if ends is not None:
            trace = intervene(model, [_receiver_edit(end, trace) for end in ends], **inputs, logits=logits)
        after = measure.evaluate(trace, len(before)).view(len(some), -1)
        yield from zip((given for given, _ in some), map(Effect.of, after - before), strict=True)


def _parse_receivers(receivers: Iterable[tuple[int, int, Through]]) -> list[Receiver]:
    """Receivers as such; raises a Problem for what is none."""
    try:
        return [Receiver(*receiver) for receiver in receivers]
    except TypeError as error:
        raise Problem(
            'receivers={receivers} must be "logits" or a list of (layer, head, "q", "k" or "v")',
            receivers=repr(receivers)[:60],
        ) from error


def _resolve_sender(sender: Site, corrupted: PromptPass, ends: list[Receiver] | None) -> Site:
    """Sender with non-negative indices; raises a Problem if no path leads from it to a receiver."""
    if sender.head is None:
        raise Problem("a path begins in a head, and {sender} is none: give (layer, head)", sender=str(tuple(sender)))
    site = corrupted.resolve_site(sender)
    last = len(corrupted.trace) if ends is None else max(end.layer for end in ends)
    if site.layer >= last:
        raise Problem(
            "the sender {sender} is not below layer {layer}, that of the last receiver: no path leads up to it",
            sender=str(tuple(sender)),
            layer=last,
        )
    return site


def _resolve_receiver(end: Receiver, clean: PromptPass) -> Receiver:
    """Receiver with non-negative indices; raises a Problem if the model has no such head."""
    if end.through not in ("q", "k", "v"):
        raise Problem('a path ends in "q", "k" or "v" of a head, not in {through}', through=repr(end.through))
    site = clean.resolve_site(Site(end.layer, end.head))
    return Receiver(site.layer, site.head or 0, end.through)


def _receiver_edit(end: Receiver, arrived: Trace) -> Edit:
    """Edit that gives the receiver the q, k or v that it has in `arrived`."""
    layer = arrived[end.layer]
    new = dict(zip("qkv", layer.qkv, strict=True))[end.through]

    def change(*qkv: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        q, k, v = (new if name == end.through else tensor for name, tensor in zip("qkv", qkv, strict=True))
        return q, k, v

    return Edit(layer.name, end.head, run=layer.run, change=change)


class _FrozenMlps:
    """Clean outputs of a model's MLPs: the modules of its blocks with matrices and without attention."""

    def __init__(self, model: nn.Module, clean: PromptPass) -> None:
        names = [layer.name for layer in clean.trace]
        blocks = {block_name(name) for name in names}
        self._modules = {
            name: module
            for name, module in modules_by_name(model).items()
            if parent_name(name) in blocks.difference(names)
            and not any(is_within(attention, name) for attention in names)
            and any(parameter.dim() > 1 for parameter in module.parameters())
        }
        self._outputs: dict[str, Tensor] = {}
        with self.freeze_outputs():
            capture(model, **clean.inputs, logits=None)
        if {parent_name(name) for name in self._outputs} != blocks:
            raise Problem(
                'the MLPs of {model} cannot be told from what is around them; choose mlps="recomputed"',
                model=type(model).__name__,
            )

    def freeze_outputs(self) -> AbstractContextManager[None]:
        """Make each MLP return, inside the block, the output of its first run inside such a block."""
        return attach_hooks(
            module.register_forward_hook(this_thread_only(partial(self._replace_output, name)), with_kwargs=True)
            for name, module in self._modules.items()
        )

    def _replace_output(
        self, name: str, _: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any
    ) -> Any:
        first, *rest = output if isinstance(output, tuple) else (output,)
        if sum(map(is_hidden, (*args, *kwargs.values()))) != 1 or not is_hidden(first):
            return None  # given two, it joins what the MLP makes to the stream, as in BERT
        kept = self._outputs.setdefault(name, first.clone())
        frozen = repeat_rows(kept, len(first) // len(kept))
        return (frozen, *rest) if isinstance(output, tuple) else frozen
