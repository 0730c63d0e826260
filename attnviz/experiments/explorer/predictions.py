"""What the model says next, or in place of a mask, before and after a change."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from attnviz.experiments.explorer.model_run import Reading
from attnviz.models.capture import Trace, guesses, moved, probability_moved
from attnviz.models.tokens import token_label

SHOWN = 6


@dataclass(frozen=True)
class TokenChoice:
    """One token that may come next."""

    token: int
    label: str  #: for a person
    text: str  #: what it adds to the sentence
    probability: float


@dataclass(frozen=True)
class ProbabilityChange:
    """A token's probability before and after."""

    label: str
    before: float
    after: float


@dataclass(frozen=True)
class Slot:
    """A place where the model guesses: the next token, or a masked one."""

    position: int | None  #: None: after the last token
    name: str
    logits: Tensor  #: (V,)


def slots(reading: Reading, trace: Trace | None = None) -> list[Slot]:
    """Where this model guesses in this sentence; empty for models that do not guess."""
    logits = (trace or reading.trace).logits
    if logits is None:
        return []
    if logits.dim() == 2:
        return [Slot(None, "", logits[0])]
    tokenizer = reading.loaded.tokenizer
    mask_id = getattr(tokenizer, "mask_token_id", None)
    return [
        Slot(span.position, span.label, logits[0, span.position]) for span in reading.source.spans if span.id == mask_id
    ]


def choices(
    reading: Reading, slot: Slot, n: int = 10, temperature: float = 1.0, top_k: int | None = None
) -> list[TokenChoice]:
    """The likeliest tokens of a slot."""
    return [
        TokenChoice(guess.token, *_spelled(reading, guess.token), guess.probability)
        for guess in guesses(slot.logits, n, temperature, top_k)
    ]


def changes(reading: Reading, before: Slot, after: Slot) -> tuple[list[ProbabilityChange], float]:
    """The tokens that either pass finds likely, and the share of probability that changed place."""
    found = likeliest(reading, before.logits, after.logits, SHOWN)
    return found, probability_moved(before.logits, after.logits)


def likeliest(
    reading: Reading, before: Tensor, after: Tensor, n: int, n_after: int | None = None
) -> list[ProbabilityChange]:
    """The `n` likeliest tokens of logits (V,) before, and the `n_after` (else `n`) after, in the first's order."""
    return [
        ProbabilityChange(_spelled(reading, each.token)[0], each.before, each.after)
        for each in moved(before, after, n, n_after)
    ]


def _spelled(reading: Reading, token: int) -> tuple[str, str]:
    assert reading.loaded.tokenizer is not None
    text = str(reading.loaded.tokenizer.decode([token], clean_up_tokenization_spaces=False))
    return token_label(text), text
