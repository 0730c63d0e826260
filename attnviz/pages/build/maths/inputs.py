"""Inputs of the hand-built attention: word vectors and weights, small enough to compute on paper."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from attnviz.analysis.word_vectors import random_normal, word_vector
from attnviz.base.message import Problem
from attnviz.core.heads import HeadLayout
from attnviz.models.catalogue import LoadedModel
from attnviz.models.tokens import Frame, encode, supported_frames

PositionChoice = Literal["none", "sinusoidal", "rope", "alibi"]
MaskName = Literal["none", "causal", "window", "padding"]
MATRICES = ("W_Q", "W_K", "W_V", "W_O")
CellEdit = tuple[str, int, int, float]  # matrix, row, column, value
MOST_WORDS = 10
COUNTED_WIDTH = 3


@dataclass(frozen=True)
class Config:
    """One attention layer and its input; cross-attention when `kv_tokens` is not empty."""

    tokens: tuple[str, ...] = ("the", "cat", "sat", "down")
    kv_tokens: tuple[str, ...] = ()  #: keys and values come from these
    d_model: int = 4
    n_heads: int = 2
    n_kv_heads: int = 2
    d_head: int = 2
    d_value: int = 2
    widening: int = 4  #: the FFN's hidden width, in model widths
    batch: int = 1  #: row b is the sentence with its words moved b places to the left
    packed: bool = False  #: one projection for Q, K and V (cross: one for K and V)
    bias: bool = False
    position: PositionChoice = "none"
    qk_norm: bool = False
    mask: MaskName = "none"
    window: int = 2  #: keys that a query sees under mask="window", its own included
    scaled: bool = True  #: scores divided by sqrt(D)
    dropout: float = 0.0
    training: bool = False
    seed: int = 4
    rows: tuple[tuple[float, ...], ...] = ()  #: vectors of `tokens`, then `kv_tokens`; empty: random from `seed`
    edits: tuple[CellEdit, ...] = ()

    @property
    def cross(self) -> bool:
        return bool(self.kv_tokens)

    @property
    def d_ff(self) -> int:
        return self.widening * self.d_model

    @cached_property
    def layout(self) -> HeadLayout:
        return HeadLayout(self.d_model, self.n_heads, self.n_kv_heads, self.d_head, self.d_value)


def check(config: Config) -> None:
    """Raise a Problem when these settings describe no valid attention layer."""
    check_words(config.tokens, config.kv_tokens or config.tokens)
    position, mask = config.position, config.mask
    for wrong, problem in (
        (
            position == "rope" and config.d_head % 2,
            Problem("d_head={d_head} must be even: RoPE turns pairs of numbers", d_head=config.d_head),
        ),
        (
            position == "sinusoidal" and config.d_model % 2,
            Problem("d_model={d_model} must be even: sines and cosines come in pairs", d_model=config.d_model),
        ),
        (
            position in ("rope", "alibi") and config.cross,
            Problem(
                "{position} compares places in one sentence; in cross-attention the two sentences have no common "
                "places",
                position="RoPE" if position == "rope" else "ALiBi",
            ),
        ),
        (
            mask in ("causal", "window") and config.cross,
            Problem("mask={mask} compares places in one sentence; cross-attention takes none or padding", mask=mask),
        ),
    ):
        if wrong:
            raise problem


def check_words(*sentences: tuple[str, ...]) -> None:
    """Raise a Problem when a sentence is empty or too long to be shown."""
    for sentence in sentences:
        if not 1 <= len(sentence) <= MOST_WORDS:
            raise Problem("Words in the sentence: {n}; this page takes 1 to {most}", n=len(sentence), most=MOST_WORDS)


def vectors(config: Config) -> tuple[Tensor, Tensor]:
    """Word vectors (B, Q, M) of the sentence and (B, K, M) of the keys' sentence, before positions.

    A random vector depends on the word and the seed only, so that a repeated word has the same vector
    each time. Random vectors are rounded to one decimal.
    """
    if config.rows:
        rows = torch.tensor(config.rows)
    else:
        rows = random_vectors((*config.tokens, *config.kv_tokens), config.seed, config.d_model)
    split = len(config.tokens)
    x, y = (
        torch.stack([side.roll(-b, 0) for b in range(config.batch)])
        for side in (rows[:split], rows[split:] if config.cross else rows)
    )
    return x, y


def random_vectors(tokens: tuple[str, ...], seed: int, width: int) -> Tensor:
    """(tokens, width): a vector for each token, rounded to one decimal."""
    return torch.stack([_one_decimal(word_vector(word, seed, width, "building")) for word in tokens])


def counting_rows(tokens: tuple[str, ...]) -> tuple[tuple[float, ...], ...]:
    """Vectors that count up: 0.1, 0.2, 0.3 for the first distinct word, then 0.4 …: (tokens, 3).

    Four different words make the 4 x 3 matrix that many a course begins with.
    """
    places = {word: at for at, word in enumerate(dict.fromkeys(tokens))}
    return tuple(
        tuple((COUNTED_WIDTH * places[word] + col + 1) / 10 for col in range(COUNTED_WIDTH)) for word in tokens
    )


def widths(layout: HeadLayout) -> tuple[int, int, int]:
    """Columns of Q, K and V with all heads side by side."""
    return layout.n_heads * layout.qk_width, layout.kv_heads * layout.qk_width, layout.kv_heads * layout.v_width


def weights(config: Config) -> dict[str, Tensor]:
    """W_Q (M, H*D), W_K (M, G*D), W_V (M, G*Dv), W_O (H*Dv, M), as in x @ W, with the visitor's edits applied.

    With bias also b_Q, b_K, b_V, b_O. Then the FFN's W_1 (M, F), b_1, W_2 (F, M) and b_2. Drawn at random from the
    seed and rounded to one decimal.
    """
    m, (q, k, v) = config.d_model, widths(config.layout)
    shapes = {"W_Q": (m, q), "W_K": (m, k), "W_V": (m, v), "W_O": (config.n_heads * config.d_value, m)}
    parameters = {
        name: _one_decimal(random_normal(config.seed * 10 + i, *shape) * (1.6 / np.sqrt(shape[0])))
        for i, (name, shape) in enumerate(shapes.items())
    }
    if config.bias:
        parameters |= {
            f"b_{name[-1]}": 0.5 * _one_decimal(random_normal(config.seed * 10 + 5 + i, width) * 0.6)
            for i, (name, (_into, width)) in enumerate(shapes.items())
        }
    for name, row, col, value in config.edits:
        if row < shapes[name][0] and col < shapes[name][1]:  # one made at another width applies again once it fits
            parameters[name][row, col] = value
    for i, (into, out) in enumerate(((m, config.d_ff), (config.d_ff, m)), start=1):
        drawn_weights = random_normal(config.seed * 10 + i, into + 1, out)
        parameters[f"W_{i}"] = _one_decimal(drawn_weights[:-1] * (1.6 / np.sqrt(into)))
        parameters[f"b_{i}"] = _one_decimal(drawn_weights[-1] * 0.3)
    return parameters


def _one_decimal(x: Tensor) -> Tensor:
    return x.round(decimals=1) + 0.0  # + 0.0 turns -0.0 into 0.0


def python_literal(values: np.ndarray) -> str:
    """Nested lists as Python source, with the shortest text of each float32."""
    if values.ndim == 0:
        return str(np.float32(values) + np.float32(0))  # no "-0.0"
    return "[" + ", ".join(python_literal(entry) for entry in values) + "]"


@dataclass(frozen=True)
class Rows:
    """Tokens of up to two sentences and a vector for each."""

    tokens: tuple[str, ...]
    kv_tokens: tuple[str, ...]
    rows: tuple[tuple[float, ...], ...]  #: (tokens + kv_tokens, width)
    name: str  #: the model's name
    whole_width: int  #: columns of the model's embedding table; the first `width` are used
    factor: float  #: the rows were multiplied by this, so that the table's standard deviation is about 1


def embedding_rows(loaded: LoadedModel, text: str, kv_text: str, width: int) -> Rows:
    """The first `width` numbers of each token's embedding row, times one factor for the whole table."""
    weight = getattr(loaded.model.get_input_embeddings(), "weight", None)
    if weight is None or loaded.tokenizer is None:
        raise Problem("{name} has no table of word vectors", name=loaded.entry.name)
    frame: Frame = "none" if "none" in supported_frames(loaded) else "usual"
    sides = [encode(loaded, side, frame=frame) for side in (text, kv_text) if side.strip()]
    ids = [torch.tensor(side.ids[:MOST_WORDS], device=weight.device) for side in sides]
    with torch.no_grad():
        factor = float(f"{1 / weight[:4096, :width].float().std().item():.2g}")
        vectors = (weight[torch.cat(ids), :width].float() * factor).cpu()
    labels = [tuple(span.label for span in side.spans[:MOST_WORDS]) for side in sides]
    return Rows(
        labels[0],
        labels[1] if len(labels) > 1 else (),
        tuple(tuple(round(x, 3) for x in row) for row in vectors.tolist()),
        loaded.name,
        weight.shape[1],
        factor,
    )
