"""Does scaling help learning? One attention head learns to look things up, trained side by side with and without it.

There are n names. In each sequence every name carries a label drawn at random; asked for a name, the head must
give its label back. Queries and keys are learned per name (n x d_k each, standard normal at the start, so that
raw scores begin with variance d_k), values per label, then one linear layer to label logits. Nothing else.
"""

import inspect
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnviz.base.message import Message, require_one_of, require_within
from attnviz.base.rounding import Rounded
from attnviz.core.attention import Stages
from attnviz.core.measures import entropy, jacobian_norm
from attnviz.pages.scaling.maths import alternatives
from attnviz.pages.scaling.maths.alternatives import stages

LABELS = 8
WIDTH = 16  #: numbers in a value
SEQUENCES = 32  #: sequences in a batch
EVERY = 10  #: steps between two partial results
LAST = 20  #: steps over which the end of a run is averaged


@dataclass(frozen=True)
class Config:
    """Settings of the training: the head, the task, and the optimizer."""

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
    """Measures before each step so far: each (seeds, steps so far)."""

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
    """Training runs of each scheme so far."""

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
            "raw": f"{Rounded(raw.mean()):.1%}",
            "scaled": f"{Rounded(scaled.mean()):.1%}",
            "seeds": Message("one seed") if len(raw) == 1 else Message("{n} seeds", {"n": len(raw)}),
        }
        if abs(gap) <= max(0.02, float(np.hypot(raw.std(), scaled.std()))):
            return Message(
                "At d_k = {d_k} scaling makes no difference that {seeds} can show: after {steps} steps "
                "{raw} of the labels are right without it and {scaled} with it.",
                numbers,
            )
        if gap > 0:
            return Message(
                "At d_k = {d_k} scaling helps: after {steps} steps {scaled} of the labels are right with it "
                "and {raw} without, mean of {seeds}.",
                numbers,
            )
        return Message(
            "At d_k = {d_k} scaling hurts here: after {steps} steps {scaled} of the labels are right with it "
            "and {raw} without, mean of {seeds}.",
            numbers,
        )


def train(config: Config) -> Iterator[Result]:
    """Train raw, scaled and the alternative from the same start on the same data. Yields results so far."""
    check(config)
    heads = {name: RetrievalHead(config, name) for name in dict.fromkeys(("raw", "sqrt", config.alternative))}
    for step, labels in enumerate(draw_labels(config), 1):
        for head in heads.values():
            head.learn(labels)
        if step % EVERY == 0 or step == config.steps:
            yield Result(config, step, {name: head.to_training_run() for name, head in heads.items()})


def check(config: Config) -> None:
    """Raise a Problem when this configuration cannot be trained."""
    alternatives.check(config.alternative, config.parameter)
    limits = {"d_k": (1, 4096), "names": (2, 64), "steps": (1, 2000), "seeds": (1, 8), "rate": (1e-4, 10)}
    require_within(config, limits)
    require_one_of("optimizer", config.optimizer, ("sgd", "adam"))


def is_small(config: Config) -> bool:
    """Whether a training takes no more than the usual one, a second or two."""
    usual = Config()
    return config.steps * config.seeds * max(config.d_k, usual.d_k) <= usual.steps * usual.seeds * usual.d_k


def to_json(result: Result) -> dict[str, Any]:
    """A result as plain data. Its numbers are those of float32, which are sent as they are: there are 200,000."""
    runs = {
        name: {measure: b64encode(values.tobytes()).decode() for measure, values in vars(run).items()}
        for name, run in result.runs.items()
    }
    return {"config": asdict(result.config), "done": result.done, "runs": runs}


def from_json(record: Mapping[str, Any]) -> Result:
    """The result that `to_json` wrote."""
    config = Config(**record["config"])
    runs = {
        name: TrainingRun(
            **{m: np.frombuffer(b64decode(v), np.float32).reshape(config.seeds, -1) for m, v in measures.items()}
        )
        for name, measures in record["runs"].items()
    }
    return Result(config, record["done"], runs)


def draw_labels(config: Config) -> Iterator[Tensor]:
    """For each step the label of every name in every sequence, (seeds, sequences, names)."""
    generators = [torch.Generator().manual_seed(10_000 + config.seed + s) for s in range(config.seeds)]
    for _ in range(config.steps):
        yield torch.stack([torch.randint(0, LABELS, (SEQUENCES, config.names), generator=g) for g in generators])


class RetrievalHead:
    """One way of scaling, in all seeds at once: S independent heads side by side."""

    def __init__(self, config: Config, way: str) -> None:
        self.way = way
        starts = zip(*(start(config, config.seed + s) for s in range(config.seeds)), strict=True)
        self.q, self.k, self.values, self.out = (torch.stack(tensors).requires_grad_() for tensors in starts)
        learned = [self.q, self.k, self.values, self.out]
        self.parameter: float | Tensor = config.parameter
        if way == "qk-norm":
            self.parameter = torch.full((config.seeds, 1, 1, 1), config.parameter, requires_grad=True)
            learned.append(self.parameter)
        kind = torch.optim.SGD if config.optimizer == "sgd" else torch.optim.Adam
        self.optimizer = kind(learned, lr=config.rate)
        # written in place: a small tensor kept of each step, between large ones that go, cost a megabyte a step
        self.history = torch.empty(4, config.seeds, config.steps)  # (measures, S, steps)
        self.done = 0

    def learn(self, labels: Tensor) -> None:
        """One step on labels (S, sequences, names): every name is asked for in every sequence."""
        attention, logits = self.forward(labels)
        loss = mean_loss(logits, labels)
        self.optimizer.zero_grad()
        loss.sum().backward()  # seeds share no parameters: each gets the gradient of its own loss
        reached = torch.cat([parameter.grad for parameter in (self.q, self.k) if parameter.grad is not None], 1)
        self.optimizer.step()
        right = (logits.argmax(-1) == labels.movedim(1, 2)).float().mean((-1, -2))
        spread = entropy(attention.weights.detach()).mean((-1, -2))
        measures = [loss.detach(), right, spread, reached.flatten(1).norm(dim=1)]
        torch.stack(measures, out=self.history[..., self.done])
        self.done += 1

    def softmax_gradients(self, labels: Tensor) -> tuple[Tensor, Tensor]:
        """Norm of the loss's gradient at the logits of softmax, and mean norm of softmax's Jacobian: (S,) each."""
        attention, logits = self.forward(labels)
        (reached,) = torch.autograd.grad(mean_loss(logits, labels).sum(), attention.scaled)
        return reached.flatten(1).norm(dim=1), jacobian_norm(attention.weights.detach()).mean((-1, -2))

    def forward(self, labels: Tensor) -> tuple[Stages, Tensor]:
        """Attention with weights (S, 1, names, names), and label logits (S, names, sequences, LABELS).

        Weights depend on names alone, so all sequences share them: their values stand side by side in one v.
        """
        one_hot = torch.nn.functional.one_hot(labels, LABELS).to(self.values.dtype)
        v = (one_hot @ self.values[:, None]).movedim(1, 2).flatten(2)[:, None]  # (S, 1, names, sequences * WIDTH)
        attention = stages(self.q[:, None], self.k[:, None], v, self.way, self.parameter)
        return attention, attention.output.squeeze(1).unflatten(-1, (-1, WIDTH)) @ self.out[:, None]

    def to_training_run(self) -> TrainingRun:
        """History as arrays (seeds, steps)."""
        return TrainingRun(*self.history[..., : self.done].clone().numpy())


def mean_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """Mean cross-entropy of each seed, (S,), of label logits (S, names, sequences, LABELS)."""
    losses = torch.nn.functional.cross_entropy(logits.flatten(0, 2), labels.movedim(1, 2).flatten(), reduction="none")
    return losses.reshape(len(labels), -1).mean(-1)


def start(config: Config, seed: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Queries, keys, values per label, output layer: the same for every way of scaling."""
    generator = torch.Generator().manual_seed(seed)
    return (
        torch.randn(config.names, config.d_k, generator=generator),
        torch.randn(config.names, config.d_k, generator=generator),
        torch.randn(LABELS, WIDTH, generator=generator),
        torch.randn(WIDTH, LABELS, generator=generator) / WIDTH**0.5,
    )


def program(config: Config) -> str:
    """The head itself, and what each way of scaling ends at, with the first gradient of each."""
    return f"""\

import torch
from attnviz.core.attention import Stages
from attnviz.core.measures import entropy, jacobian_norm
from attnviz.pages.scaling.maths.alternatives import stages
from attnviz.pages.scaling.maths.retrieval_training import (
    LABELS, WIDTH, Config, TrainingRun, draw_labels, mean_loss, start
)
from torch import Tensor


{inspect.getsource(RetrievalHead)}

config = {config!r}
runs = {{}}
for way in {tuple(dict.fromkeys(("raw", "sqrt", config.alternative)))}:
    head = RetrievalHead(config, way)
    at_logits, jacobian = (norm.mean() for norm in head.softmax_gradients(next(draw_labels(config))))
    for labels in draw_labels(config):
        head.learn(labels)
    runs[way] = head.to_training_run()
    loss, right, spread = (runs[way].end(measure).mean() for measure in ("loss", "accuracy", "entropy"))
    print(f"{{way}}: {{right:.1%}} right, loss {{loss:.3f}}, entropy {{spread:.2f}}")
    print(f"    first gradient: {{runs[way].gradient[:, 0].mean():.2g}} at q and k, {{at_logits:.3g}} at the logits,")
    print(f"    where the norm of softmax's Jacobian is {{jacobian:.3f}}")
"""
