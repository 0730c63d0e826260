"""A text read by a decoder: the first part at once, the rest as if it were written, with the cache changed.

All tokens of the rest are processed in one pass, each under the cache that it would find: the same logits as one pass
a token, in a fraction of the time. What is changed is an `AnswerLayer`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnviz.base.message import Message, Problem
from attnviz.models.capture import AnswerLayer, RecordedLayer
from attnviz.pages.decoding.maths.decoders import Decoder

LONGEST = 256  #: tokens of the text that are read
LEAST = 8


@dataclass(frozen=True, eq=False)
class Reading:
    """A text after its first part: the cache, what each layer recorded, and the logits of the rest as it is."""

    decoder: Decoder
    ids: tuple[int, ...]
    labels: tuple[str, ...]
    prompt: int  #: tokens of the first part
    cache: Any
    layers: tuple[RecordedLayer, ...]  #: of the pass over the first part
    logits: Tensor  #: (rest, V), the cache unchanged
    notices: tuple[Message, ...] = ()

    @property
    def total(self) -> int:
        return len(self.ids)

    def rest(self, answer_layer: AnswerLayer | None = None) -> tuple[Tensor, tuple[RecordedLayer, ...]]:
        """Logits (rest, V) of the tokens after the prompt, the attention of each layer answered by `answer_layer`."""
        fresh = self.decoder.copied(self.cache)
        made = self.decoder.process(self.ids[self.prompt :], fresh, answer_layer=answer_layer, logits="all")
        return made.logits, made.layers


@dataclass(frozen=True, eq=False)
class MovedPredictions:
    """How far next-token distributions moved from those of the full cache; arrays are (rest,)."""

    kl: np.ndarray  #: KL(full || changed), nats
    largest: np.ndarray  #: largest difference of a logit
    same: np.ndarray  #: boolean, whether the likeliest token is the same
    loss: float  #: mean loss of the text's own next tokens, nats; NaN where the text ends at once


def read(decoder: Decoder, text: str, share: float = 0.5) -> Reading:
    """Process the first `share` of the text; the text is cut where it is longer than this lesson reads."""
    found = decoder.read(text)
    room = min(LONGEST, decoder.context)
    ids, labels = found.ids[:room], found.labels[:room]
    if len(ids) < LEAST:
        raise Problem("Tokens in the text: {n}; this takes at least {least}: type more", n=len(ids), least=LEAST)
    notices = found.notices
    if len(found.ids) > room:
        cut = Message("The first {room} tokens of the text are read, of {n}", {"room": room, "n": len(found.ids)})
        notices = (*notices, cut)
    prompt = min(max(2, round(share * len(ids))), len(ids) - 2)
    first = decoder.process(ids[:prompt])
    reading = Reading(decoder, ids, labels, prompt, first.cache, first.layers, first.logits, notices)
    logits, layers = reading.rest()
    for layer in layers:
        if layer.shape[3] != reading.total:
            raise Problem(
                "Layer {index} of {name} keeps a window of {kept} tokens by itself; type at most as many",
                index=layer.index,
                name=decoder.name,
                kept=layer.shape[3] - layer.shape[2] + 1,  # its last ones before the new tokens, and the first of these
            )
    return Reading(decoder, ids, labels, prompt, first.cache, first.layers, logits, notices)


def moved(reading: Reading, logits: Tensor) -> MovedPredictions:
    """Compare changed logits (rest, V) with those of the full cache."""
    full, changed = (each.double().log_softmax(-1) for each in (reading.logits, logits))
    kl = (full.exp() * (full - changed)).sum(-1).clamp_min(0)
    follows = torch.tensor(reading.ids[reading.prompt + 1 :])
    loss = -changed[:-1].gather(-1, follows[:, None]).mean()
    return MovedPredictions(
        kl.numpy(),
        (reading.logits.double() - logits.double()).abs().amax(-1).numpy(),
        (full.argmax(-1) == changed.argmax(-1)).numpy(),
        float(loss),
    )
