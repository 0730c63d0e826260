"""Computations of the start page: one head over a sentence, with random weights if no model is installed."""

import re
from itertools import pairwise

import numpy as np
import torch

from attnviz.analysis.head_matrix import Matrix
from attnviz.analysis.model_run import ModelRun, Request
from attnviz.analysis.word_vectors import word_vector
from attnviz.base.message import Problem
from attnviz.models.capture import RecordedLayer, Trace
from attnviz.models.tokens import Tokens, TokenSpan

MODEL = "smollm2-135m"
HEAD = (13, 8)  # layer and head in which "it" attends to the noun that it refers to
RANDOM, SEED = "random", 0  #: what the model is called that is a random head, and its seed
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


def random_run(text: str) -> ModelRun:
    """The run of one random head over the sentence's words, where no trained model is installed.

    Random W_Q and W_K, and one random vector for each different word, under a causal mask.
    """
    words = [*re.finditer(r"\S+", text)][:MOST_WORDS]
    if not words:
        raise Problem("The sentence is empty: type at least one word")
    ends = [0, *(word.end() for word in words)]
    spans = tuple(
        TokenSpan(i, i, word[0], text[start:end], start, end, i, special=False, segment=0)
        for i, (word, (start, end)) in enumerate(zip(words, pairwise(ends), strict=True))
    )
    x = torch.stack([word_vector(word[0], SEED, WIDTH, "start") for word in words])  # (Q, M)
    source = torch.Generator().manual_seed(SEED)
    w_q, w_k = (torch.randn(WIDTH, WIDTH, generator=source) / WIDTH**0.5 for _ in range(2))
    q, k, v = (vectors[None, None] for vectors in (x @ w_q, x @ w_k, x))  # (1, 1, Q, D)
    layer = RecordedLayer("decoder", "self", 0, "random", WIDTH**-0.5, q, k, v, causal=True)
    return ModelRun(Request(RANDOM, text), RANDOM, Trace((layer,)), Tokens((text,), spans, (text[ends[-1] :],)))


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
