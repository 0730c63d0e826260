"""Decoders of the page: a trained model, or a small one of the core with random weights.

Both have the same methods. `context`: the most tokens that a decoder takes. `weights_are`: "trained", "random" or
"unknown".
"""

import copy
import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from attnviz.base.message import Message, Problem
from attnviz.core.attention import scale_factor
from attnviz.core.decoder import ByteDecoder
from attnviz.core.heads import HeadLayout
from attnviz.core.modules import KeyValueSource
from attnviz.models.capture import AnswerLayer, CachedPass, Logits, RecordedLayer, pass_with_cache
from attnviz.models.catalogue import LoadedModel
from attnviz.models.tokens import encode, token_label

CORE = "core"  #: the id of the small decoder
CORE_LAYOUT = HeadLayout(d_model=64, n_heads=4, n_kv_heads=2)
CORE_LAYERS = 4
CORE_CONTEXT = 1024
TEXT_BYTES = frozenset((*b"\t\n\r", *range(32, 127)))  #: shown as characters; others, as 0, by their number: <00>


@dataclass(frozen=True)
class ReadPrompt:
    """A text as token ids, with a label for each, and notices for the visitor."""

    ids: tuple[int, ...]
    labels: tuple[str, ...]
    notices: tuple[Message, ...] = ()


class ModelDecoder:
    """A decoder of the catalogue, or any other that transformers runs."""

    def __init__(self, loaded: LoadedModel) -> None:
        self.loaded = loaded
        self.name, self.weights_are, self.context = loaded.name, loaded.weights_are, loaded.max_tokens

    def read(self, text: str) -> ReadPrompt:
        _require_words(text)
        tokens = encode(self.loaded, text)
        return ReadPrompt(tokens.ids, tokens.labels, tokens.notices)

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
        """Process the new tokens after those in `cache`; see `attnviz.models.capture.pass_with_cache`."""
        model, input_ids = self.loaded.model, torch.tensor([ids], device=self.loaded.model.device)
        return pass_with_cache(model, input_ids, cache, keep=keep, answer_layer=answer_layer, logits=logits)

    def count_matrix_entries(self) -> tuple[int, int]:
        """Matrix entries that each token is multiplied by: of the body, and of the output head."""
        model: Any = self.loaded.model
        head = [module.weight for module in (model.get_output_embeddings(),) if module is not None]
        tables = [p for m in model.modules() if isinstance(m, nn.Embedding) for p in m.parameters()]
        excluded = {id(p) for p in (*tables, *head)}
        # vectors are biases and norms
        body = sum(p.numel() for p in model.parameters() if p.dim() == 2 and id(p) not in excluded)
        return body, sum(p.numel() for p in head)


class CoreDecoder:
    """A small decoder of the core over the bytes of the text, with random weights from a seed."""

    weights_are = "random"
    context = CORE_CONTEXT

    def __init__(self, seed: int = 0) -> None:
        self.name = f"ByteDecoder, {CORE_LAYERS} × {CORE_LAYOUT.n_heads}"  # layers × heads
        self.model = ByteDecoder(CORE_LAYOUT, CORE_LAYERS, seed).eval()

    def read(self, text: str) -> ReadPrompt:
        _require_words(text)
        ids = tuple(text.encode("utf-8", "replace"))
        return ReadPrompt(ids, tuple(self.label(token_id) for token_id in ids))

    def label(self, token: int) -> str:
        return token_label(chr(token)) if token in TEXT_BYTES else f"<{token:02X}>"

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
        """Process the new tokens after those in `cache`, as `ModelDecoder.process` does."""
        caches = (cache or self.model.caches()) if keep else None
        layers: list[RecordedLayer] = []

        def attend_as(index: int, source: KeyValueSource) -> Tensor:
            mask = None if source.mask is None else source.mask[None, None]
            scale, name = scale_factor(source.scale, source.q.shape[-1]), f"blocks.{index}"
            layer = RecordedLayer("decoder", "self", index, name, scale, source.q, source.k, source.v, allowed=mask)
            layers.append(layer)
            answer = answer_layer or (lambda layer: layer.stages_of(list(range(CORE_LAYOUT.n_heads))).output)
            return answer(layer)

        all_logits = self.model(torch.tensor([ids]), caches, attend_as)[0]
        return CachedPass(tuple(layers), all_logits if logits == "all" else all_logits[-1], caches)

    def count_matrix_entries(self) -> tuple[int, int]:
        """Matrix entries that each token is multiplied by: of the body, and of the output head."""
        matrices = [p.numel() for p in self.model.blocks.parameters() if p.dim() == 2]
        return sum(matrices), self.model.embedding.weight.numel()


Decoder = ModelDecoder | CoreDecoder


def _require_words(text: str) -> None:
    if not text.strip():
        raise Problem("The prompt is empty: type at least one word")


# A text read by a decoder: the first part at once, the rest as if it were written, with the cache changed.
#
# All tokens of the rest are processed in one pass, each under the cache that it would find: the same logits as one pass
# a token, in a fraction of the time. What is changed is an `AnswerLayer`.
LONGEST = 256  #: tokens of the text that are read
LEAST = 8


@dataclass(frozen=True, eq=False)
class CachedReading:
    """A text split into a prompt and a rest: the cache and recordings of the prompt, the logits of the rest."""

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

    def process_rest(self, answer_layer: AnswerLayer | None = None) -> tuple[Tensor, tuple[RecordedLayer, ...]]:
        """Logits (rest, V) of the tokens after the prompt, and the recorded layers.

        `answer_layer` replaces the attention of each layer; None leaves it as it is.
        """
        fresh = copy.deepcopy(self.cache)
        cached_pass = self.decoder.process(self.ids[self.prompt :], fresh, answer_layer=answer_layer, logits="all")
        return cached_pass.logits, cached_pass.layers


@dataclass(frozen=True, eq=False)
class PredictionShift:
    """Change of the next-token distributions against those of the full cache. Arrays are (rest,)."""

    kl: np.ndarray  #: KL(full || changed), nats
    largest: np.ndarray  #: largest difference of a logit
    same: np.ndarray  #: boolean, whether the likeliest token is the same
    loss: float  #: mean loss of the text's own next tokens, nats; NaN where the text ends at once


def read(decoder: Decoder, text: str, share: float = 0.5) -> CachedReading:
    """Process the first `share` of the text as the prompt, then the rest. A text over LONGEST tokens is cut."""
    full_text = decoder.read(text)
    room = min(LONGEST, decoder.context)
    ids, labels, notices = full_text.ids[:room], full_text.labels[:room], full_text.notices
    if len(ids) < LEAST:
        raise Problem("Tokens in the text: {n}; this takes at least {least}: type more", n=len(ids), least=LEAST)
    if len(full_text.ids) > room:
        notices = (
            *notices,
            Message("The first {room} tokens of the text are read, of {n}", {"room": room, "n": len(full_text.ids)}),
        )
    prompt = min(max(2, round(share * len(ids))), len(ids) - 2)
    first = decoder.process(ids[:prompt])
    reading = CachedReading(decoder, ids, labels, prompt, first.cache, first.layers, first.logits, notices)
    logits, layers = reading.process_rest()
    for layer in layers:
        if layer.shape[3] != reading.total:
            raise Problem(
                "Layer {index} of {name} keeps a window of {kept} tokens by itself; type at most as many",
                index=layer.index,
                name=decoder.name,
                kept=layer.shape[3] - layer.shape[2] + 1,  # its last ones before the new tokens, and the first of these
            )
    return replace(reading, logits=logits)


def compare_predictions(reading: CachedReading, logits: Tensor) -> PredictionShift:
    """Compare changed logits (rest, V) with those of the full cache."""
    kl, largest, same, losses = list[float](), list[float](), list[bool](), list[float]()
    # row by row: in double precision all of a large vocabulary's rows take hundreds of megabytes
    for row, at in enumerate(range(reading.prompt + 1, reading.total + 1)):
        before, after = reading.logits[row].double(), logits[row].double()
        full, changed = before.log_softmax(-1), after.log_softmax(-1)
        kl.append(float((full.exp() * (full - changed)).sum().clamp_min(0)))
        largest.append(float((before - after).abs().amax()))
        same.append(bool(full.argmax() == changed.argmax()))
        losses += [-float(changed[token]) for token in reading.ids[at : at + 1]]
    loss = float(np.mean(losses)) if losses else math.nan
    return PredictionShift(np.array(kl), np.array(largest), np.array(same), loss)
