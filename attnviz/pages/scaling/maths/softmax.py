"""Softmax by itself: temperature, overflow, and how fused kernels work in blocks."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from attnviz.base.message import Problem, require_at_least
from attnviz.core.attention import attend_at

DTYPES = {
    "float64": torch.float64,
    "float32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
}
MOST_SCORES = 4096
LARGEST_SCORE = 1e9
LONGEST_PROGRAM = 200  #: scores: with more, the program would be mostly a list of numbers
#: Each of these is added to every score, to see where exp overflows.
SHIFTS = np.concatenate([np.linspace(0, 100, 201), np.linspace(105, 1000, 180)])


def parse(text: str) -> list[float]:
    """Scores from text: numbers between commas, semicolons or spaces, in brackets or not. A Problem names any other."""
    fields = [word for word in re.split(r"[\s,;，、；]+", text.strip().strip("[](){}")) if word]
    if not 1 <= len(fields) <= MOST_SCORES:
        raise Problem("{count} scores; between 1 and {limit} are needed", count=len(fields), limit=MOST_SCORES)
    return [_number(word) for word in fields]


def _number(word: str) -> float:
    try:
        value = float(word.replace("−", "-"))
    except ValueError:
        raise Problem("{word} is not a number", word=repr(word[:20])) from None
    if not abs(value) <= LARGEST_SCORE:
        raise Problem(
            "{word} is too large: scores lie between {low} and {high}",
            word=repr(word[:20]),
            low=-LARGEST_SCORE,
            high=LARGEST_SCORE,
        )
    return value


def weights(scores: list[float], temperature: float = 1.0) -> np.ndarray:
    """softmax(scores / temperature) in float64; temperature 0 is the limit (ties share), infinity is even."""
    require_at_least("temperature", temperature, 0)
    k = torch.tensor(scores, dtype=torch.float64)[None, :, None]  # (1, n, 1)
    q, v = torch.ones(1, 1, 1, dtype=torch.float64), torch.zeros_like(k)
    return attend_at(q, k, v, temperature).weights[0, 0].numpy()


@dataclass(frozen=True)
class FormatAttempt:
    """softmax of the same scores in one number format, naively and with the maximum subtracted."""

    dtype: str
    naive: np.ndarray  #: exp(x) / sum exp(x); NaN where it broke
    stable: np.ndarray  #: exp(x - max) / sum exp(x - max)
    naive_error: float  #: largest distance to the float64 weights; NaN where it broke
    stable_error: float
    overflow_at: float  #: the smallest score whose exp is infinite in this format
    #: the smallest addition that breaks the naive way, to 0.01; None up to the last of SHIFTS
    first_broken: float | None
    naive_top: np.ndarray  #: (len(SHIFTS),) the largest weight, naively, after each shift; NaN where it broke


def format_attempts(scores: list[float]) -> list[FormatAttempt]:
    """One for each of DTYPES."""
    truth = torch.tensor(weights(scores))
    return [_attempt(name, scores, truth) for name in DTYPES]


def _attempt(name: str, scores: list[float], truth: Tensor) -> FormatAttempt:
    dtype = DTYPES[name]
    exact = torch.tensor(scores, dtype=torch.float64)
    rounded = exact.to(dtype)
    naive, stable = (
        naive_softmax(x).double() for x in (rounded, rounded - rounded.max())
    )  # no exp of the latter exceeds 1
    shifted = (exact + torch.tensor(SHIFTS)[:, None]).to(dtype)  # (shifts, n)
    return FormatAttempt(
        name,
        naive.numpy(),
        stable.numpy(),
        float((naive - truth).abs().max()),
        float((stable - truth).abs().max()),
        math.log(torch.finfo(dtype).max),
        _first_broken(exact, dtype),
        naive_softmax(shifted)[:, int(truth.argmax())].double().numpy(),
    )


def _first_broken(exact: Tensor, dtype: torch.dtype) -> float | None:
    """Bisection: once exp or its sum overflows, it does for every larger shift."""

    def breaks(shift: float) -> bool:
        return not bool(naive_softmax((exact + shift).to(dtype)).isfinite().all())

    low, high = 0.0, float(SHIFTS[-1])
    if breaks(low):
        return low
    if not breaks(high):
        return None
    while high - low > 0.005:
        middle = (low + high) / 2
        low, high = (low, middle) if breaks(middle) else (middle, high)
    return round(high, 2)


def naive_softmax(x: Tensor) -> Tensor:
    """exp(x) / sum exp(x), each step rounded to x's own format."""
    e = x.exp()
    return e / e.sum(-1, keepdim=True)


@dataclass(frozen=True)
class OnlineBlock:
    """One step of online softmax: the scores and values of a block come in, three running numbers change."""

    scores: np.ndarray
    maximum: float  #: m: the largest score so far
    correction: float  #: exp(old m - new m): what the old sum and output are multiplied by
    total: float  #: l: sum of exp(score - m) so far
    output: np.ndarray  #: (Dv,) sum of exp(score - m) * value so far, not yet divided by l


def online_softmax(scores: list[float], values: np.ndarray, size: int) -> Iterator[OnlineBlock]:
    """Softmax-weighted sum of values (n, Dv), `size` scores at a time; it is the last block's output / total."""
    require_at_least("block", size, 1)
    maximum, total, output = -math.inf, 0.0, np.zeros(values.shape[1])
    for start in range(0, len(scores), size):
        block = np.array(scores[start : start + size])
        larger = max(maximum, float(block.max()))
        correction = math.exp(maximum - larger)
        e = np.exp(block - larger)
        total = total * correction + float(e.sum())
        output = output * correction + e @ values[start : start + size]
        maximum = larger
        yield OnlineBlock(block, maximum, correction, total, output)


@dataclass(frozen=True)
class Mixes:
    """The same values mixed by softmax weights and by the raw scores themselves."""

    values: np.ndarray  #: (n, 2) points on an arc
    weights: np.ndarray  #: (n,)
    by_weights: np.ndarray  #: (2,) inside the values' hull
    by_scores: np.ndarray  #: (2,) sum of score * value
    by_scores_shifted: np.ndarray  #: (2,) the same after adding 1 to every score, which leaves softmax as it is


def half_circle(n: int) -> np.ndarray:
    """n points even on the upper half of the unit circle, from left to right: (n, 2)."""
    angle = np.pi * (1 - (np.arange(n) + 0.5) / n)
    return np.stack([np.cos(angle), np.sin(angle)], -1)


def compare_mixes(scores: list[float], temperature: float = 1.0) -> Mixes:
    """Why normalise: a softmax mix stays among the values, a mix by raw scores need not."""
    values, p, raw = half_circle(len(scores)), weights(scores, temperature), np.array(scores)
    return Mixes(values, p, p @ values, raw @ values, (raw + 1) @ values)


def program(scores: Sequence[float], temperature: float, block: int) -> str | None:
    """Prints the weights and their entropy, where exp overflows, the running sums of blocks, and the two mixtures.

    None for too many scores.
    """
    if len(scores) > LONGEST_PROGRAM:
        return None
    return f"""\
import math

from attnviz.pages.scaling.maths import softmax

scores, T = {list(scores)}, {temperature}
p = softmax.weights(scores, T)
entropy = -sum(w * math.log(w) for w in p if w > 0)
print([f"{{w:.6f}}" for w in p], f"entropy {{entropy:.4f}} of at most {{math.log(len(p)):.4f}} nats")

for each in softmax.format_attempts(scores):  # first_broken: what must be added until exp, or its sum, overflows
    print(each.dtype, f"exp overflows beyond {{each.overflow_at:.2f}}, naive breaks at +{{each.first_broken}}")
    print("    naive, and with the maximum subtracted:", each.naive[:3], each.stable[:3])

values = softmax.half_circle(len(scores))  # on the upper half of a circle
*_, last = softmax.online_softmax(scores, values, {block})
output = last.output / last.total  # of online softmax: no block ever saw the whole row
print("block by block", output, "beside", softmax.weights(scores) @ values)

mixes = softmax.compare_mixes(scores, T)
near, far = math.hypot(*mixes.by_weights), math.hypot(*mixes.by_scores)
moved = math.hypot(*(mixes.by_scores_shifted - mixes.by_scores))
print(f"mixed by weights {{near:.2f}} from the centre, by raw scores {{far:.3g}}, moved {{moved:.2f}} by adding 1")
"""
