"""The first picture: one head over a sentence, trained where a model is at hand, random where none is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from attnviz.core import masks
from attnviz.core.attention import attend
from attnviz.core.message import Problem
from attnviz.experiments.explorer import Matrix, Stack, WhatIf, instantly
from attnviz.experiments.word_vectors import word_vector

MODEL = "smollm2-135m"
HEAD = (13, 8)  # layer and head in which "it" attends to the noun that it refers to
WIDTH = 64
MOST_WORDS = 40


@dataclass(frozen=True)
class Config:
    """Two switches, and for random vectors a seed."""

    text: str
    causal: bool = True
    scaled: bool = True
    seed: int = 0


def trained(stack: Stack, config: Config) -> Matrix:
    """The chosen head of a trained model, with its causal mask and its scale on or off."""
    change = WhatIf(pattern="model" if config.causal else "none", scale="model" if config.scaled else "none")
    return instantly(stack, *HEAD, change)


def run(config: Config) -> Matrix:
    """The same without a model: random W_Q and W_K, and a random vector for each word, equal for equal words."""
    words = config.text.split()[:MOST_WORDS]
    if not words:
        raise Problem("The sentence is empty: type at least one word")
    x = torch.stack([word_vector(word, config.seed, WIDTH, "start") for word in words])  # (Q, M)
    source = torch.Generator().manual_seed(config.seed)
    w_q, w_k = (torch.randn(WIDTH, WIDTH, generator=source) / WIDTH**0.5 for _ in range(2))
    mask = masks.causal(len(words), len(words)) if config.causal else None
    q, k = (x @ w_q)[None], (x @ w_k)[None]  # (1, Q, D)
    stages = attend(q, k, x[None], mask, "sqrt" if config.scaled else None)
    hidden = np.zeros((len(words), len(words)), bool) if mask is None else ~mask.numpy()
    places = tuple(range(len(words)))
    return Matrix(stages.weights[0].numpy(), hidden, tuple(words), tuple(words), places, places)
