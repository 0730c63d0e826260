"""A decoder writes one token a step: with a cache, and beside it without one, so that logits and work compare."""

import time
from collections.abc import Iterator
from dataclasses import dataclass

from torch import Tensor

from attnviz.base.message import Problem
from attnviz.models.capture import CachedPass, guesses, probabilities, sampler
from attnviz.pages.decoding.maths.decoders import Decoder, Prompt, qkv
from attnviz.pages.decoding.maths.growing_bytes import GrownTensors, LayerTensors
from attnviz.pages.decoding.maths.prefill_and_decode import Work, pass_flops

LONGEST = 160  #: tokens in all that this lesson takes: without a cache, each step processes all of them again
MOST_STEPS = 48
ALTERNATIVES = 6


@dataclass(frozen=True)
class Config:
    text: str
    steps: int = 8
    temperature: float = 0.0
    seed: int = 0


@dataclass(frozen=True)
class TokenAlternative:
    """A token that might have come next, and its probability before any temperature."""

    label: str
    probability: float
    chosen: bool


@dataclass(frozen=True, eq=False)
class Step:
    """One pass with the cache, and one without it that must end in the same logits."""

    context: int  #: tokens in the cache afterwards
    cached: Work
    anew: Work
    difference: float  #: the largest between the logits of the two
    largest_logit: float
    same_choice: bool  #: whether the likeliest token is the same
    layer_bytes: tuple[tuple[int, int], ...]  #: keys and values in the cache of each layer afterwards
    alternatives: tuple[TokenAlternative, ...]
    token: int | None  #: what was chosen; None with zero steps

    @property
    def cache_bytes(self) -> int:
        return sum(map(sum, self.layer_bytes))


@dataclass(frozen=True, eq=False)
class Result:
    """The run so far. `labels` are those of the prompt and of all tokens chosen; the last one is not processed yet."""

    config: Config
    prompt: Prompt
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
    def same_choices(self) -> int:
        """Steps at which both find the same token likeliest."""
        return sum(step.same_choice for step in self.steps)

    @property
    def number_bytes(self) -> int:
        """Bytes of one number in the cache."""
        held, first = sum(self.steps[0].layer_bytes[0]), self.layers[0]
        return held // (self.steps[0].context * len(first.k) * (first.k.shape[2] + first.v.shape[2]))

    @property
    def nbytes(self) -> int:
        return sum(layer.nbytes for layer in self.layers)


def run(decoder: Decoder, config: Config) -> Iterator[Result]:
    """Yield the result after each step; with zero steps the prompt alone is processed."""
    prompt = decoder.read(config.text)
    check(decoder, prompt, config.steps)
    choose = sampler(config.temperature, seed=config.seed)
    grown, steps = GrownTensors(), list[Step]()
    labels, ids = list(prompt.labels), list(prompt.ids)
    new, cache = prompt.ids, None
    total = max(1, config.steps)
    for _ in range(total):
        cached, work = _timed(decoder, new, cache)
        anew, work_anew = _timed(decoder, tuple(ids), None, keep=False)
        cache = cached.cache
        grown.take(cached.layers)
        token = choose(cached.logits) if config.steps else None
        kept = [qkv(layer)[1:] for layer in cached.layers]
        steps.append(
            Step(
                len(ids),
                work,
                work_anew,
                float((cached.logits.double() - anew.logits.double()).abs().max()),
                float(cached.logits.abs().max()),
                bool(cached.logits.argmax() == anew.logits.argmax()),
                tuple((k.nbytes, v.nbytes) for k, v in kept),
                _alternatives(decoder, cached.logits, token),
                token,
            )
        )
        if token is not None:
            labels.append(decoder.label(token))
            ids.append(token)
            new = (token,)
        yield Result(config, prompt, tuple(labels), tuple(steps), total, grown.layers())


def check(decoder: Decoder, prompt: Prompt, steps: int) -> None:
    """Refuse a prompt and steps that do not fit into the model's context, or into what this lesson takes."""
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


def _timed(decoder: Decoder, ids: tuple[int, ...], cache: object, *, keep: bool = True) -> tuple[CachedPass, Work]:
    began = time.perf_counter()
    made = decoder.process(ids, cache, keep=keep)
    seconds = time.perf_counter() - began
    return made, Work(len(ids), pass_flops(decoder, made.layers, len(ids)), seconds)


def _alternatives(decoder: Decoder, logits: Tensor, token: int | None) -> tuple[TokenAlternative, ...]:
    """The likeliest tokens, and the chosen one where it is none of them."""
    chances = {guess.token: guess.probability for guess in guesses(logits, ALTERNATIVES)}
    if token is not None and token not in chances:
        chances.popitem()
        chances[token] = float(probabilities(logits)[token])
    return tuple(TokenAlternative(decoder.label(each), chance, each == token) for each, chance in chances.items())
