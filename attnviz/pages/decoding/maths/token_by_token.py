"""Generation one token a step, with a cache and without one: logits and work of both."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from attnviz.analysis.predictions import likeliest_tokens, make_sampler, probabilities
from attnviz.base.message import Problem
from attnviz.models.capture import CachedPass, RecordedLayer
from attnviz.pages.decoding.maths.decoders import Decoder, ReadPrompt
from attnviz.pages.decoding.maths.prefill_and_decode import Work, pass_flops

LONGEST = 160  #: tokens in all that this lesson takes: without a cache, each step processes all of them again
MOST_STEPS = 48
ALTERNATIVES = 6
#: a token that might have come next, its probability before any temperature, and whether it was chosen
TokenAlternative = tuple[str, float, bool]
TokenRows = tuple[np.ndarray, ...]  #: q, k, v and weights of the tokens of one pass in one layer


@dataclass(frozen=True)
class Config:
    """The prompt, the number of steps, and how tokens are sampled."""

    text: str
    steps: int = 8
    temperature: float = 0.0
    seed: int = 0


@dataclass(frozen=True, eq=False)
class LayerTensors:
    """One layer over the T tokens processed so far. The weight of a hidden key is 0."""

    q: np.ndarray  #: (H, T, D)
    k: np.ndarray  #: (G, T, D)
    v: np.ndarray  #: (G, T, Dv)
    weights: np.ndarray  #: (H, T, T)

    def find_kv_head(self, head: int) -> int:
        return head * len(self.k) // len(self.q)

    def output(self, head: int) -> np.ndarray:
        """Output (T, Dv) of one query head."""
        return self.weights[head] @ self.v[self.find_kv_head(head)]


@dataclass(frozen=True, eq=False)
class Step:
    """One pass with the cache, and the same without it."""

    context: int  #: tokens in the cache afterwards
    cached: Work
    uncached: Work
    difference: float  #: the largest between the logits of the two
    largest_logit: float  #: in size
    same_choice: bool  #: whether both find the same token likeliest
    layer_bytes: tuple[tuple[int, int], ...]  #: keys and values in the cache of each layer afterwards
    alternatives: tuple[TokenAlternative, ...]
    token: int | None  #: what was chosen; None with zero steps

    @property
    def cache_bytes(self) -> int:
        return sum(map(sum, self.layer_bytes))


@dataclass(frozen=True, eq=False)
class Result:
    """The run so far. `labels`: of the prompt and of every chosen token; the last one is not processed yet."""

    config: Config
    prompt: ReadPrompt
    labels: tuple[str, ...]
    steps: tuple[Step, ...]
    total_steps: int
    layers: tuple[LayerTensors, ...]

    @property
    def done(self) -> bool:
        return len(self.steps) == self.total_steps

    @property
    def context(self) -> int:
        """Tokens processed so far."""
        return self.steps[-1].context

    @property
    def number_bytes(self) -> int:
        """Bytes of one number in the cache."""
        layer_bytes, first = sum(self.steps[0].layer_bytes[0]), self.layers[0]
        return layer_bytes // (self.steps[0].context * len(first.k) * (first.k.shape[2] + first.v.shape[2]))


def run(decoder: Decoder, config: Config) -> Iterator[Result]:
    """Yield the result after each step. With zero steps the prompt alone is processed."""
    prompt = decoder.read(config.text)
    check(decoder, prompt, config.steps)
    choose = make_sampler(config.temperature, seed=config.seed)
    rows_by_pass, steps = list[list[TokenRows]](), list[Step]()  # of each pass the new rows of each layer
    labels, ids = list(prompt.labels), list(prompt.ids)
    new, cache = prompt.ids, None
    total = max(1, config.steps)
    for _ in range(total):
        cached, work = _time_pass(decoder, new, cache)
        uncached, uncached_work = _time_pass(decoder, tuple(ids), None, keep=False)
        cache = cached.cache
        rows_by_pass.append([_extract_rows(layer) for layer in cached.layers])
        token = choose(cached.logits) if config.steps else None
        steps.append(
            Step(
                len(ids),
                work,
                uncached_work,
                float((cached.logits.double() - uncached.logits.double()).abs().max()),
                float(cached.logits.abs().max()),
                bool(cached.logits.argmax() == uncached.logits.argmax()),
                tuple((k.nbytes, v.nbytes) for _q, k, v in (layer.qkv for layer in cached.layers)),
                _list_alternatives(decoder, cached.logits, token),
                token,
            )
        )
        if token is not None:
            labels.append(decoder.label(token))
            ids.append(token)
            new = (token,)
        layers = tuple(map(_join_rows, zip(*rows_by_pass, strict=True)))
        yield Result(config, prompt, tuple(labels), tuple(steps), total, layers)


def check(decoder: Decoder, prompt: ReadPrompt, steps: int) -> None:
    """Raise Problem if prompt and steps exceed the model's context, or LONGEST."""
    room = min(decoder.context, LONGEST)
    if prompt.notices or len(prompt.ids) + steps > room:
        raise Problem(
            "The prompt has {prompt} tokens and {steps} are to be written; {name} takes {room} in all here: shorten "
            "the prompt, or write fewer",
            prompt=f"≥ {len(prompt.ids)}" if prompt.notices else len(prompt.ids),
            steps=steps,
            name=decoder.name,
            room=room,
        )


def _time_pass(decoder: Decoder, ids: tuple[int, ...], cache: object, *, keep: bool = True) -> tuple[CachedPass, Work]:
    began = time.perf_counter()
    cached_pass = decoder.process(ids, cache, keep=keep)
    return cached_pass, Work(len(ids), pass_flops(decoder, cached_pass.layers, len(ids)), time.perf_counter() - began)


def _list_alternatives(decoder: Decoder, logits: Tensor, token: int | None) -> tuple[TokenAlternative, ...]:
    """The likeliest tokens with their probabilities, the chosen token among them."""
    chances = dict(likeliest_tokens(logits, ALTERNATIVES))
    if token is not None and token not in chances:
        chances.popitem()
        chances[token] = float(probabilities(logits)[token])
    return tuple((decoder.label(alternative), chance, alternative == token) for alternative, chance in chances.items())


@torch.no_grad()
def _extract_rows(layer: RecordedLayer) -> TokenRows:
    q, k, v = layer.qkv
    new = layer.shape[2]
    tensors = q[0], k[0, :, -new:], v[0, :, -new:], layer.weights()[0]
    return tuple(tensor.float().cpu().numpy() for tensor in tensors)


def _join_rows(rows: Sequence[TokenRows]) -> LayerTensors:
    q, k, v = (np.concatenate([pass_rows[n] for pass_rows in rows], 1) for n in range(3))
    weights = np.zeros((len(q), q.shape[1], q.shape[1]), np.float32)
    seen = 0
    for *_qkv, pass_weights in rows:
        seen, start = seen + pass_weights.shape[1], seen
        weights[:, start:seen, seen - pass_weights.shape[2] : seen] = (
            pass_weights  # a window's keys are the newest ones
        )
    return LayerTensors(q, k, v, weights)
