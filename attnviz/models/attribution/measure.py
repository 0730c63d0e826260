"""A metric read from a pass: what patching, path patching and circuits measure."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn

from attnviz.base.message import Problem
from attnviz.models.capture import AttentionWeight, Trace
from attnviz.models.capture.forward_pass import unwrap_model
from attnviz.models.capture.head_selection import resolve_index
from attnviz.models.capture.metric import LogitSum, Metric, as_logit_sum


@dataclass(frozen=True)
class Measure:
    """A metric at a position of each prompt."""

    metric: LogitSum | AttentionWeight | Callable[[Tensor], Tensor]
    position: int | None = None  #: None: the last real one
    tokenizer: Any = None

    @staticmethod
    def of(model: Any, metric: Metric, position: int | None = None, tokenizer: Any = None) -> "Measure":
        """Measure with its tokens looked up, and what can be wrong found; a loaded model brings its own tokenizer."""
        if position is not None:
            resolve_index("position", position, sys.maxsize)
        if isinstance(metric, AttentionWeight) or callable(metric):
            return Measure(metric, position, tokenizer)
        module = unwrap_model(model)
        known = as_logit_sum(metric, getattr(model, "tokenizer", None) if tokenizer is None else tokenizer)
        output = getattr(module, "get_output_embeddings", lambda: None)()
        if isinstance(output, nn.Linear):  # found before the first pass
            known.ids_for(len(known.ids), output.out_features)
        return Measure(known, position, tokenizer)

    @property
    def logits(self) -> Literal["last", "all"]:
        """Logits that a pass has to keep."""
        return "last" if self.position is None else "all"

    def evaluate(self, trace: Trace, batch: int | None = None) -> Tensor:
        """Value in each row of a pass, (B,); with `batch`, the rows are several runs of that many prompts."""
        if isinstance(self.metric, AttentionWeight):
            layer, head, query, key = self.metric
            weights = trace.layers[resolve_index("layer", layer, len(trace))].weights(head)[:, 0]
            query, key = resolve_index("query", query, weights.shape[1]), resolve_index("key", key, weights.shape[2])
            return weights[:, query, key]
        logits = trace.logits
        if logits is None:
            raise Problem("this model gives no logits")
        if self.position is not None and logits.dim() == 3:
            resolve_index("position", self.position, logits.shape[1])
            logits = logits[:, self.position]
        call = self.metric.evaluate if isinstance(self.metric, LogitSum) else self.metric
        return torch.cat([_require_rows(call(rows), len(rows)) for rows in logits.split(batch or len(logits))])


def _require_rows(value: Any, rows: int) -> Tensor:
    if not isinstance(value, Tensor) or value.shape not in ((), (rows,)):
        given = f"a tensor of shape {tuple(value.shape)}" if isinstance(value, Tensor) else type(value).__name__
        raise Problem(
            "metric must make one number for each of {rows} rows of its logits, not {given}", rows=rows, given=given
        )
    return value.expand(rows)
