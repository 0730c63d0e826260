"""Logit attribution and logit lens of the next token, and example sentences with two contrasting tokens."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch

from attnviz.analysis.model_run import ModelRun
from attnviz.analysis.predictions import TokenChoice, prediction_slots, token_choices
from attnviz.base.message import Message, Problem
from attnviz.base.rounding import Rounded
from attnviz.models.capture import Edit, LogitAttribution, Trace, capture, intervene, logit_diff
from attnviz.models.catalogue import LoadedModel
from attnviz.models.tokens import token_id, token_label

N_CANDIDATES = 10  #: tokens that may be asked about with a click
Ids = tuple[int, int | None]  #: a token, and the one that it is compared with


@dataclass(frozen=True)
class Contrast:
    """A sentence, the token that SmolLM2 writes next, another one, and the prompt after which it writes that one."""

    text: str
    token: str
    versus: str
    second_prompt: str
    explanation: Message


CONTRASTS = (
    Contrast(
        "The capital of Spain is",
        "Madrid",
        "Rome",
        "The capital of Italy is",
        Message("A fact: the country is read where it stands, and its capital is written at the end."),
    ),
    Contrast(
        "When Mary and John went to the store, John gave a drink to",
        "Mary",
        "John",
        "When Mary and John went to the store, Mary gave a drink to",
        Message("Who else? The name that was said once comes next, not the one that was said twice."),
    ),
    Contrast(
        "The keys to the cabinet",
        "are",
        "is",
        "The key to the cabinet",
        Message("Grammar: the verb agrees with a noun that stands four tokens before."),
    ),
    Contrast(
        "The opposite of hot is",
        "cold",
        "small",
        "The opposite of big is",
        Message("A relation: the same question about another word."),
    ),
)


def find_contrast(text: str) -> Contrast | None:
    """The contrast with exactly this sentence, if there is one."""
    return next((contrast for contrast in CONTRASTS if contrast.text == text), None)


@dataclass(frozen=True)
class TokenQuestion:
    """The token to explain, and the token to compare it with; "" takes the example's, else the likeliest."""

    token: str = ""
    versus: str = ""
    alone: bool = False


@dataclass(frozen=True)
class LikelyToken:
    """A token that may come next."""

    id: int
    label: str
    probability: float


@dataclass(frozen=True)
class LogitPart:
    """Contribution of one component to the logit. `head` is None for an MLP, `layer` for what lies outside layers."""

    name: Message
    layer: int | None
    head: int | None
    value: float


@dataclass(frozen=True, eq=False)
class Parts:
    """A logit, or the logit difference of two tokens, as the sum of the contributions of all components."""

    targets: tuple[LikelyToken, ...]  #: the token, and the one it is compared with, if any
    heads: np.ndarray  #: (layers, heads); NaN where a layer has fewer
    mlps: np.ndarray  #: (layers,)
    outside_layers: tuple[LogitPart, ...]  #: embedding, biases, what a linear account leaves over
    total: float  #: the model's own logit, or lead
    sources: np.ndarray  #: (layers, heads, tokens): from which token each head's part was read
    lens: np.ndarray  #: (layers + 1, tokens asked): probability if the model ended at the input of each layer
    ranks: np.ndarray  #: the same as a place among all tokens, from 1
    likeliest: tuple[str, ...]  #: the token that would come next there
    position: int  #: where the token is predicted
    linearised: Message | None = None  #: what was held fixed besides the scale of the final norm
    masked: int | None = None  #: the position where that is a masked token, and not what follows the last

    @cached_property
    def by_layer(self) -> tuple[LogitPart, ...]:
        """All components from the first layer to the last, then those outside the layers."""
        return *self._iterate_layers(), *self.outside_layers

    @cached_property
    def by_size(self) -> tuple[LogitPart, ...]:
        """All components by absolute contribution, largest first."""
        return tuple(sorted(self.by_layer, key=lambda component: -abs(component.value)))

    def _iterate_layers(self) -> Iterator[LogitPart]:
        for layer, row in enumerate(self.heads):
            for head, value in enumerate(row):
                if not np.isnan(value):
                    yield LogitPart(
                        Message("head {layer}.{head}", {"layer": layer, "head": head}), layer, head, float(value)
                    )
            yield LogitPart(Message("MLP {layer}", {"layer": layer}), layer, None, float(self.mlps[layer]))

    @cached_property
    def by_head(self) -> dict[str, str]:
        """Each head by its name, layer.head, the largest first, with what it adds."""
        by_head = (
            (f"{component.layer}.{component.head}", component.value)
            for component in self.by_size
            if component.head is not None
        )
        return {name: f"{name}: {Rounded(value):+.3f}" for name, value in by_head}

    @property
    def ids(self) -> Ids:
        """The token asked about, and the one that it is compared with."""
        return self.targets[0].id, self.targets[1].id if len(self.targets) > 1 else None

    @property
    def strongest(self) -> tuple[int, int]:
        """(layer, head) of the head that adds most."""
        layer, head = np.unravel_index(int(np.nanargmax(self.heads)), self.heads.shape)
        return int(layer), int(head)

    @property
    def layers_ranked_first(self) -> tuple[int, ...]:
        """Layers at whose input the token is in first place; the final output counts as one more layer."""
        return tuple(np.flatnonzero(self.ranks[:, 0] == 1).tolist())

    @property
    def first_stable_layer(self) -> int | None:
        """First layer from whose input on the token stays in first place; None if it never does."""
        not_first = np.flatnonzero(self.ranks[:, 0] != 1)
        layer = int(not_first[-1]) + 1 if len(not_first) else 0
        return layer if layer < len(self.ranks) else None


def compare_loss(lost: float, added: float) -> str:
    """Whether "less" is lost without a component than it added, "more", or the "same", within a tenth."""
    ratio = lost / added
    return "less" if ratio < 0.9 else "more" if ratio > 1.1 else "same"


def run(run: ModelRun, loaded: LoadedModel, question: TokenQuestion, without: tuple[int, int] | None = None) -> Parts:
    """Run the model once more with its residual stream recorded, and decompose the logit.

    `without`: a head, (layer, head), that is ablated: it adds 0, and later layers see the change.
    """
    likeliest = likely_tokens(run, loaded)
    slot = prediction_slots(run, loaded)[0]
    wanted: dict[str, Any] = {"logits": loaded.predicts, "residual": True} | run.inputs_on(loaded.model.device)
    if without is None:
        trace = capture(loaded.model, **wanted)
    else:
        trace = intervene(loaded.model, Edit(*without, silence=True), **wanted)
    position = len(run.source.ids) - 1 if slot.position is None else slot.position
    token, versus = token_ids(loaded, question, run.request.text, likeliest)
    return replace(_decompose_logit(loaded, trace, position, token, versus), masked=slot.position)


def likely_tokens(run: ModelRun, loaded: LoadedModel) -> list[TokenChoice]:
    """The likeliest next tokens, most likely first. Problem if the model predicts none here."""
    slots = prediction_slots(run, loaded)
    if not slots or loaded.tokenizer is None:
        raise Problem("{model} predicts no token of this sentence, so there is no logit to take apart", model=run.name)
    return token_choices(loaded, slots[0], N_CANDIDATES)


def token_ids(
    loaded: LoadedModel, question: TokenQuestion, text: str, candidates: list[TokenChoice]
) -> tuple[int, int | None]:
    """The ids of the token asked about, and of the one it is compared with."""
    example = find_contrast(text) if not question.token else None
    names = [
        question.token or (example.token if example else ""),
        question.versus or (example.versus if example else ""),
    ]
    ids = [token_id(loaded.tokenizer, word) if word else None for word in names]
    token = candidates[0].token if ids[0] is None else ids[0]
    if question.alone:
        return token, None
    versus = next(candidate.token for candidate in candidates if candidate.token != token) if ids[1] is None else ids[1]
    if versus == token:
        raise Problem("Both tokens are “{token}”: name two that differ", token=names[1] or names[0])
    return token, versus


def _decompose_logit(
    loaded: LoadedModel,
    trace: Trace,
    position: int,
    token: int,
    versus: int | None,
) -> Parts:
    attribution = trace.logit_attribution(logit_diff(token, versus), position=position)
    ids = [token] if versus is None else [token, versus]
    lens = trace.logit_lens(ids, position, n=1)
    shares, ranks = lens.probabilities[0].cpu().numpy(), lens.ranks[0].cpu().numpy()
    labels = [_label(loaded, target) for target in ids]
    targets = tuple(LikelyToken(*fields) for fields in zip(ids, labels, map(float, shares[-1]), strict=True))
    return Parts(
        targets,
        attribution.heads[0].cpu().numpy(),
        attribution.mlps[0].cpu().numpy(),
        tuple(_iterate_outside_layers(attribution)),
        float(attribution.logit[0]),
        _stack_sources(attribution),
        shares,
        ranks,
        tuple(_label(loaded, int(top[0])) for top in lens.top_tokens[0]),
        position,
        attribution.linearised,
    )


def _label(loaded: LoadedModel, token: int) -> str:
    assert loaded.tokenizer is not None
    return token_label(str(loaded.tokenizer.decode([token])))


def _stack_sources(attribution: LogitAttribution) -> np.ndarray:
    layers, widest = attribution.heads.shape[1:]
    rows = [torch.stack([attribution.sources(layer, head)[0] for head in range(widest)]) for layer in range(layers)]
    return torch.stack(rows).cpu().numpy()


def _iterate_outside_layers(attribution: LogitAttribution) -> Iterator[LogitPart]:
    """Contributions outside heads and MLPs: embeddings, positions, biases, and what is not linear."""
    sums = {
        Message("embedding"): attribution.embedding,
        Message("positions"): attribution.positions,
        Message("biases"): attribution.biases.sum(1),
    } | {Message("bias of {name}", {"name": name}): bias for name, bias in attribution.rest.items()}
    for name, value in sums.items():
        if value is not None and (name.template == "embedding" or float(value[0]) != 0.0):
            yield LogitPart(name, None, None, float(value[0]))
