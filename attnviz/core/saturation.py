"""How softmax saturates as queries and keys grow wider: random vectors, and measures of their rows of weights."""

from dataclasses import dataclass

import torch
from torch import Tensor

from attnviz.base.message import require_between
from attnviz.core.attention import Stages
from attnviz.core.measures import effective_keys, entropy, jacobian_norm

LARGEST_D_K = 4096
MOST_KEYS = 4096
MOST_SETS = 16  #: sets of keys that are drawn, at most
ROWS = 16  #: queries that look at each set of keys, at most
KEY_NUMBERS = 2_100_000  #: components of keys drawn in all: fewer sets when there are more keys


@dataclass(frozen=True)
class Vectors:
    """S sets of n keys, and R queries for each set, D = LARGEST_D_K, standard normal."""

    q: Tensor  #: (S, 1, R, D)
    k: Tensor  #: (S, 1, n, D)
    sent: Tensor  #: (S, 1, R, n): the gradient that arrives at each weight, standard normal too


def draw(n_keys: int, seed: int) -> Vectors:
    """Random vectors of this seed, set by set: queries, keys, `sent`. The row of bars shows the first query.

    There are fewer sets, and fewer queries for each, where there are more keys, so that drawing stays quick.
    """
    require_between("n_keys", n_keys, 1, MOST_KEYS)
    generator = torch.Generator().manual_seed(seed)
    sets = max(1, min(MOST_SETS, KEY_NUMBERS // (n_keys * LARGEST_D_K)))
    rows = min(ROWS, max(4, 32_768 // n_keys))
    shapes = (rows, LARGEST_D_K), (n_keys, LARGEST_D_K), (rows, n_keys)
    vectors = [torch.empty(sets, 1, *shape) for shape in shapes]
    for numbers in zip(*vectors, strict=True):  # those of a set: drawn in place, of the largest one has no room for two
        for tensor in numbers:
            tensor.normal_(generator=generator)
    return Vectors(*vectors)


def measure_rows(stages: Stages) -> dict[str, Tensor]:
    """Measures of each row, (..., Q): largest weight and score, entropy in nats, effective keys, softmax Jacobian."""
    weights = stages.weights
    return {
        "largest": weights.amax(-1),
        "entropy": entropy(weights),
        "effective": effective_keys(weights),
        "jacobian": jacobian_norm(weights.double()),
        "score": stages.scaled.amax(-1),
    }
