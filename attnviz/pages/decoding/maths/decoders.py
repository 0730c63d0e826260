"""What writes: a trained decoder, or a small one of the core with random weights, both by the same few methods."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor, nn

from attnviz.base.message import Message, Problem
from attnviz.core.attention import scale_factor
from attnviz.core.costs import kv_bytes
from attnviz.core.decoder import ByteDecoder
from attnviz.core.heads import HeadLayout
from attnviz.core.modules import KeyValueSource
from attnviz.models.architecture import Architecture
from attnviz.models.capture import AnswerLayer, CachedPass, Logits, RecordedLayer, pass_with_cache
from attnviz.models.catalogue import LoadedModel
from attnviz.models.tokens import encode, token_label

CORE = "core"  #: the id of the small decoder
CORE_LAYOUT = HeadLayout(d_model=64, n_heads=4, n_kv_heads=2)
CORE_LAYERS = 4
CORE_CONTEXT = 1024


@dataclass(frozen=True)
class Prompt:
    """A text as token ids, each with its label, and what a visitor should know about the reading."""

    ids: tuple[int, ...]
    labels: tuple[str, ...]
    notices: tuple[Message, ...] = ()


class Decoder(Protocol):
    """What the lessons of this package need of a decoder."""

    @property
    def name(self) -> str: ...
    @property
    def weights_are(self) -> str:
        """ "trained", "random" or "unknown"."""

    @property
    def context(self) -> int:
        """Tokens that it can take in all."""

    def read(self, text: str) -> Prompt: ...
    def label(self, token: int) -> str: ...
    def process(
        self,
        ids: tuple[int, ...],
        cache: Any = None,
        *,
        keep: bool = True,
        answer_layer: AnswerLayer | None = None,
        logits: Logits = "last",
    ) -> CachedPass:
        """Process the new tokens after those in `cache`; see `attnviz.models.capture.pass_with_cache`."""

    def copied(self, cache: Any) -> Any:
        """A copy of the cache, to go on from it more than once."""

    def matrices(self) -> tuple[int, int]:
        """Entries of the matrices that each token is multiplied by, without the head's; and of the head's."""


@dataclass(frozen=True, eq=False)
class ModelDecoder:
    """A decoder of the catalogue, or any other that transformers runs."""

    loaded: LoadedModel

    @property
    def name(self) -> str:
        return self.loaded.name

    @property
    def weights_are(self) -> str:
        return self.loaded.weights_are

    @property
    def context(self) -> int:
        return self.loaded.max_tokens

    def read(self, text: str) -> Prompt:
        if not text.strip():
            raise Problem("The prompt is empty: type at least one word")
        tokens = encode(self.loaded, text)
        return Prompt(tokens.ids, tokens.labels, tokens.notices)

    def label(self, token: int) -> str:
        tokenizer: Any = self.loaded.tokenizer
        return token_label(str(tokenizer.decode([token], clean_up_tokenization_spaces=False)))

    def process(
        self,
        ids: tuple[int, ...],
        cache: Any = None,
        *,
        keep: bool = True,
        answer_layer: AnswerLayer | None = None,
        logits: Logits = "last",
    ) -> CachedPass:
        given = torch.tensor([ids], device=self.loaded.model.device)
        return pass_with_cache(self.loaded.model, given, cache, keep=keep, answer_layer=answer_layer, logits=logits)

    def copied(self, cache: Any) -> Any:
        return copy.deepcopy(cache)

    def matrices(self) -> tuple[int, int]:
        model: Any = self.loaded.model
        head = model.get_output_embeddings()
        tables = {id(p) for m in model.modules() if isinstance(m, nn.Embedding) for p in m.parameters()}
        head_weight = None if head is None else head.weight
        body = sum(
            p.numel()
            for p in model.parameters()
            if p.dim() == 2 and id(p) not in tables and p is not head_weight  # vectors are biases and norms
        )
        return body, 0 if head_weight is None else head_weight.numel()

    def architecture(self) -> Architecture:
        return Architecture.from_config(self.loaded.model.config, self.name)


class CoreDecoder:
    """The core's own small decoder: random weights by a seed, over the bytes of the text."""

    weights_are = "random"
    context = CORE_CONTEXT

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed
        self.name = f"ByteDecoder, {CORE_LAYERS} × {CORE_LAYOUT.n_heads}"  # layers × heads
        self.model = ByteDecoder(CORE_LAYOUT, CORE_LAYERS, seed).eval()

    def read(self, text: str) -> Prompt:
        if not text.strip():
            raise Problem("The prompt is empty: type at least one word")
        ids = tuple(text.encode("utf-8", "replace"))
        return Prompt(ids, tuple(self.label(each) for each in ids))

    def label(self, token: int) -> str:
        return token_label(chr(token)) if token < 128 else f"<{token:02X}>"

    @torch.no_grad()
    def process(
        self,
        ids: tuple[int, ...],
        cache: Any = None,
        *,
        keep: bool = True,
        answer_layer: AnswerLayer | None = None,
        logits: Logits = "last",
    ) -> CachedPass:
        caches = (cache or self.model.caches()) if keep else None
        layers: list[RecordedLayer] = []

        def attend_as(index: int, source: KeyValueSource) -> Tensor:
            layers.append(_recorded(index, source))
            return (
                layers[-1].stages_of(list(range(CORE_LAYOUT.n_heads))).output
                if answer_layer is None
                else (answer_layer(layers[-1]))
            )

        found = self.model(torch.tensor([ids]), caches, attend_as)[0]
        return CachedPass(tuple(layers), found if logits == "all" else found[-1], caches)

    def copied(self, cache: Any) -> Any:
        return copy.deepcopy(cache)

    def matrices(self) -> tuple[int, int]:
        blocks = sum(p.numel() for p in self.model.blocks.parameters() if p.dim() == 2)
        return blocks, self.model.embedding.weight.numel()

    def cache_bytes(self, tokens: int) -> int:
        return CORE_LAYERS * kv_bytes(CORE_LAYOUT, tokens, dtype="float32")


def _recorded(index: int, source: KeyValueSource) -> RecordedLayer:
    mask = None if source.mask is None else source.mask[None, None]
    scale = scale_factor(source.scale, source.q.shape[-1])
    return RecordedLayer("decoder", "self", index, f"blocks.{index}", scale, source.q, source.k, source.v, allowed=mask)


# A text read by a decoder: the first part at once, the rest as if it were written, with the cache changed.
#
# All tokens of the rest are processed in one pass, each under the cache that it would find: the same logits as one pass
# a token, in a fraction of the time. What is changed is an `AnswerLayer`.
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
