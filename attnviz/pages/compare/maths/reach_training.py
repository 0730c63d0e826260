"""Copy task: the label stands first, noise follows, and the last token asks for it.

All kinds of layer start from the same seed and see the same sequences. Gradients by position are measured before the
first step, during training, and at the end.
"""

import json
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from attnviz.base.message import require_multiple, require_within
from attnviz.core.modules import seeded_generator
from attnviz.pages.compare.maths import compared_layers, layer_costs

LABELS = 8
SEQUENCES = 32  #: sequences in a batch
PROBES = 4  #: sequences whose gradients are averaged
EVERY = 20  #: steps between two partial results
LAST = 20  #: steps over which the end of a run is averaged
LEARNED = 0.9  #: share of labels right from which a task counts as learned
LIMITS = {"n": (4, 128), "d": (8, 64), "k": (2, 9), "layers": (1, 8), "steps": (0, 1000)}
RATES = (1e-4, 0.1)


@dataclass(frozen=True)
class Config:
    """Sizes of the task and the layers, and how they are trained."""

    n: int = 32  #: tokens: the label, n - 2 of noise, and the question
    d: int = 32
    heads: int = 4
    k: int = 3  #: kernel of the convolutions
    layers: int = 4  #: convolutions on top of each other
    remember: float = 0.0  #: added to the bias of the LSTM's forget gate at the start; 0 forgets half at every step
    steps: int = 200
    rate: float = 0.01  #: of Adam
    seed: int = 0


@dataclass(frozen=True)
class LayerReach:
    """One kind of layer: loss and accuracy by step, and gradient norms by position."""

    loss: np.ndarray  #: (steps so far,), nats, before the step
    accuracy: np.ndarray  #: (steps so far,), share of labels right
    at_start: np.ndarray  #: (n,), the first input first
    now: np.ndarray  #: (n,)

    @property
    def end_accuracy(self) -> float:
        """Mean over the last steps; before the first step NaN."""
        return float(self.accuracy[-LAST:].mean()) if len(self.accuracy) else float("nan")

    @property
    def share_of_first(self) -> float:
        """The gradient at the first input over the mean of all: 1 where every input counts the same."""
        return float(self.now[0] / self.now.mean()) if self.now.any() else 0.0


@dataclass(frozen=True)
class Result:
    """The layers after `done` steps."""

    config: Config
    done: int  #: steps so far
    reach: Mapping[str, LayerReach]  #: by kind

    @property
    def complete(self) -> bool:
        return self.done == self.config.steps


def run(config: Config) -> Result:
    """Train to the last step, and return the complete result."""
    return deque(train(config), maxlen=1)[0]


def train(config: Config) -> Iterator[Result]:
    """Train all kinds side by side. Yields before the first step, then every EVERY steps."""
    check(config)
    runs = {kind: _Run(kind, config) for kind in KINDS}
    data = torch.Generator().manual_seed(10_000 + config.seed)
    for step in range(config.steps + 1):
        if step:
            tokens, labels = draw_sequences(config.n, SEQUENCES, data)
            for run in runs.values():
                run.learn(tokens, labels)
        if step % EVERY == 0 or step == config.steps:
            yield Result(config, step, {kind: run.snapshot() for kind, run in runs.items()})


def draw_sequences(n: int, count: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Draw tokens (count, n) and labels (count,).

    A sequence is a label, noise from the same labels, and the question LABELS.
    """
    tokens = torch.randint(0, LABELS, (count, n), generator=generator)
    tokens[:, -1] = LABELS
    return tokens, tokens[:, 0].clone()


class _Run:
    """One kind of layer in training."""

    def __init__(self, kind: str, config: Config) -> None:
        self.config = config
        self.model = make_model(kind, config)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=config.rate)
        self.history: list[tuple[float, float]] = []
        self.probes, _labels = draw_sequences(config.n, PROBES, torch.Generator().manual_seed(20_000 + config.seed))
        self.at_start = self.measure_gradients()

    def learn(self, tokens: Tensor, labels: Tensor) -> None:
        logits = self.model(tokens)
        loss = nn.functional.cross_entropy(logits, labels)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.history.append((loss.item(), (logits.argmax(-1) == labels).float().mean().item()))

    def measure_gradients(self) -> np.ndarray:
        """The gradient norm by position, averaged over the probes."""
        with torch.no_grad():
            embedded = self.model.embed(self.probes)
        return np.mean([gradient_by_position(self.model.last, x) for x in embedded], 0)

    def snapshot(self) -> LayerReach:
        loss, accuracy = np.array(self.history, dtype=float).reshape(-1, 2).T
        return LayerReach(loss, accuracy, self.at_start, self.measure_gradients())


def make_model(kind: str, config: Config) -> "RecallModel":
    """The untrained model of one kind. Embeddings are the same for all kinds of one seed."""
    with seeded_generator(config.seed):
        model = RecallModel(kind, config)
    if kind == "lstm":
        bias = model.get_parameter("layers.0.cell.bias_ih_l0")
        with torch.no_grad():  # gates stand in the order input, forget, cell, output
            bias[config.d : 2 * config.d] += config.remember
    return model


def check(config: Config) -> None:
    """Raise Problem for sizes outside the limits."""
    require_within(config, {**LIMITS, "rate": RATES})
    require_multiple("d", config.d, "heads", config.heads)


@cache
def load_stored_result() -> Result:
    """The packaged result of the default configuration. With it the page opens at once."""
    return from_json(json.loads((files(__package__) / "data" / "reach.json").read_text("utf-8")))


def from_json(record: Mapping[str, Any]) -> Result:
    """The result that `to_json` wrote."""
    reached = {
        kind: LayerReach(**{name: np.array(v) for name, v in arrays.items()})
        for kind, arrays in record["reached"].items()
    }
    return Result(Config(**record["config"]), record["done"], reached)


def to_json(result: Result, digits: int = 17) -> dict[str, Any]:
    """A result as plain data; 17 digits give every float64 exactly."""
    reached = {
        kind: {name: [float(f"{v:.{digits}g}") for v in values] for name, values in vars(reach).items()}
        for kind, reach in result.reach.items()
    }
    return {"config": asdict(result.config), "done": result.done, "reached": reached}


def program(config: Config) -> str:
    """Program that prints gradients at the first token before and after training, and the accuracy."""
    return f"""\
from attnviz.pages.compare.maths import reach_training

result = reach_training.run(reach_training.{config})
for kind, reach in result.reach.items():  # gradients: norm of d last output / d input, mean over a few sequences
    print(f"{{kind:10}} gradient at the first token {{reach.at_start[0]:.3g}}, then {{reach.now[0]:.3g}}")
    print(f"{{kind:10}} {{reach.end_accuracy:.1%}} right")
"""


# How much the output at the last position depends on the input at each position before it.
#
# The measure is the Frobenius norm of d output / d input, position by position: exact, by one backward pass over as
# many copies of the sequence as the output has numbers.
KINDS = ("attention", "linear", "lstm", "gru", "conv", "dilated")


class RecallModel(nn.Module):
    """Tokens and places as learned vectors, one kind of layer, and the last output as a label's logits.

    Attention needs the learned place of a token, or it could not tell the first from the others; all get it.
    Convolutions are stacked, ReLU between: `layers` of them, or for "dilated" as many as reach the first token.
    """

    def __init__(self, kind: str, config: Config) -> None:
        super().__init__()
        n, d, k = config.n, config.d, config.k
        self.tokens, self.places = nn.Embedding(LABELS + 1, d), nn.Parameter(0.02 * torch.randn(n, d))
        layers: list[nn.Module] = []
        if kind == "conv":
            layers = [compared_layers.CausalConvolution(d, k) for _ in range(config.layers)]
        elif kind == "dilated":
            layers = [compared_layers.CausalConvolution(d, k, k**i) for i in range(layer_costs.layers_to_reach(n, k))]
        else:
            layers = [compared_layers.make_layer("fused" if kind == "attention" else kind, d, heads=config.heads)]
        self.layers = nn.ModuleList(layers)
        self.out = nn.Linear(d, LABELS)

    def embed(self, tokens: Tensor) -> Tensor:
        """Embed tokens (B, n) with their positions: (B, n, d)."""
        return self.tokens(tokens) + self.places

    def last(self, x: Tensor) -> Tensor:
        """The last position's output, (B, n, d) -> (B, d)."""
        for i, layer in enumerate(self.layers):
            x = layer(nn.functional.relu(x) if i else x)
        return x[:, -1]

    def forward(self, tokens: Tensor) -> Tensor:
        return self.out(self.last(self.embed(tokens)))


def gradient_by_position(last: Callable[[Tensor], Tensor], x: Tensor) -> np.ndarray:
    """Norms (n,) of d last(x) / d x[j] for every position j of one sequence x (n, d)."""
    width = last(x.unsqueeze(0)).shape[-1]
    copies = x.detach().expand(width, *x.shape).clone().requires_grad_()
    (gradient,) = torch.autograd.grad(last(copies).diagonal().sum(), copies)  # copy i: gradient of output number i
    # squared in 64 bits: the square of what a recurrence lets through over 100 steps is 0 in 32
    return gradient.double().square().sum((0, 2)).sqrt().numpy()
