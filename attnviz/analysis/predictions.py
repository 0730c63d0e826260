"""The tokens a model predicts next, or in place of a mask token, before and after a change."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor

from attnviz.analysis.model_run import ModelRun
from attnviz.base.message import Problem, require_at_least
from attnviz.core.measures import total_variation
from attnviz.models.capture import Trace, capture
from attnviz.models.catalogue import LoadedModel
from attnviz.models.tokens import token_label

LIKELIEST_COUNT = 6


def probabilities(logits: Tensor, temperature: float = 1.0, top_k: int | None = None) -> Tensor:
    """Logits (..., V) as probabilities. Temperature 0 gives the best token everything; `top_k` keeps the best few."""
    if not temperature >= 0 or temperature == float("inf"):
        raise Problem("temperature={temperature} must be 0 or a positive number", temperature=temperature)
    if top_k is not None:
        require_at_least("top_k", top_k, 1)
    scores = logits.to(torch.promote_types(logits.dtype, torch.float32))
    if temperature == 0:
        return torch.zeros_like(scores).scatter(-1, scores.argmax(-1, keepdim=True), 1.0)
    if top_k is not None and top_k < scores.shape[-1]:
        best = scores.topk(top_k, -1)
        scores = torch.full_like(scores, -torch.inf).scatter(-1, best.indices, best.values)
    return ((scores - scores.amax(-1, keepdim=True)) / temperature).softmax(-1)


def likeliest_tokens(
    logits: Tensor, n: int = 10, temperature: float = 1.0, top_k: int | None = None
) -> list[tuple[int, float]]:
    """The `n` most likely tokens for one position's logits (V,) with their probabilities, best first, without tokens
    of probability 0.
    """
    chances = probabilities(_require_vector(logits), temperature, top_k)
    best = chances.topk(min(n, len(chances)))
    return [(i, p) for i, p in zip(best.indices.tolist(), best.values.tolist(), strict=True) if p > 0]


def compare_predictions(
    before: Tensor, after: Tensor, n: int = 10, n_after: int | None = None
) -> list[tuple[int, float, float]]:
    """The likeliest tokens before and after a change, logits (V,) each, with both probabilities, in order of the first.

    Takes the `n` likeliest tokens before, and the `n_after` (by default `n`) likeliest after.
    """
    old, new = probabilities(_require_vector(before).double()), probabilities(_require_vector(after).double())
    most, most_after = (min(count, len(old)) for count in (n, n if n_after is None else n_after))
    tokens = torch.cat([old.topk(most).indices, new.topk(most_after).indices]).unique()
    tokens = tokens[old[tokens].argsort(descending=True)]
    return [(token, old[token].item(), new[token].item()) for token in tokens.tolist()]


def probability_shift(before: Tensor, after: Tensor) -> float:
    """Total variation between the probabilities of two sets of logits (V,): the share that moved, 0 to 1."""
    return float(total_variation(probabilities(_require_vector(before)), probabilities(_require_vector(after))))


def _require_vector(logits: Tensor) -> Tensor:
    if logits.dim() != 1:
        raise Problem("logits have shape {shape}; one position's have shape (V,)", shape=tuple(logits.shape))
    return logits


def make_sampler(temperature: float = 0.0, seed: int = 0) -> Callable[[Tensor], int]:
    """A function that chooses a token from logits (V,), V being the size of the vocabulary.

    It takes the most likely token at temperature 0, otherwise a random one; the same seed repeats its choices.
    """
    source = torch.Generator().manual_seed(seed)
    return lambda logits: int(torch.multinomial(probabilities(logits, temperature).cpu(), 1, generator=source))


@dataclass(frozen=True)
class TokenChoice:
    """One token that may come next."""

    token: int
    label: str  #: as a visitor reads it
    text: str  #: the characters that it adds to the sentence
    probability: float  #: in the softmax over the whole vocabulary
    sampling_probability: float  #: after the temperature, among the top k alone


@dataclass(frozen=True)
class ProbabilityChange:
    """A token's probability before and after a change."""

    label: str
    before: float
    after: float


@dataclass(frozen=True)
class Slot:
    """A place where the model predicts a token: after the last one, or at a mask token."""

    position: int | None  #: None: after the last token
    logits: Tensor  #: (V,)


def prediction_slots(run: ModelRun, loaded: LoadedModel, trace: Trace | None = None) -> list[Slot]:
    """Where this model predicts tokens, from `run` or another `trace` of it; empty if the model predicts none."""
    logits = (trace or run.trace).logits
    if logits is None:
        return []
    if logits.dim() == 2:
        return [Slot(None, logits[0])]
    mask_id = getattr(loaded.tokenizer, "mask_token_id", None)
    return [Slot(span.position, logits[0, span.position]) for span in run.source.spans if span.id == mask_id]


def token_choices(
    loaded: LoadedModel, slot: Slot, n: int = 10, temperature: float = 1.0, top_k: int | None = None
) -> list[TokenChoice]:
    """The `n` likeliest tokens of a slot that temperature and top-k leave possible."""
    full = probabilities(slot.logits)
    return [
        TokenChoice(token, *_spell_token(loaded, token), float(full[token]), sampling_probability)
        for token, sampling_probability in likeliest_tokens(slot.logits, n, temperature, top_k)
    ]


def compare_choices(loaded: LoadedModel, before: Slot, after: Slot) -> tuple[list[ProbabilityChange], float]:
    """The likeliest tokens before and after, and the share of probability (0 to 1) that moved to other tokens."""
    return likeliest(loaded, before.logits, after.logits), probability_shift(before.logits, after.logits)


def likeliest(
    loaded: LoadedModel, before: Tensor, after: Tensor, n: int = LIKELIEST_COUNT, n_after: int | None = None
) -> list[ProbabilityChange]:
    """The `n` likeliest tokens of `before` (V,) and the `n_after` (or `n`) of `after`, by probability before."""
    return [
        ProbabilityChange(_spell_token(loaded, token)[0], *change)
        for token, *change in compare_predictions(before, after, n, n_after)
    ]


def _spell_token(loaded: LoadedModel, token: int) -> tuple[str, str]:
    assert loaded.tokenizer is not None
    text = str(loaded.tokenizer.decode([token], clean_up_tokenization_spaces=False))
    return token_label(text), text


HAN = range(0x4E00, 0xA000)  #: the Chinese characters in daily use


@dataclass(frozen=True)
class SentenceFit:
    """How well a model predicts one sentence."""

    characters: int
    tokens: int
    parts: int  #: tokens that are some of the bytes of a character
    nats: float  #: −ln of the probability that the model gives each token from the second on, summed


def run(run: ModelRun, loaded: LoadedModel) -> SentenceFit:
    """Run a decoder over the sentence again, with the logits of every token, and sum the loss."""
    guesses = capture(loaded.model, logits="all", **run.source.inputs).logits
    assert guesses is not None
    logs = guesses[0].float().log_softmax(-1)  # (Q, V)
    ids = run.source.ids
    nats = sum(-float(logs[at, after]) for at, (_, after) in enumerate(pairwise(ids)))
    return SentenceFit(len(run.request.text), len(ids), sum(span.part is not None for span in run.source.spans), nats)
