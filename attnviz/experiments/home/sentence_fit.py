"""How well a model reads a sentence: into how many tokens it falls, and how much each next one surprises the model.

A model that learned from English reads other scripts, too, but byte by byte, and guesses worse what comes next.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from attnviz.experiments.explorer import ModelRun
from attnviz.models.capture import capture
from attnviz.models.catalogue import LoadedModel

HAN = range(0x4E00, 0xA000)  #: the Chinese characters in daily use


@dataclass(frozen=True)
class SentenceFit:
    """What reading one sentence takes."""

    characters: int
    tokens: int
    parts: int  #: tokens that are some of the bytes of a character
    nats: float  #: −ln of the probability that the model gives each token from the second on, summed


def is_chinese(text: str) -> bool:
    """Whether there is a Chinese character in it."""
    return any(ord(letter) in HAN for letter in text)


def run(run: ModelRun, loaded: LoadedModel) -> SentenceFit:
    """Read the sentence of a run once more, with the guesses at every token kept; a decoder's."""
    guesses = capture(loaded.model, logits="all", **run.source.inputs).logits
    assert guesses is not None
    logs = guesses[0].float().log_softmax(-1)  # (Q, V)
    ids = run.source.ids
    nats = sum(-float(logs[at, after]) for at, (_, after) in enumerate(pairwise(ids)))
    parts = sum(span.part is not None for span in run.source.spans)
    return SentenceFit(len(run.request.text), len(ids), parts, nats)
