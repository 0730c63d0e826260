"""What writes: a trained decoder, or a small one of the core with random weights, both by the same few methods."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, Protocol

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
