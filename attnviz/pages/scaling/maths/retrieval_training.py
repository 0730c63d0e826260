"""Does scaling help learning? One attention head learns to look things up, trained side by side with and without it.

There are n names. In each sequence every name carries a label drawn at random; asked for a name, the head must
give its label back. Queries and keys are learned per name (n x d_k each, standard normal at the start, so that
raw scores begin with variance d_k), values per label, then one linear layer to label logits. Nothing else.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Generator, Tensor

from attnviz.base.limits import require_within
from attnviz.base.message import Message, Problem
from attnviz.core.measures import entropy
from attnviz.pages.scaling.maths import alternatives

LABELS = 8
WIDTH = 16  #: numbers in a value
SEQUENCES = 32  #: sequences in a batch
EVERY = 10  #: steps between two partial results
LAST = 20  #: steps over which the end of a run is averaged
MEASURES = ("loss", "accuracy", "entropy", "gradient")


@dataclass(frozen=True)
class Config:
    d_k: int = 64
    alternative: str = "temperature"
    parameter: float = 2.0  #: of the alternative; qk-norm learns its own and starts from this
    names: int = 16
    steps: int = 300
    seeds: int = 4  #: number of runs, with seed, seed + 1, ...
    seed: int = 0
    optimizer: str = "sgd"  #: or "adam"
    rate: float = 1.0  #: learning rate


@dataclass(frozen=True)
class TrainingRun:
    """What was measured at each step so far, before the step: each (seeds, steps so far)."""

    loss: np.ndarray  #: cross-entropy, nats
    accuracy: np.ndarray  #: share of labels right
    entropy: np.ndarray  #: entropy of the weights, nats, mean over queries
    gradient: np.ndarray  #: norm of the gradient at all queries and keys

    def end(self, measure: str) -> np.ndarray:
        """Each seed's mean over the last LAST steps: (seeds,)."""
        values: np.ndarray = getattr(self, measure)[:, -LAST:]
        return values.mean(-1)


@dataclass(frozen=True)
class Result:
    config: Config
    done: int  #: steps so far
    runs: dict[str, TrainingRun]  #: by id: raw, sqrt, and the alternative

    @property
    def complete(self) -> bool:
        return self.done == self.config.steps

    def verdict(self) -> Message:
        """Whether scaling made a difference here, judged by accuracy beside the spread of the seeds."""
        raw, scaled = self.runs["raw"].end("accuracy"), self.runs["sqrt"].end("accuracy")
        gap = float(scaled.mean() - raw.mean())
        numbers: dict[str, object] = {
            "d_k": self.config.d_k,
            "steps": self.done,
            "raw": f"{raw.mean():.1%}",
            "scaled": f"{scaled.mean():.1%}",
            "seeds": len(raw),
        }
        if abs(gap) <= max(0.02, float(np.hypot(raw.std(), scaled.std()))):
            return Message(
                "At d_k = {d_k} scaling makes no difference that these {seeds} seeds can show: after {steps} steps "
                "{raw} of the labels are right without it and {scaled} with it.",
                numbers,
            )
        if gap > 0:
            return Message(
                "At d_k = {d_k} scaling helps: after {steps} steps {scaled} of the labels are right with it "
                "and {raw} without, mean of {seeds} seeds.",
                numbers,
            )
        return Message(
            "At d_k = {d_k} scaling hurts here: after {steps} steps {scaled} of the labels are right with it "
            "and {raw} without, mean of {seeds} seeds.",
            numbers,
        )


def run(config: Config) -> Result:
    """Train to the last step, and return the complete result."""
    return deque(train(config), maxlen=1)[0]


def train(config: Config) -> Iterator[Result]:
    """Train raw, scaled and the alternative side by side, from the same start on the same data; results so far."""
    _check(config)
    names = dict.fromkeys(("raw", "sqrt", config.alternative))
    heads = {name: _Head(config, name) for name in names}
    data = [torch.Generator().manual_seed(10_000 + config.seed + s) for s in range(config.seeds)]
    for step in range(1, config.steps + 1):
        labels = torch.stack([torch.randint(0, LABELS, (SEQUENCES, config.names), generator=g) for g in data])
        for head in heads.values():
            head.learn(labels)
        if step % EVERY == 0 or step == config.steps:
            yield Result(config, step, {name: head.so_far() for name, head in heads.items()})


class _Head:
    """One way of scaling, in all seeds at once: S independent heads side by side."""

    def __init__(self, config: Config, alternative: str) -> None:
        self.alternative = alternative
        made = [_start(config, torch.Generator().manual_seed(config.seed + s)) for s in range(config.seeds)]
        self.q, self.k, self.values, self.out = (torch.stack(p).requires_grad_() for p in zip(*made, strict=True))
        learned = [self.q, self.k, self.values, self.out]
        self.parameter: float | Tensor = config.parameter
        if alternative == "qk-norm":
            self.parameter = torch.full((config.seeds, 1, 1, 1), config.parameter, requires_grad=True)
            learned.append(self.parameter)
        kind = torch.optim.SGD if config.optimizer == "sgd" else torch.optim.Adam
        self.optimizer = kind(learned, lr=config.rate)
        self.history: dict[str, list[Tensor]] = {name: [] for name in MEASURES}

    def learn(self, labels: Tensor) -> None:
        """One step on labels (S, sequences, names): every name is asked for in every sequence."""
        weights, logits = self.forward(labels)
        wanted = labels.movedim(1, 2)  # (S, names, sequences), as in logits
        each = torch.nn.functional.cross_entropy(logits.flatten(0, 2), wanted.flatten(), reduction="none")
        loss = each.reshape(len(labels), -1).mean(-1)  # (S,)
        self.optimizer.zero_grad()
        loss.sum().backward()  # seeds share no parameters: each gets the gradient of its own loss
        assert self.q.grad is not None
        assert self.k.grad is not None
        square = self.q.grad.square().sum((-1, -2)) + self.k.grad.square().sum((-1, -2))
        self.optimizer.step()
        right = (logits.argmax(-1) == wanted).float().mean((-1, -2))
        spread = entropy(weights.detach()).mean((-1, -2))
        for name, value in zip(MEASURES, (loss.detach(), right, spread, square.sqrt()), strict=True):
            self.history[name].append(value)

    def forward(self, labels: Tensor) -> tuple[Tensor, Tensor]:
        """Weights (S, 1, names, names) and label logits (S, names, sequences, LABELS).

        Weights depend on names alone, so all sequences share them: their values stand side by side in one v.
        """
        seeds, sequences, names = labels.shape
        one_hot = torch.nn.functional.one_hot(labels, LABELS).to(self.values.dtype)
        v = (one_hot @ self.values[:, None]).movedim(1, 2).reshape(seeds, 1, names, sequences * WIDTH)
        made = alternatives.stages(self.q[:, None], self.k[:, None], v, self.alternative, self.parameter)
        mixed = made.output.reshape(seeds, names, sequences, WIDTH)
        return made.weights, mixed @ self.out[:, None]

    def so_far(self) -> TrainingRun:
        """History as arrays (seeds, steps)."""
        return TrainingRun(**{name: torch.stack(steps, -1).numpy() for name, steps in self.history.items()})


def _start(config: Config, generator: Generator) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Queries, keys, values per label, output layer: the same for every way of scaling."""
    q = torch.randn(config.names, config.d_k, generator=generator)
    k = torch.randn(config.names, config.d_k, generator=generator)
    values = torch.randn(LABELS, WIDTH, generator=generator)
    return q, k, values, torch.randn(WIDTH, LABELS, generator=generator) / WIDTH**0.5


def _check(config: Config) -> None:
    alternatives.check(config.alternative, config.parameter)
    limits = {"d_k": (1, 4096), "names": (2, 64), "steps": (1, 2000), "seeds": (1, 8), "rate": (1e-4, 10)}
    require_within(config, limits)
    if config.optimizer not in ("sgd", "adam"):
        raise Problem('optimizer={optimizer} must be "sgd" or "adam"', optimizer=config.optimizer)
