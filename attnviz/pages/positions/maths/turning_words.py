"""Queries and keys of a real head before RoPE turns them: what its scores are wherever its words stand."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from attnviz.analysis import prepared_files
from attnviz.analysis.model_run import ModelRun
from attnviz.base.message import Problem
from attnviz.core.attention import Stages, attend
from attnviz.models.capture import find_rotary
from attnviz.models.catalogue import LoadedModel
from attnviz.models.loading import EXAMPLES

MODEL, FILE = "smollm2-135m", "turning_words.npz"
MOST = 24  #: words of a sentence
ALIKE = 0.01  #: two weights as near as this are alike
CLOSE = 1e-3  #: weights that are made again here are as near to the model's own
PREPARED = EXAMPLES[0].text, 16, 0  #: sentence, layer and head that are known without a model


class Exchange(NamedTuple):
    """Two words change places: which word then stands at each place; `moved` then stands where `before` did."""

    order: tuple[int, ...]
    moved: int
    before: int


@dataclass(frozen=True, eq=False)
class TurningWords:
    """T words of a head with P pairs; those that it does not rotate turn by 0."""

    words: tuple[str, ...]
    turns: np.ndarray  #: (P,) radians for each place
    q: np.ndarray  #: (T, P, 2) float32, not turned
    k: np.ndarray  #: (T, P, 2)
    scale: float  #: multiplies q·k

    def attend(self, order: Sequence[int], share: float = 1.0) -> Stages:
        """Stages (1, T, T) of all words where word `order[i]` stands at place i, turned by this share of their angles.

        Each sees those that do not stand after it.
        """
        places = torch.tensor(order).argsort()
        angles = places[:, None] * share * torch.from_numpy(self.turns)
        turned = (
            torch.view_as_complex(torch.from_numpy(x).double()) * torch.polar(torch.ones_like(angles), angles)
            for x in (self.q, self.k)
        )
        q, k = (torch.view_as_real(x).flatten(-2)[None] for x in turned)
        return attend(q, k, k, places[None] <= places[:, None], self.scale)

    def scores(self, order: Sequence[int], share: float = 1.0) -> Tensor:
        """q·k (T, T) of all words."""
        return self.attend(order, share).scores[0]

    def weights(self, order: Sequence[int], share: float = 1.0) -> Tensor:
        """Weights (T, T) of all words."""
        return self.attend(order, share).weights[0]

    def table(self, order: Sequence[int], row: int, share: float) -> dict[str, list[object]]:
        """What `row` sees of the words in this order: q·k and weight."""
        stages = self.attend(order, share)
        scores, weights = (values[0, row, list(order)].tolist() for values in (stages.scores, stages.weights))
        return {"word": [self.words[word] for word in order], "qk": scores, "weight": weights}

    def exchange_before(self, row: int) -> Exchange | None:
        """The word right before `row` changes places with the second word, or another that stands before both.

        None where no two words there differ from each other and from `row`.
        """
        names, before = [word.strip().lower() for word in self.words], row - 1
        for other in (1, 0, *range(2, before)):
            if other < before and len({names[word] for word in (other, before, row)}) == 3:
                order = [*range(len(names))]
                order[other], order[before] = before, other
                return Exchange(tuple(order), other, before)
        return None

    def find_most(self, row: int, exchange: Exchange, share: float = 1.0) -> str | None:
        """What `row` looks at most then: "moved", "before", "own" or "other"; None where two get as much."""
        weights = self.weights(exchange.order, share)[row].tolist()
        named = {"moved": exchange.moved, "before": exchange.before, "own": row}
        shares = {name: weights[word] for name, word in named.items()}
        shares["other"] = max((each for word, each in enumerate(weights) if word not in named.values()), default=0)
        second, most = sorted(shares, key=shares.__getitem__)[-2:]
        return most if shares[most] - shares[second] > ALIKE else None


def record(run: ModelRun, loaded: LoadedModel, layer: int, head: int) -> TurningWords:
    """Record a head's queries and keys, and undo their rotation."""
    stack = run.stacks[0]
    stack.require(layer, head)
    words = tuple(stack.queries.labels)
    if len(words) > MOST:
        raise Problem("The sentence has {n} tokens; at most {limit} can be read here.", n=len(words), limit=MOST)
    rotary, attention = find_rotary(loaded.model), stack.layers[layer]
    if attention.index not in rotary.layers or attention.q is None or attention.k is None:
        raise Problem("layer {layer} does not rotate its queries and keys: choose another", layer=layer)
    q, k = (x.detach().float().cpu() for x in (attention.q, attention.k))
    q, k, _v = rotary.change_base(None)(q, k, k)
    shared = head * attention.n_kv_heads // attention.n_heads

    def pairs(x: Tensor) -> np.ndarray:
        turned, rest = x[:, : rotary.width], x[:, rotary.width :].unflatten(-1, (-1, 2))
        halves = turned.unflatten(-1, (2, -1)).mT if rotary.pairing == "half" else turned.unflatten(-1, (-1, 2))
        return torch.cat([halves, rest], 1).contiguous().numpy()

    q_pairs, k_pairs = pairs(q[0, head]), pairs(k[0, shared])
    turns = np.zeros(q_pairs.shape[1])
    turns[: len(rotary.turns)] = rotary.turns.numpy()
    found = TurningWords(words, turns, q_pairs, k_pairs, float(attention.scale) * rotary.length**2)
    own = attention.weights(head)[0, 0].double().cpu()
    if (found.weights(list(range(len(words)))) - own).abs().max() > CLOSE:
        raise Problem("This head adds more to its scores than RoPE: choose another.")
    return found


@cache
def read_prepared() -> TurningWords:
    """The prepared head. Problem where its file is missing or damaged."""
    stored = prepared_files.read(__package__, FILE)
    if stored is None:
        raise Problem("The file {name} is missing or damaged", name=FILE)
    header, arrays = stored
    return TurningWords(tuple(header["words"]), arrays["turns"], arrays["q"], arrays["k"], header["scale"])


def program(text: str, layer: int, head: int, order: list[int], row: int) -> str:
    """Program that turns the words of the model's head anew, and prints a word's scores and weights."""
    return f"""\
import attnviz as av
import torch
from attnviz.models.capture import find_rotary
from attnviz.models.tokens import encode

loaded = av.load({MODEL!r})
tokens = encode(loaded, {text!r})
layer = av.capture(loaded.model, **tokens.inputs).layers[{layer}]
rotary = find_rotary(loaded.model)
q, k, v = rotary.change_base(None)(layer.q, layer.k, layer.v)  # as they are before RoPE turns them
q, k = q[0, {head}], k[0, {head} * layer.n_kv_heads // layer.n_heads]
q, k = (torch.complex(*x.double().chunk(2, -1)) for x in (q, k))  # each pair is one complex number

order = {order}  # which word stands at each place
place = torch.tensor(order).argsort()
turn = torch.polar(torch.ones(()).double(), place[:, None] * rotary.turns)
scores = ((q * turn) @ (k * turn).conj().T).real
weights = (scores * layer.scale).masked_fill(place > place[:, None], -torch.inf).softmax(-1)
for word in order[: place[{row}] + 1]:
    print(f"{{tokens.labels[word]:>12}} q.k {{scores[{row}, word]:7.2f}} weight {{weights[{row}, word]:.4f}}")
"""
