"""A small model that learns to repeat: its task, the model, and a training run of it, kept as it goes.

The task is words that come a second time; the model a few layers of attention and nothing else. Its numbers lie in one
vector, (N,): the embedding (V, M), of each layer W_Q, W_K and W_V (M, H*D) and W_O (H*D, M), and the unembedding
(M, V), row by row. The browser cuts them in the same order (`canvas/birth/forward.js`).

A run is measured at every step. What is kept are steps ever wider apart, and both sides of each step at which something
comes to be found or is lost: what is said of "from which step" hangs on no step that was not looked at.
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

Silenced = Collection[tuple[int, int]]  #: layer and head of each
SPREAD = 0.5  #: of the embedding at the start
LIMITS = {"seed": (0, 9999), "steps": (1, 20_000), "layers": (1, 4), "heads": (1, 8)}


@dataclass(frozen=True)
class Config:
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
    def trained_on(self) -> tuple[int, ...]:
        """Lengths of copies that it is trained on."""
        return tuple(lag for lag in range(self.lags[0], self.lags[1] + 1) if lag not in self.held_out)

    @property
    def places(self) -> tuple[tuple[int, int], ...]:
        """Layer and head of all heads."""
        return tuple(product(range(self.layers), range(self.heads)))

    @property
    def shapes(self) -> tuple[tuple[int, int], ...]:
        """The shapes of its matrices, in their order."""
        inside = self.heads * self.d_head
        layer = [(self.width, inside)] * 3 + [(inside, self.width)]
        return ((self.words, self.width), *(layer * self.layers), (self.width, self.words))


def unflatten(numbers: Tensor, config: Config) -> list[Tensor]:
    """The matrices that a vector (N,) holds."""
    ends = accumulate((rows * cols for rows, cols in config.shapes), initial=0)
    return [numbers[a:b].view(shape) for (a, b), shape in zip(pairwise(ends), config.shapes, strict=True)]


def initial_vector(config: Config) -> Tensor:
    """The vector (N,) that a run starts from: normal numbers, the embedding's of SPREAD, others of 1/sqrt(rows)."""
    drawn = torch.Generator().manual_seed(config.seed)
    made = [torch.randn(shape, generator=drawn) / shape[0] ** 0.5 for shape in config.shapes]
    made[0] *= SPREAD * config.words**0.5
    return torch.cat([matrix.flatten() for matrix in made])


@dataclass(frozen=True)
class Sequences:
    """Sequences (B, T): somewhere a copy and the same copy again, fillers around. No other word comes twice."""

    tokens: Tensor
    known: Tensor  #: (B, T - 1), whether the word after this one is of the second copy, and not its first


def draw_sequences(count: int, lags: tuple[int, ...], config: Config, drawn: torch.Generator) -> Sequences:
    """Draw sequences with copies of these lengths."""
    order = torch.rand(count, config.words, generator=drawn).argsort(1)
    lag = torch.tensor(lags)[torch.randint(len(lags), (count, 1), generator=drawn)]
    first = (torch.rand(count, 1, generator=drawn) * (config.length - 2 * lag + 1)).long()
    at = torch.arange(config.length)
    place = at - first  # from the beginning of the first copy
    filler = torch.where(place < 0, at + lag, at - lag)  # words that no copy has
    word = torch.where((place >= 0) & (place < 2 * lag), place % lag, filler)
    return Sequences(order.gather(1, word), ((place >= lag) & (place < 2 * lag - 1))[:, :-1])


def forward(numbers: Tensor, tokens: Tensor, config: Config, silenced: Silenced = ()) -> tuple[Tensor, list[Tensor]]:
    """Logits (B, T, V) of tokens (B, T), and of each layer the weights (B, H, T, T).

    Of a `silenced` head the output is 0.
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
        heard = torch.tensor([float((layer, head) not in silenced) for head in range(config.heads)])
        x = x + join_heads(stages.output * heard[:, None, None]) @ w_o
        weights.append(stages.weights)
    return x @ unembedding, weights


# A training run: the loss of every step, and at some steps what each head does and all numbers.
FORMAT = 1
EARLY, FROM, STEPS = (0, 1, 2, 4, 8, 16, 32), 50, 53  #: steps that are drawn: these, and STEPS more, ever wider
FEW = 10  #: of them whose numbers are kept of a run that is only compared
EXAMINED = 128  #: sequences with copies of lengths that are never trained on
FINE = 300  #: losses that are drawn of a run
PREDICTED = 0.5  #: the share of words right, and the weight on a pattern, from which it is called found
BEGUN, DONE = 0.1, 0.9  #: shares of words right between which the loss falls off its cliff

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
    """One run. C are the steps of which measures are kept, those of `measured_at`, on copies never trained on."""

    config: Config
    losses: np.ndarray  #: (steps,), nats for each word of the second copy but its first, before each step
    at: np.ndarray  #: (C,), steps taken before each look
    loss: np.ndarray  #: (C,)
    accuracy: np.ndarray  #: (C,), the share of those words that the model finds likeliest
    previous: np.ndarray  #: (C, L, H), the mean weight on the token before
    induction: np.ndarray  #: (C, L, H), the mean weight on what came after the same word before
    kept: np.ndarray  #: places among C whose numbers are kept
    numbers: np.ndarray  #: (kept, N), float16

    @property
    def steps(self) -> np.ndarray:
        """(kept,): steps taken before each look whose numbers are kept."""
        return np.asarray(self.at[self.kept])

    @property
    def curve(self) -> tuple[np.ndarray, np.ndarray]:
        """Steps and losses to draw: the mean loss between steps that lie evenly on a logarithmic axis."""
        ends = np.unique(np.geomspace(1, len(self.losses), FINE).round().astype(int))
        begins = np.concatenate([[0], ends[:-1]])
        return begins, np.add.reduceat(self.losses, begins) / (ends - begins)

    @property
    def cliff(self) -> int | None:
        """From which step the second copy is predicted."""
        return first_lasting_step(self.at, self.accuracy)

    def found(self, scores: np.ndarray) -> int | None:
        """From which step one head has more than half of its weight on a pattern, given scores (C, L, H)."""
        return first_lasting_step(self.at, scores.max((1, 2)))

    def best(self, scores: np.ndarray) -> tuple[int, int]:
        """Layer and head with the largest of some scores (C, L, H) at the end."""
        layer, head = np.unravel_index(scores[-1].argmax(), scores[-1].shape)
        return int(layer), int(head)

    def nearest(self, step: int) -> int:
        """The place, among the kept steps, of the one nearest to a step."""
        return int(np.abs(self.steps - step).argmin())

    def passes(self, ids: Sequence[int], kept: Sequence[int], silenced: Silenced) -> tuple[np.ndarray, ...]:
        """All heads' weights (S, H, T, T) on these words at S of the kept steps.

        Then (S, T - 1): how likely each next word is, and whether it is the likeliest.
        """
        asked = torch.tensor(ids[1:])
        made = [
            forward(torch.from_numpy(self.numbers[at]).float(), torch.tensor([ids]), self.config, silenced)
            for at in kept
        ]
        logits = torch.stack([logits[0, :-1] for logits, _weights in made])
        weights = torch.stack([torch.cat([layer[0] for layer in weights]) for _logits, weights in made])
        likely = logits.softmax(-1)[:, torch.arange(len(asked)), asked]
        return weights.numpy(), likely.numpy(), (logits.argmax(-1) == asked).numpy()

    def looks(self, given: Sequences, silenced: Silenced = ()) -> np.ndarray:
        """(kept, 2): loss and accuracy on these sequences at each kept step, with some heads silenced."""
        numbers = torch.from_numpy(self.numbers).float()
        return np.array([measure_heads(each, given, self.config, silenced)[:2] for each in numbers])


def first_lasting_step(at: np.ndarray, curve: np.ndarray) -> int | None:
    """The first of some steps from which a curve stays at PREDICTED or above; None where it ends below.

    Where both sides of each crossing are among the steps, it is the first of all.
    """
    above = np.minimum.accumulate(curve[::-1])[::-1] >= PREDICTED
    return int(at[above.argmax()]) if above.any() else None


def drawn_steps(steps: int) -> list[int]:
    """The steps of a run of so many that are drawn, evenly on a logarithmic axis."""
    later = np.geomspace(min(FROM, steps), steps, STEPS).round().astype(int)
    return sorted({*(step for step in EARLY if step <= steps), *later.tolist()})


def measured_steps(accuracy: np.ndarray, previous: np.ndarray, induction: np.ndarray) -> list[int]:
    """Of curves over all steps the steps that are kept: those drawn, and both sides of each crossing of a level."""
    curves = [(accuracy, level) for level in (BEGUN, PREDICTED, DONE)]
    curves += [(scores.max((1, 2)), PREDICTED) for scores in (previous, induction)]
    before = [step for curve, level in curves for step in np.flatnonzero(np.diff(curve >= level)).tolist()]
    return sorted({*drawn_steps(len(accuracy) - 1), *before, *(step + 1 for step in before)})


def run(config: Config, keep: int | None = None, on_look: Callable[[int, float], None] | None = None) -> TrainingRun:
    """Train; `keep` is how many steps' numbers are kept, all that are drawn unless told.

    `on_look` hears each step that is drawn, and the accuracy there.
    """
    numbers = nn.Parameter(initial_vector(config))
    adam = torch.optim.Adam([numbers], lr=config.rate, betas=config.betas)
    drawn = torch.Generator().manual_seed(1000 + config.seed)
    examined, steps = exam_sequences(config), np.array(drawn_steps(config.steps))
    few = np.linspace(0, len(steps) - 1, len(steps) if keep is None else keep).round().astype(int)
    losses, looks, held = [], [], {}
    for step in range(config.steps + 1):
        looks.append(measure_heads(numbers.detach(), examined, config))
        if step in steps[few]:
            held[step] = numbers.detach().half().numpy()
        if step in steps and on_look:
            on_look(step, looks[-1][1])
        if step < config.steps:
            loss = mean_loss(numbers, draw_sequences(config.batch, config.trained_on, config, drawn), config)
            adam.zero_grad()
            loss.backward()
            adam.step()
            losses.append(loss.item())
    loss_there, right, previous, induction = (np.array(part, np.float32) for part in zip(*looks, strict=True))
    at = np.array(measured_steps(right, previous, induction))
    kept, left = np.searchsorted(at, list(held)), np.array(list(held.values()))
    measures = loss_there[at], right[at], previous[at], induction[at]
    return TrainingRun(config, np.array(losses, np.float32), at, *measures, kept, left)


def exam_sequences(config: Config) -> Sequences:
    """The sequences on which every run of this task is examined."""
    return draw_sequences(EXAMINED, config.held_out, config, torch.Generator().manual_seed(999))


def mean_loss(numbers: Tensor, given: Sequences, config: Config) -> Tensor:
    """The mean loss, in nats, of the words that the first copy tells."""
    logits, _weights = forward(numbers, given.tokens, config)
    return nn.functional.cross_entropy(logits[:, :-1][given.known], given.tokens[:, 1:][given.known])


@torch.no_grad()
def measure_heads(
    numbers: Tensor, given: Sequences, config: Config, silenced: Silenced = ()
) -> tuple[float, float, np.ndarray, np.ndarray]:
    """Loss, accuracy, and previous-token and induction score (L, H) of every head."""
    logits, weights = forward(numbers, given.tokens, config, silenced)
    asked, words = logits[:, :-1][given.known], given.tokens[:, 1:][given.known]
    loss = nn.functional.cross_entropy(asked, words).item()
    right = (asked.argmax(-1) == words).double().mean().item()
    previous = [measures.previous_token_mass(each).nanmean((0, 2)) for each in weights]
    induction = [measures.induction_score(each, given.tokens).nanmean((0, 2)) for each in weights]
    return loss, right, torch.stack(previous).numpy(), torch.stack(induction).numpy()


@lru_cache(maxsize=64)
def measure_without_heads(name: str, silenced: Silenced) -> np.ndarray:
    """What `looks` gives of a run on copies never trained on."""
    life = read(name)
    return life.looks(exam_sequences(life.config), silenced)


def pack_run(life: TrainingRun) -> bytes:
    """A run as a file."""
    arrays = {name: value for name, value in vars(life).items() if name != "config"}
    return prepared_files.pack_file({"format": FORMAT, "config": asdict(life.config)}, arrays)


def own_run_folder(name: str) -> Path:
    """Where a run that was trained on this machine is kept."""
    return current_settings().cache / "born" / f"{name}.npz"


def list_own_runs() -> list[str]:
    """Names of the runs that were trained on this machine."""
    return sorted(path.stem for path in own_run_folder("any").parent.glob("*.npz"))


@lru_cache(maxsize=16)
def read(name: str) -> TrainingRun:
    """A run that is shipped, or else one of this machine's own; a Problem where its file is missing or damaged."""
    held = (
        prepared_files.read(__package__, f"{name}.npz")
        if name in RUNS
        else prepared_files.read_path(own_run_folder(name))
    )
    if held is None or held[0].get("format") != FORMAT:
        raise Problem("The file of the training run {name} is missing or damaged", name=name)
    header, arrays = held
    given: dict[str, Any] = {
        field: tuple(value) if isinstance(value, list) else value for field, value in header["config"].items()
    }
    return TrainingRun(Config(**given), **arrays)


@dataclass(frozen=True)
class RepeatedWords:
    """Two copies of some words: as typed, and as numbers of the vocabulary."""

    tokens: tuple[str, ...]
    ids: tuple[int, ...]


def repeat_words(text: str, config: Config) -> RepeatedWords:
    """Each different word has the number that its letters give, or the next that is free; capitals do not matter."""
    words = split(text)
    fewest, most = config.lags
    if not fewest <= len(words) <= most:
        raise Problem(
            "{count} {count:word was|words were} typed; the model takes {fewest} to {most}",
            count=len(words),
            fewest=fewest,
            most=most,
        )
    numbers: dict[str, int] = {}
    for word in map(str.casefold, words):
        number = crc32(word.encode()) % config.words
        while word not in numbers and number in numbers.values():
            number = (number + 1) % config.words
        numbers.setdefault(word, number)
    return RepeatedWords(words * 2, tuple(numbers[word.casefold()] for word in words) * 2)


@lru_cache(maxsize=256)
def accuracy_by_step(name: str, copies: RepeatedWords) -> np.ndarray:
    """(kept,): at each kept step of a run, the share of the second copy's words but its first that are predicted."""
    tokens = torch.tensor([copies.ids])
    known = torch.arange(len(copies.ids) - 1)[None] >= len(copies.ids) // 2
    return read(name).looks(Sequences(tokens, known))[:, 1]


def steps_around_learning(name: str, copies: RepeatedWords) -> tuple[int, int] | None:
    """The last kept step at which less than half of the second copy is predicted, and the next; None where it ends so.

    Both are step 0 where half of it is predicted from the beginning.
    """
    steps = read(name).steps
    learned = first_lasting_step(steps, accuracy_by_step(name, copies))
    return None if learned is None else (int(steps[max(int(np.searchsorted(steps, learned)) - 1, 0)]), learned)
