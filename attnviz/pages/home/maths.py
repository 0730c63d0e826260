"""Computations of the start page: one head over a sentence, with random weights if no model is installed."""

from dataclasses import dataclass

import numpy as np
import torch

from attnviz.analysis import what_if
from attnviz.analysis.head_matrix import Matrix
from attnviz.analysis.word_vectors import word_vector
from attnviz.base.head_edit import NO_EDIT, HeadEdit
from attnviz.base.head_record import HeadData
from attnviz.base.message import Problem
from attnviz.models.capture import RecordedLayer

MODEL = "smollm2-135m"
HEAD = (13, 8)  # layer and head in which "it" attends to the noun that it refers to
WIDTH = 64
MOST_WORDS = 40


PRONOUNS = frozenset(
    {"i", "me", "you", "he", "him", "his", "she", "her", "it", "its", "we", "us", "they", "them", "their"}
    | {"我", "你", "您", "他", "她", "它", "我们", "你们", "他们", "她们", "它们"}
)
#: words without content of their own: their rows are no good first example
FUNCTION_WORDS = frozenset(
    {"a", "an", "the", "and", "or", "but", "so", "if", "as", "of", "to", "in", "on", "at", "by", "for", "from", "with"}
    | {"than", "that", "this", "these", "those", "there", "is", "are", "was", "were", "be", "been", "am", "do", "does"}
    | {"did", "has", "have", "had", "will", "would", "can", "could", "not", "no", "t", "s", "n"}
)


@dataclass(frozen=True)
class Config:
    """A sentence, the edit of mask and scale, and the seed of random vectors."""

    text: str
    edit: HeadEdit = NO_EDIT
    seed: int = 0


def random_words(config: Config) -> tuple[str, ...]:
    """Words of the sentence, at most MOST_WORDS. Problem if there are none."""
    typed = tuple(config.text.split()[:MOST_WORDS])
    if not typed:
        raise Problem("The sentence is empty: type at least one word")
    return typed


def run(config: Config) -> Matrix:
    """Weights of one random head: random W_Q and W_K, and one random vector for each different word."""
    labels, layer = random_words(config), random_layer(config)
    mask = what_if.mask_of(config.edit, layer)
    weights = layer.weights(0, mask, what_if.scale_of(config.edit, layer))[0, 0]
    hidden = ~layer.mask_for(mask).expand(1, 1, *weights.shape)[0, 0].numpy()
    places = tuple(range(len(labels)))
    return Matrix(weights.numpy(), hidden, labels, labels, places, places)


def raw_head(config: Config) -> HeadData:
    """Scores, mask and scale of the random head."""
    layer = random_layer(config)
    scores = layer.stages(0, scale=None).scores[0, 0].numpy()
    return HeadData(scores, layer.mask[0, 0].numpy(), layer.scale, WIDTH, tokens_q=random_words(config))


def random_layer(config: Config) -> RecordedLayer:
    """One random head of the start page: q, k and v of its words, under a causal mask."""
    x = torch.stack([word_vector(word, config.seed, WIDTH, "start") for word in random_words(config)])  # (Q, M)
    source = torch.Generator().manual_seed(config.seed)
    w_q, w_k = (torch.randn(WIDTH, WIDTH, generator=source) / WIDTH**0.5 for _ in range(2))
    q, k, v = (vectors[None, None] for vectors in (x @ w_q, x @ w_k, x))  # (1, 1, Q, D)
    return RecordedLayer("decoder", "self", 0, "random", WIDTH**-0.5, q, k, v, causal=True)


def row_to_describe(matrix: Matrix) -> int:
    """Index of the row to describe first: a pronoun, or else the content word with the largest weight.

    Weights on the first token and on itself do not count: the first is often a sink. With no such word it is the last
    row.
    """
    others = np.where(matrix.hidden, 0.0, matrix.values)
    others[:, 0] = 0
    np.fill_diagonal(others, 0)
    most = others.max(1, initial=0)
    row_words = [(label.split() or [""])[0].casefold() for label in matrix.rows]
    candidates = [
        i for i, word in enumerate(row_words) if word.isalpha() and word not in FUNCTION_WORDS and most[i] > 0
    ]
    return max(
        candidates, key=lambda i: (row_words[i] in PRONOUNS and most[i] >= 0.2, most[i]), default=len(row_words) - 1
    )
