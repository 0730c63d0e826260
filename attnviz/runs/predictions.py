"""The tokens a model predicts next, or in place of a mask token, before and after a change."""

from dataclasses import dataclass
from itertools import pairwise

from torch import Tensor

from attnviz.models.capture import Trace, capture, guesses, moved, probabilities, probability_moved
from attnviz.models.catalogue import LoadedModel
from attnviz.models.tokens import token_label
from attnviz.runs.model_run import ModelRun

SHOWN = 6


@dataclass(frozen=True)
class TokenChoice:
    """One token that may come next."""

    token: int
    label: str  #: as a visitor reads it
    text: str  #: the characters that it adds to the sentence
    probability: float  #: in the softmax over the whole vocabulary
    drawn: float  #: after the temperature, among the top k alone


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


def slots(run: ModelRun, loaded: LoadedModel, trace: Trace | None = None) -> list[Slot]:
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
    whole = probabilities(slot.logits)
    return [
        TokenChoice(guess.token, *_spelled(loaded, guess.token), float(whole[guess.token]), guess.probability)
        for guess in guesses(slot.logits, n, temperature, top_k)
    ]


def changes(loaded: LoadedModel, before: Slot, after: Slot) -> tuple[list[ProbabilityChange], float]:
    """The likeliest tokens before and after, and the share of probability (0 to 1) that moved to other tokens."""
    return likeliest(loaded, before.logits, after.logits), probability_moved(before.logits, after.logits)


def likeliest(
    loaded: LoadedModel, before: Tensor, after: Tensor, n: int = SHOWN, n_after: int | None = None
) -> list[ProbabilityChange]:
    """The `n` likeliest tokens of `before` (V,) and the `n_after` (or `n`) of `after`, by probability before."""
    return [
        ProbabilityChange(_spelled(loaded, each.token)[0], each.before, each.after)
        for each in moved(before, after, n, n_after)
    ]


def _spelled(loaded: LoadedModel, token: int) -> tuple[str, str]:
    assert loaded.tokenizer is not None
    text = str(loaded.tokenizer.decode([token], clean_up_tokenization_spaces=False))
    return token_label(text), text


HAN = range(0x4E00, 0xA000)  #: the Chinese characters in daily use


@dataclass(frozen=True)
class SentenceFit:
    """What reading one sentence takes."""

    characters: int
    tokens: int
    parts: int  #: tokens that are some of the bytes of a character
    nats: float  #: −ln of the probability that the model gives each token from the second on, summed


def run(run: ModelRun, loaded: LoadedModel) -> SentenceFit:
    """Read the sentence of a run once more, with the guesses at every token kept; a decoder's."""
    guesses = capture(loaded.model, logits="all", **run.source.inputs).logits
    assert guesses is not None
    logs = guesses[0].float().log_softmax(-1)  # (Q, V)
    ids = run.source.ids
    nats = sum(-float(logs[at, after]) for at, (_, after) in enumerate(pairwise(ids)))
    return SentenceFit(len(run.request.text), len(ids), sum(span.part is not None for span in run.source.spans), nats)
