"""What each later part of a text loses when a sentence is hidden from it (Thought Anchors' causal check)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from attnviz.base.message import Problem
from attnviz.models.capture import Trace, capture, intervene, knockout
from attnviz.models.capture.head_selection import resolve_index
from attnviz.models.catalogue import LoadedModel
from attnviz.models.tokens.units import Unit, UnitName

ROWS = 256  #: positions whose log-probabilities are in memory at once


@dataclass(frozen=True, eq=False, repr=False)
class UnitEffects:
    """How much the loss of each unit of a text rises when an earlier one is hidden."""

    units: tuple[Unit, ...]
    losses: Tensor  #: (U,) nats per token of each unit as the model reads it; NaN where no token is predicted
    effects: Tensor  #: (U, U) rise of each later unit's loss (column) without a unit (row); NaN where none was measured

    def top(self, n: int = 5) -> list[tuple[int, int, float]]:
        """The `n` largest effects as (hidden unit, later unit, nats per token)."""
        known = self.effects.nan_to_num(-torch.inf).flatten()
        order = known.argsort(descending=True)[: min(n, int(known.isfinite().sum()))].tolist()
        return [(at // len(self.units), at % len(self.units), float(known[at])) for at in order]

    def __repr__(self) -> str:
        measured = int((~self.effects.isnan()).any(1).sum())
        return f"<UnitEffects: {measured} of {len(self.units)} units hidden>"


def knock_out_units(
    model: nn.Module | LoadedModel,
    *args: Any,
    units: UnitName | Sequence[tuple[int, int]] = "sentence",
    which: int | Sequence[int] | None = None,
    tokenizer: Any = None,
    **inputs: Any,
) -> UnitEffects:
    """Hide one unit of a text after the other from all that comes later, and measure what each later unit loses.

    All heads of all layers are knocked out there: tokens after the unit take nothing from it. `units` as in
    `Trace.pooled`, `which` are the numbers of those to hide, all without it: one pass for each. `args` and `inputs` are
    what `capture` takes, of one text.
    """
    before = capture(model, *args, logits="all", tokenizer=tokenizer, **inputs)
    spans, length = before.split_units(units, tokenizer), before.layers[0].shape[3]
    losses = _unit_losses(before, spans)
    effects = torch.full((len(spans), len(spans)), torch.nan)
    chosen = range(len(spans)) if which is None else [which] if isinstance(which, int) else which
    for number in (resolve_index("which", choice, len(spans)) for choice in chosen):
        unit = spans[number]
        if unit.stop == length:
            continue  # nothing comes later
        edit = knockout("all", queries=range(unit.stop, length), keys=range(unit.start, unit.stop))
        after = intervene(model, edit, *args, logits="all", tokenizer=tokenizer, **inputs)
        later = torch.tensor([other.start >= unit.stop for other in spans])
        effects[number] = torch.where(later, _unit_losses(after, spans) - losses, torch.nan)
    return UnitEffects(spans, losses, effects)


def _unit_losses(trace: Trace, units: Sequence[Unit]) -> Tensor:
    """Mean loss of each unit's tokens in nats, (U,); the first token of a text is not predicted."""
    ids, logits = trace.inputs.get("input_ids"), trace.logits
    if ids is None or logits is None or len(ids) != 1 or logits.shape[:2] != ids.shape:
        raise Problem("units are knocked out of one text, of a model that predicts the next token")
    rows = zip(logits[0, :-1].split(ROWS), ids[0, 1:].split(ROWS), strict=True)
    losses = torch.cat(
        [nn.functional.cross_entropy(part.float(), next_ids, reduction="none") for part, next_ids in rows]
    )
    return torch.stack([losses[max(0, unit.start - 1) : unit.stop - 1].mean() for unit in units]).cpu()
