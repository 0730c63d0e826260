"""The first picture: one head over a sentence, trained where a model is at hand, random where none is."""

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
#: words that say little by themselves: their rows are not what a newcomer should look at first
SMALL = frozenset(
    {"a", "an", "the", "and", "or", "but", "so", "if", "as", "of", "to", "in", "on", "at", "by", "for", "from", "with"}
    | {"than", "that", "this", "these", "those", "there", "is", "are", "was", "were", "be", "been", "am", "do", "does"}
    | {"did", "has", "have", "had", "will", "would", "can", "could", "not", "no", "t", "s", "n"}
)


@dataclass(frozen=True)
class Config:
    """A sentence, what is changed of mask and scale, and for random vectors a seed."""

    text: str
    edit: HeadEdit = NO_EDIT
    seed: int = 0


def random_words(config: Config) -> tuple[str, ...]:
    """The words that have vectors where no model is at hand."""
    typed = tuple(config.text.split()[:MOST_WORDS])
    if not typed:
        raise Problem("The sentence is empty: type at least one word")
    return typed


def run(config: Config) -> Matrix:
    """One head without a model: random W_Q and W_K, and a random vector for each word, equal for equal words."""
    labels, layer = random_words(config), _layer(config)
    mask = what_if.mask_of(config.edit, layer)
    weights = layer.weights(0, mask, what_if.scale_of(config.edit, layer))[0, 0]
    hidden = ~layer.mask_for(mask).expand(1, 1, *weights.shape)[0, 0].numpy()
    places = tuple(range(len(labels)))
    return Matrix(weights.numpy(), hidden, labels, labels, places, places)


def raw_head(config: Config) -> HeadData:
    """What that head's weights are computed from."""
    layer = _layer(config)
    scores = layer.stages(0, scale=None).scores[0, 0].numpy()
    return HeadData(scores, layer.mask[0, 0].numpy(), layer.scale, WIDTH, tokens_q=random_words(config))


def _layer(config: Config) -> RecordedLayer:
    x = torch.stack([word_vector(word, config.seed, WIDTH, "start") for word in random_words(config)])  # (Q, M)
    source = torch.Generator().manual_seed(config.seed)
    w_q, w_k = (torch.randn(WIDTH, WIDTH, generator=source) / WIDTH**0.5 for _ in range(2))
    q, k, v = (each[None, None] for each in (x @ w_q, x @ w_k, x))  # (1, 1, Q, D)
    return RecordedLayer("decoder", "self", 0, "random", WIDTH**-0.5, q, k, v, causal=True)


def row_to_describe(matrix: Matrix) -> int:
    """The row to tell of first: a pronoun's, else a content word's, that gives most to another token than the first.

    The first token often takes what nothing else asks for, and a full stop says nothing. With no such word it is the
    last row.
    """
    others = np.where(matrix.hidden, 0.0, matrix.values)
    others[:, 0] = 0
    np.fill_diagonal(others, 0)
    most = others.max(1, initial=0)
    words = [(label.split() or [""])[0].casefold() for label in matrix.rows]
    told = [i for i, word in enumerate(words) if word.isalpha() and word not in SMALL and most[i] > 0]
    return max(told, key=lambda i: (words[i] in PRONOUNS and most[i] >= 0.2, most[i]), default=len(words) - 1)
