"""Watch heads while a model trains: a few numbers and a thumbnail of each, every few steps, in one small file."""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import torch
from torch import Tensor, nn
from torch.optim.optimizer import register_optimizer_step_post_hook

from attnviz.base.extras import pandas
from attnviz.base.message import require_whole
from attnviz.models.capture import Trace, capture, make_yardstick, sweep_layer
from attnviz.models.capture.forward_pass import unwrap_model
from attnviz.models.catalogue import LoadedModel

if TYPE_CHECKING:
    import pandas as pd

#: what is stored of each head, and its name among the measures of a sweep
MEASURES = {"entropy": "entropy", "sink_mass": "first_token", "induction": "induction"}


class TrainingWatch:
    """Records of the heads of a model that trains inside the `with` block.

    A record has the step, the loss of the next token on the watched sentence, and of every head (layers, heads) its
    entropy, largest score, weight on the first token, induction score and a thumbnail of at most 32 x 32 cells.
    """

    def __init__(
        self, model: Any, sentence: Any, every: int = 100, path: Path | str | None = None, tokenizer: Any = None
    ) -> None:
        require_whole("every", every)
        self.model, self.sentence, self.every, self.tokenizer = model, sentence, every, tokenizer
        self.path = None if path is None else Path(path)
        self.records: list[dict[str, Any]] = []
        self.steps = 0
        self._module: nn.Module = unwrap_model(model)
        self._optimizer: Any = None  # the first that trains the model: a step is one of its steps
        self._hook: Any = None

    def __enter__(self) -> Self:
        if self.path is not None:
            self.path.write_text("", encoding="utf-8")
        self.record()  # a sentence that cannot be read is refused before the training
        self._hook = register_optimizer_step_post_hook(self._after_step)
        return self

    def callback(self) -> Any:
        """A `TrainerCallback` of transformers that watches while its Trainer trains."""
        from attnviz.models.trainer_callback import ContextCallback  # transformers' training takes seconds to import

        return ContextCallback(self)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._hook.remove()
        if kind is None and self.records[-1]["step"] != self.steps:
            self.record()

    def _after_step(self, optimizer: torch.optim.Optimizer, *_: Any) -> None:
        if self._optimizer is None:
            own = {id(parameter) for parameter in self._module.parameters()}
            if any(id(parameter) in own for group in optimizer.param_groups for parameter in group["params"]):
                self._optimizer = optimizer
        if optimizer is self._optimizer:
            self.steps += 1
            if self.steps % self.every == 0:
                self.record()

    def record(self) -> dict[str, Any]:
        """Measure all heads now, in evaluation mode; the record is also appended to the file."""
        modes = {module: module.training for module in self._module.modules()}
        self._module.eval()
        try:
            with torch.no_grad():
                record = self._measure(capture(self.model, self.sentence, logits="all", tokenizer=self.tokenizer))
        finally:
            for module, training in modes.items():
                module.training = training
        self.records.append(record)
        if self.path is not None:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(record) + "\n")
        return record

    def _measure(self, trace: Trace) -> dict[str, Any]:
        ids = trace.inputs.get("input_ids")
        record: dict[str, Any] = {"step": self.steps, "loss": _next_token_loss(trace.logits, ids)}
        sweeps = [sweep_layer(layer, make_yardstick(layer, ids)) for layer in trace]
        for name, measure in MEASURES.items():
            record[name] = [_numbers(sweep.measures.get(measure)) for sweep in sweeps]
        record["max_logits"] = trace.max_logits().mean.tolist() if all(layer.exact for layer in trace) else None
        pictures = [(sweep.largest[0].clamp_min(0) * 255).round().to(torch.uint8).cpu() for sweep in sweeps]
        record["thumbnails"] = [
            {"shape": list(each.shape), "data": b64encode(each.numpy().tobytes()).decode()} for each in pictures
        ]
        return record

    def to_dataframe(self) -> pd.DataFrame:
        """One row for each record and head: step, loss, layer, head and the measures. Needs pandas."""
        names = [*MEASURES, "max_logits"]
        rows = [
            {"step": record["step"], "loss": record["loss"], "layer": layer, "head": head}
            | {name: record[name] and record[name][layer] and record[name][layer][head] for name in names}
            for record in self.records
            for layer, heads in enumerate(record["entropy"])
            for head in range(len(heads))
        ]
        return pandas().DataFrame(rows)

    def __repr__(self) -> str:
        return f"<TrainingWatch: {len(self.records)} records of {self.steps} steps, one every {self.every}>"


def watch(
    model: nn.Module | LoadedModel,
    sentence: Any,
    every: int = 100,
    path: Path | str | None = None,
    tokenizer: Any = None,
) -> TrainingWatch:
    """Watch the heads of a model that trains inside the `with` block, on one sentence.

    >>> with av.watch(model, "the cat sat, the cat sat", every=100, path="heads.jsonl", tokenizer=tokenizer) as w:
    ...     trainer.train()  # or any loop with an optimizer of torch
    >>> w.to_dataframe()

    The Trainer of transformers also takes `watch(…).callback()`. Steps are those of the first optimizer that has
    parameters of the model; nothing is called in the loop. `sentence`
    is a text or token ids. The file at `path` has one JSON record a line and grows as the training runs.
    """
    return TrainingWatch(model, sentence, every, path, tokenizer)


def _next_token_loss(logits: Tensor | None, ids: Tensor | None) -> float | None:
    """Mean loss of the next token of logits (B, T, V); None where they are not of these ids (B, T)."""
    if logits is None or ids is None or logits.dim() != 3 or logits.shape[:2] != ids.shape:
        return None
    return float(nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1).float(), ids[:, 1:].flatten()))


def _numbers(values: Tensor | None) -> list[float | None] | None:
    """A layer's measure (B, H) as the mean of each head, None for a head without one."""
    if values is None:
        return None
    return [None if mean != mean else round(mean, 5) for mean in values.nanmean(0).tolist()]
