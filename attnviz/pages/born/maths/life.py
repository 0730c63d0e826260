"""A small model that learns to repeat words: its task, its forward pass, and its training runs.

The task is to predict a copied sequence of words; the model is a few layers of attention and nothing else. Its
parameters are one vector (N,): the embedding (V, M); W_Q, W_K, W_V (M, H*D) and W_O (H*D, M) of each layer; and the
unembedding (M, V), row by row. The browser cuts the vector in the same order (`canvas/birth/forward.js`).

A run is measured at every step. Stored are steps spaced on a logarithmic axis, and both sides of each crossing of a
threshold. So the first step above a threshold is exact.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import accumulate, pairwise, product
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import torch
from torch import Tensor, nn

from attnviz.analysis import prepared_files
from attnviz.base.message import Problem, require_within
from attnviz.base.word_boundaries import split
from attnviz.core import masks, measures
from attnviz.core.attention import Scale, attend
from attnviz.core.projections import join_heads, split_heads
from attnviz.core.rope import RoPE
from attnviz.models.settings import current_settings

AblatedHeads = Collection[tuple[int, int]]  #: layer and head of each
SPREAD = 0.5  #: of the embedding at the start
LIMITS = {"seed": (0, 9999), "steps": (1, 20_000), "layers": (1, 4), "heads": (1, 8)}


@dataclass(frozen=True)
class Config:
    """The task, the size of the model, and how it is trained."""

    words: int = 64  #: V, the vocabulary
    length: int = 48  #: T, tokens of a sequence
    lags: tuple[int, int] = (4, 24)  #: the shortest and the longest copy, in words
    held_out: tuple[int, ...] = (6, 11, 17, 22)  #: lengths of copies that are never trained on
    width: int = 48  #: M
    layers: int = 2
    heads: int = 3  #: H, in each layer
    d_head: int = 16  #: D
    base: float = 100.0  #: of the rotary positions
    causal: bool = True
    scaled: bool = True  #: whether scores are divided by the square root of D
    blurred: bool = False  #: whether layer 0 gives every token that it may look at the same weight
    steps: int = 1500
    batch: int = 32  #: sequences in a step
    rate: float = 5e-3  #: of Adam
    betas: tuple[float, float] = (0.9, 0.99)
    seed: int = 1

    def __post_init__(self) -> None:
        require_within(self, LIMITS)

    @property
    def training_lags(self) -> tuple[int, ...]:
        """Lengths of the copies in training sequences."""
        return tuple(lag for lag in range(self.lags[0], self.lags[1] + 1) if lag not in self.held_out)

    @property
    def all_heads(self) -> tuple[tuple[int, int], ...]:
        """(layer, head) of every head."""
        return tuple(product(range(self.layers), range(self.heads)))

    @property
    def shapes(self) -> tuple[tuple[int, int], ...]:
        """Shapes of the parameter matrices, in the order of the vector."""
        inside = self.heads * self.d_head
        layer = [(self.width, inside)] * 3 + [(inside, self.width)]
        return ((self.words, self.width), *(layer * self.layers), (self.width, self.words))


def unflatten(numbers: Tensor, config: Config) -> list[Tensor]:
    """Cut a parameter vector (N,) into its matrices."""
    ends = accumulate((rows * cols for rows, cols in config.shapes), initial=0)
    return [numbers[a:b].view(shape) for (a, b), shape in zip(pairwise(ends), config.shapes, strict=True)]


def initial_vector(config: Config) -> Tensor:
    """Initial parameters (N,): normal, with standard deviation SPREAD in the embedding and 1/sqrt(rows) elsewhere."""
    generator = torch.Generator().manual_seed(config.seed)
    matrices = [torch.randn(shape, generator=generator) / shape[0] ** 0.5 for shape in config.shapes]
    matrices[0] *= SPREAD * config.words**0.5
    return torch.cat([matrix.flatten() for matrix in matrices])


@dataclass(frozen=True)
class Sequences:
    """Sequences (B, T) with one segment that comes twice in a row, among filler words that come once."""

    tokens: Tensor
    known: Tensor  #: (B, T - 1), whether the word after this one is of the second copy, and not its first


def draw_sequences(count: int, lags: tuple[int, ...], config: Config, generator: torch.Generator) -> Sequences:
    """Draw random sequences whose repeated segments have these lengths, in words."""
    order = torch.rand(count, config.words, generator=generator).argsort(1)
    lag = torch.tensor(lags)[torch.randint(len(lags), (count, 1), generator=generator)]
    first = (torch.rand(count, 1, generator=generator) * (config.length - 2 * lag + 1)).long()
    at = torch.arange(config.length)
    offset = at - first  # from the beginning of the first copy
    filler = torch.where(offset < 0, at + lag, at - lag)  # words that no copy has
    word = torch.where((offset >= 0) & (offset < 2 * lag), offset % lag, filler)
    return Sequences(order.gather(1, word), ((offset >= lag) & (offset < 2 * lag - 1))[:, :-1])


def forward(numbers: Tensor, tokens: Tensor, config: Config, ablated: AblatedHeads = ()) -> tuple[Tensor, list[Tensor]]:
    """Logits (B, T, V) of tokens (B, T), and the weights (B, H, T, T) of each layer.

    The output of an `ablated` head is 0.
    """
    embedding, *inside, unembedding = unflatten(numbers, config)
    mask = masks.causal(tokens.shape[-1]) if config.causal else None
    rope, places = RoPE(base=config.base), torch.arange(tokens.shape[-1])
    x, weights = embedding[tokens], []
    for layer in range(config.layers):
        w_q, w_k, w_v, w_o = inside[4 * layer : 4 * layer + 4]
        q, k, v = (split_heads(x @ w, config.heads) for w in (w_q, w_k, w_v))  # (B, H, T, D)
        scale: Scale = 0.0 if config.blurred and layer == 0 else "sqrt" if config.scaled else None
        stages = attend(rope.rotate(q, places), rope.rotate(k, places), v, mask, scale)
        active = torch.tensor([float((layer, head) not in ablated) for head in range(config.heads)])
        x = x + join_heads(stages.output * active[:, None, None]) @ w_o
        weights.append(stages.weights)
    return x @ unembedding, weights


# A training run: the loss of every step, and measures of all heads and all parameters at some steps.
FORMAT = 1
EARLY, FROM, STEPS = (0, 1, 2, 4, 8, 16, 32), 50, 53  #: plotted steps: these, and STEPS more, logarithmically spaced
N_FEW_CHECKPOINTS = 10  #: checkpoints with parameters in a run that is only compared
N_EXAM_SEQUENCES = 128  #: sequences with copies of lengths that are never trained on
N_CURVE_POINTS = 300  #: plotted losses of a run
FOUND_FROM = 0.5  #: accuracy, and weight on a pattern, that count as found
BEGUN, DONE = 0.1, 0.9  #: accuracies between which the loss falls

LIFE, BLURRED = "life", "blurred"
SEEDS = ("seed-2", "seed-3", "seed-4", "seed-5", "seed-6")
#: every run that is shipped, by name
RUNS: dict[str, Config] = {
    LIFE: Config(),
    BLURRED: Config(blurred=True),
    "one-layer": Config(layers=1),
    "no-mask": Config(causal=False),
    "no-scaling": Config(scaled=False),
    "one-head-less": Config(heads=2),
    **{name: Config(seed=int(name[-1])) for name in SEEDS},
}


@dataclass(frozen=True, eq=False)
class TrainingRun:
    """One run, measured on copies of lengths never trained on. C counts the steps with stored measures."""

    config: Config
    losses: np.ndarray  #: (steps,), nats a word of the second copy except its first, before each step
    at: np.ndarray  #: (C,), training steps before each measurement
    loss: np.ndarray  #: (C,)
    accuracy: np.ndarray  #: (C,), share of those words that are the likeliest by the model
    previous: np.ndarray  #: (C, L, H), mean weight on the previous token
    induction: np.ndarray  #: (C, L, H), mean weight on the token after the previous copy
    kept: np.ndarray  #: (kept,), indices among C of checkpoints, whose parameters are stored
    numbers: np.ndarray  #: (kept, N), parameters, float16

    @property
    def steps(self) -> np.ndarray:
        """Training steps (kept,) of the checkpoints."""
        return np.asarray(self.at[self.kept])

    @property
    def curve(self) -> tuple[np.ndarray, np.ndarray]:
        """Plotted steps and losses: the mean loss between evenly spaced points of a logarithmic axis."""
        ends = np.unique(np.geomspace(1, len(self.losses), N_CURVE_POINTS).round().astype(int))
        begins = np.concatenate([[0], ends[:-1]])
        return begins, np.add.reduceat(self.losses, begins) / (ends - begins)

    @property
    def cliff(self) -> int | None:
        """The first step from which the second copy is predicted; None if it never is."""
        return first_lasting_step(self.at, self.accuracy)

    def find_pattern_step(self, scores: np.ndarray) -> int | None:
        """The first step from which one head has half of its weight on a pattern, by scores (C, L, H), or None."""
        return first_lasting_step(self.at, scores.max((1, 2)))

    def strongest_head(self, scores: np.ndarray) -> tuple[int, int]:
        """(layer, head) with the largest of scores (C, L, H) at the last step."""
        layer, head = np.unravel_index(scores[-1].argmax(), scores[-1].shape)
        return int(layer), int(head)

    def nearest_checkpoint(self, step: int) -> int:
        """Index of the checkpoint nearest to a training step."""
        return int(np.abs(self.steps - step).argmin())

    def run_checkpoints(
        self, ids: Sequence[int], checkpoints: Sequence[int], ablated: AblatedHeads
    ) -> tuple[np.ndarray, ...]:
        """Weights (S, heads, T, T) of all heads on token ids (T,) at S checkpoints, given by index.

        Then, both (S, T - 1): the probability of each next token, and whether it is the likeliest.
        """
        next_ids = torch.tensor(ids[1:])
        outputs = [
            forward(torch.from_numpy(self.numbers[at]).float(), torch.tensor([ids]), self.config, ablated)
            for at in checkpoints
        ]
        logits = torch.stack([logits[0, :-1] for logits, _weights in outputs])
        weights = torch.stack([torch.cat([layer[0] for layer in weights]) for _logits, weights in outputs])
        likely = logits.softmax(-1)[:, torch.arange(len(next_ids)), next_ids]
        return weights.numpy(), likely.numpy(), (logits.argmax(-1) == next_ids).numpy()

    def measure_checkpoints(self, sequences: Sequences, ablated: AblatedHeads = ()) -> np.ndarray:
        """Loss and accuracy (kept, 2) on these sequences at each checkpoint, with some heads ablated."""
        numbers = torch.from_numpy(self.numbers).float()
        return np.array([measure_heads(vector, sequences, self.config, ablated)[:2] for vector in numbers])


def first_lasting_step(at: np.ndarray, curve: np.ndarray) -> int | None:
    """The first step from which a curve stays at FOUND_FROM or above; None if it ends below.

    It is exact if both sides of each crossing are among the steps.
    """
    above = np.minimum.accumulate(curve[::-1])[::-1] >= FOUND_FROM
    return int(at[above.argmax()]) if above.any() else None


def plotted_steps(steps: int) -> list[int]:
    """Plotted steps of a run of `steps` steps, evenly spaced on a logarithmic axis."""
    later = np.geomspace(min(FROM, steps), steps, STEPS).round().astype(int)
    return sorted({*(step for step in EARLY if step <= steps), *later.tolist()})


def measured_steps(accuracy: np.ndarray, previous: np.ndarray, induction: np.ndarray) -> list[int]:
    """Steps to store, from curves over all steps: the plotted ones, and both sides of each threshold crossing."""
    curves = [(accuracy, level) for level in (BEGUN, FOUND_FROM, DONE)]
    curves += [(scores.max((1, 2)), FOUND_FROM) for scores in (previous, induction)]
    before = [step for curve, level in curves for step in np.flatnonzero(np.diff(curve >= level)).tolist()]
    return sorted({*plotted_steps(len(accuracy) - 1), *before, *(step + 1 for step in before)})


def run(
    config: Config, n_checkpoints: int | None = None, on_step: Callable[[int, float], None] | None = None
) -> TrainingRun:
    """Train a model. `n_checkpoints` steps store their parameters, by default all plotted ones.

    `on_step` is called with each plotted step and its accuracy.
    """
    numbers = nn.Parameter(initial_vector(config))
    adam = torch.optim.Adam([numbers], lr=config.rate, betas=config.betas)
    generator = torch.Generator().manual_seed(1000 + config.seed)
    examined, steps = exam_sequences(config), np.array(plotted_steps(config.steps))
    checkpoint_places = (
        np.linspace(0, len(steps) - 1, len(steps) if n_checkpoints is None else n_checkpoints).round().astype(int)
    )
    losses, measurements, checkpoints = [], [], {}
    for step in range(config.steps + 1):
        measurements.append(measure_heads(numbers.detach(), examined, config))
        if step in steps[checkpoint_places]:
            checkpoints[step] = numbers.detach().half().numpy()
        if step in steps and on_step:
            on_step(step, measurements[-1][1])
        if step < config.steps:
            loss = mean_loss(numbers, draw_sequences(config.batch, config.training_lags, config, generator), config)
            adam.zero_grad()
            loss.backward()
            adam.step()
            losses.append(loss.item())
    loss_there, right, previous, induction = (
        np.array(column, np.float32) for column in zip(*measurements, strict=True)
    )
    at = np.array(measured_steps(right, previous, induction))
    checkpoint_indices, checkpoint_numbers = (
        np.searchsorted(at, list(checkpoints)),
        np.array(list(checkpoints.values())),
    )
    measures = loss_there[at], right[at], previous[at], induction[at]
    return TrainingRun(config, np.array(losses, np.float32), at, *measures, checkpoint_indices, checkpoint_numbers)


def exam_sequences(config: Config) -> Sequences:
    """The sequences that every run of this task is measured on."""
    return draw_sequences(N_EXAM_SEQUENCES, config.held_out, config, torch.Generator().manual_seed(999))


def mean_loss(numbers: Tensor, sequences: Sequences, config: Config) -> Tensor:
    """Mean loss in nats of the words of the second copy except its first."""
    logits, _weights = forward(numbers, sequences.tokens, config)
    return nn.functional.cross_entropy(logits[:, :-1][sequences.known], sequences.tokens[:, 1:][sequences.known])


@torch.no_grad()
def measure_heads(
    numbers: Tensor, sequences: Sequences, config: Config, ablated: AblatedHeads = ()
) -> tuple[float, float, np.ndarray, np.ndarray]:
    """Loss, accuracy, and the previous-token and induction scores (L, H) of all heads."""
    logits, weights = forward(numbers, sequences.tokens, config, ablated)
    known_logits, targets = logits[:, :-1][sequences.known], sequences.tokens[:, 1:][sequences.known]
    loss = nn.functional.cross_entropy(known_logits, targets).item()
    right = (known_logits.argmax(-1) == targets).double().mean().item()
    previous = [measures.previous_token_mass(layer_weights).nanmean((0, 2)) for layer_weights in weights]
    induction = [measures.induction_score(layer_weights, sequences.tokens).nanmean((0, 2)) for layer_weights in weights]
    return loss, right, torch.stack(previous).numpy(), torch.stack(induction).numpy()


@lru_cache(maxsize=64)
def measure_without_heads(name: str, ablated: AblatedHeads) -> np.ndarray:
    """Loss and accuracy (kept, 2) of a run with some heads ablated, on copies never trained on."""
    life = read(name)
    return life.measure_checkpoints(exam_sequences(life.config), ablated)


def pack_run(life: TrainingRun) -> bytes:
    """Contents of the file of a run."""
    arrays = {name: value for name, value in vars(life).items() if name != "config"}
    return prepared_files.pack_file({"format": FORMAT, "config": asdict(life.config)}, arrays)


def own_run_path(name: str) -> Path:
    """Path of the file of a run that was trained on this machine."""
    return current_settings().cache / "born" / f"{name}.npz"


def list_own_runs() -> list[str]:
    """Names of runs that were trained on this machine."""
    return sorted(path.stem for path in own_run_path("any").parent.glob("*.npz"))


@lru_cache(maxsize=16)
def read(name: str) -> TrainingRun:
    """Load a packaged run, or one that was trained here. Problem if its file is missing or damaged."""
    stored = (
        prepared_files.read(__package__, f"{name}.npz")
        if name in RUNS
        else prepared_files.read_path(own_run_path(name))
    )
    if stored is None or stored[0].get("format") != FORMAT:
        raise Problem("The file of the training run {name} is missing or damaged", name=name)
    header, arrays = stored
    config_fields: dict[str, Any] = {
        field: tuple(value) if isinstance(value, list) else value for field, value in header["config"].items()
    }
    return TrainingRun(Config(**config_fields), **arrays)


@dataclass(frozen=True)
class RepeatedWords:
    """A sequence of words twice in a row: as typed, and as token ids."""

    tokens: tuple[str, ...]
    ids: tuple[int, ...]


def repeat_words(text: str, config: Config) -> RepeatedWords:
    """Repeat typed words. The id of a word is a hash of its lower-case letters, or the next free one.

    Problem if there are too few or too many words.
    """
    typed_words = split(text)
    fewest, most = config.lags
    if not fewest <= len(typed_words) <= most:
        raise Problem(
            "{count} {count:word was|words were} typed; the model takes {fewest} to {most}",
            count=len(typed_words),
            fewest=fewest,
            most=most,
        )
    numbers: dict[str, int] = {}
    for word in map(str.casefold, typed_words):
        number = crc32(word.encode()) % config.words
        while word not in numbers and number in numbers.values():
            number = (number + 1) % config.words
        numbers.setdefault(word, number)
    return RepeatedWords(typed_words * 2, tuple(numbers[word.casefold()] for word in typed_words) * 2)


@lru_cache(maxsize=256)
def accuracy_by_step(name: str, copies: RepeatedWords) -> np.ndarray:
    """Accuracy (kept,) at each checkpoint of a run, on the second copy except its first word."""
    tokens = torch.tensor([copies.ids])
    known = torch.arange(len(copies.ids) - 1)[None] >= len(copies.ids) // 2
    return read(name).measure_checkpoints(Sequences(tokens, known))[:, 1]


def steps_around_learning(name: str, copies: RepeatedWords) -> tuple[int, int] | None:
    """The last checkpoint that predicts less than half of the second copy, and the next one, as steps.

    None if the run ends below half. Both are step 0 if it is above half from the beginning.
    """
    steps = read(name).steps
    learned = first_lasting_step(steps, accuracy_by_step(name, copies))
    return None if learned is None else (int(steps[max(int(np.searchsorted(steps, learned)) - 1, 0)]), learned)
