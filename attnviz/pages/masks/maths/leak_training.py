"""The causal mask in training: T examples from one sentence, and a loss of zero when the mask is off by one."""

import copy
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnviz.base.message import Problem
from attnviz.core import masks
from attnviz.core.attention import attend
from attnviz.core.modules import seeded_generator

WIDTH = 32
MOST_WORDS = 32  #: different words that the small model learns, at most
REPORT_EVERY = 5


@dataclass(frozen=True)
class Config:
    """Training on words drawn by lot from the sentence, with replacement: nothing in them can be predicted.

    `leak` is by how many places the wrong mask is off; `length` words a line, `batch` lines a step.
    """

    sentence: tuple[str, ...]
    seed: int = 0
    leak: int = 1
    length: int = 12
    batch: int = 32
    steps: int = 150
    learning_rate: float = 0.01


@dataclass(frozen=True)
class Result:
    """Losses in nats per word at the steps that were reported, one model under each mask.

    `guess` is the loss of guessing blindly, ln V: on random words no model without a leak beats it. `without_leak`
    is the leaking model's loss under the right mask, as when it generates text. Weights are
    (length, length), the mean over a batch.
    """

    steps: np.ndarray
    honest: np.ndarray
    leaking: np.ndarray
    without_leak: np.ndarray
    guess: float
    honest_weights: np.ndarray
    leaking_weights: np.ndarray
    total_steps: int

    @property
    def is_done(self) -> bool:
        return int(self.steps[-1]) >= self.total_steps


@dataclass(frozen=True)
class Examples:
    """One sentence as training examples: each prefix, its next word, and its loss in nats.

    `one_pass_losses` comes from one pass under the causal mask over all words but the last, which nothing
    follows; `separate_losses` from a pass for each example.
    """

    prefixes: tuple[tuple[str, ...], ...]
    next_words: tuple[str, ...]
    one_pass_losses: np.ndarray
    separate_losses: np.ndarray

    @property
    def pairs_together(self) -> int:
        """Scores that the one pass computes."""
        return len(self.prefixes) ** 2

    @property
    def pairs_apart(self) -> int:
        """Scores that a pass for each example computes."""
        return sum(len(prefix) ** 2 for prefix in self.prefixes)


class TinyModel(nn.Module):
    """A language model of one attention layer: words and their positions in, logits of the next word out."""

    def __init__(self, vocabulary: int, length: int) -> None:
        super().__init__()
        self.word = nn.Embedding(vocabulary, WIDTH)
        self.position = nn.Embedding(length, WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.head = nn.Linear(WIDTH, vocabulary)

    def forward(self, tokens: Tensor, may_attend: Tensor) -> tuple[Tensor, Tensor]:
        """tokens (B, T) -> logits (B, T, V) and weights (B, T, T)."""
        x = self.word(tokens) + self.position.weight[: tokens.shape[1]]
        q, k, v = self.qkv(x).unsqueeze(1).chunk(3, -1)  # (B, H=1, T, D)
        stages = attend(q, k, v, mask=may_attend)
        return self.head(x + self.out(stages.output[:, 0])), stages.weights[:, 0]


def next_word_loss(logits: Tensor, tokens: Tensor) -> Tensor:
    """Mean loss in nats of each word but the first, predicted from the place before it."""
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())


def vocabulary(sentence: tuple[str, ...]) -> tuple[str, ...]:
    """Distinct words of the sentence in order, at most MOST_WORDS. Problem if there are fewer than two."""
    different = tuple(dict.fromkeys(sentence))
    if len(different) < 2:
        raise Problem(
            "There {n:is|are} {n} different {n:word|words} in the sentence; guessing the next one takes at least two.",
            n=len(different),
        )
    return different[:MOST_WORDS]


def examples(sentence: tuple[str, ...], seed: int = 0) -> Examples:
    """The T - 1 examples in a sentence of T words, their losses in one pass and one by one, for an untrained model."""
    names = tuple(dict.fromkeys(sentence))
    if len(sentence) < 2:
        raise Problem("One word is no training example: there is no next word. Type at least two.")
    length = len(sentence)
    with seeded_generator(seed):
        model = TinyModel(len(names), length)
    tokens = torch.tensor([[names.index(word) for word in sentence]])
    with torch.no_grad():
        logits, _ = model(tokens[:, :-1], masks.causal(length - 1))
        together = F.cross_entropy(logits[0], tokens[0, 1:], reduction="none")
        apart = [
            F.cross_entropy(model(tokens[:, :n], masks.everything(n))[0][0, -1], tokens[0, n]) for n in range(1, length)
        ]
    return Examples(
        tuple(sentence[:n] for n in range(1, length)),
        sentence[1:],
        together.numpy(),
        torch.stack(apart).numpy(),
    )


def train(config: Config) -> Iterator[Result]:
    """Train two models from one initialisation on the same lines, one with the right mask, one with a leaking mask.

    Yields the result so far at every reported step.
    """
    names = vocabulary(config.sentence)
    with seeded_generator(config.seed):
        honest = TinyModel(len(names), config.length)
    leaking = copy.deepcopy(honest)
    right = masks.causal(config.length)
    wrong = masks.everything(config.length).tril(config.leak)  # key position <= query position + leak
    generator = torch.Generator().manual_seed(config.seed)
    optimisers = [torch.optim.Adam(model.parameters(), lr=config.learning_rate) for model in (honest, leaking)]
    log: list[tuple[int, float, float, float]] = []
    for step in range(config.steps + 1):
        lines = torch.randint(len(names), (config.batch, config.length), generator=generator)
        losses_and_weights = [
            _train_step(*pair, lines) for pair in zip((honest, leaking), optimisers, (right, wrong), strict=True)
        ]
        if step % REPORT_EVERY and step < config.steps:
            continue
        with torch.no_grad():
            loss_without_leak = next_word_loss(leaking(lines, right)[0], lines)
        log.append((step, losses_and_weights[0][0], losses_and_weights[1][0], float(loss_without_leak)))
        steps, honest_losses, leaking_losses, losses_without_leak = (
            np.array(column) for column in zip(*log, strict=True)
        )
        yield Result(
            steps,
            honest_losses,
            leaking_losses,
            losses_without_leak,
            math.log(len(names)),
            losses_and_weights[0][1],
            losses_and_weights[1][1],
            config.steps,
        )


def _train_step(
    model: nn.Module, optimiser: torch.optim.Optimizer, mask: Tensor, lines: Tensor
) -> tuple[float, np.ndarray]:
    """Take one training step. Returns the loss before it, and the attention weights averaged over the batch."""
    logits, weights = model(lines, mask)
    loss = next_word_loss(logits, lines)
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
    return loss.item(), weights.detach().mean(0).numpy()
