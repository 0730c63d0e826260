"""What an experiment measures of a pass: a logit, a difference of logits, a head's weight, or a function of logits."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from functools import wraps
from typing import Any, NamedTuple, ParamSpec, TypeVar

import torch
from torch import Tensor

from attnviz.base.message import Problem
from attnviz.models.capture.head_selection import to_float32
from attnviz.models.tokens import token_id

TokenLike = int | str | Tensor | Sequence[int | str]  #: a token by its id or its text; several: one for each row
TokenSet = TokenLike | Set[int | str]  #: a token, or a set of them, whose mean counts


class LogitDiff(NamedTuple):
    """The logit of a token less that of another, as a metric; of a set of tokens, their mean logit."""

    token: TokenSet
    versus: TokenSet | None = None  #: None: the logit of `token` alone


class AttentionWeight(NamedTuple):
    """The weight of a key for a query in one head, as a metric."""

    layer: int
    head: int
    query: int
    key: int


Metric = TokenSet | LogitDiff | AttentionWeight | Callable[[Tensor], Tensor]


def logit_diff(token: TokenSet, versus: TokenSet | None = None) -> LogitDiff:
    """Metric: the logit of `token` less that of `versus`.

    A token is an id or its text. A list has one for each prompt of a batch; of a set the mean logit counts.
    """
    return LogitDiff(token, versus)


def attention_weight(layer: int, head: int, query: int, key: int) -> AttentionWeight:
    """Metric: the weight of a key for a query in one head."""
    return AttentionWeight(layer, head, query, key)


@dataclass(frozen=True, eq=False)
class LogitSum:
    """A sum of logits with a factor each: a `LogitDiff` whose tokens are ids."""

    ids: Tensor  #: (B or 1, n)
    factors: Tensor  #: (n,)

    @staticmethod
    def of_tokens(metric: LogitDiff, tokenizer: Any) -> LogitSum:
        """Look the tokens up; raises a Problem for what is none, and if both sides are the same."""
        plus = _set_ids(tokenizer, metric.token)
        if metric.versus is None:
            return LogitSum(plus, torch.full(plus.shape[1:], 1 / plus.shape[1]))
        minus = _set_ids(tokenizer, metric.versus)
        if plus.shape[1] == minus.shape[1] and bool((plus == minus).all()):
            raise Problem("token and versus are both {token}: the difference is 0", token=repr(metric.token)[:60])
        rows = max(len(plus), len(minus))
        factors = [torch.full(side.shape[1:], sign / side.shape[1]) for side, sign in ((plus, 1), (minus, -1))]
        return LogitSum(torch.cat([plus.expand(rows, -1), minus.expand(rows, -1)], 1), torch.cat(factors))

    def ids_for(self, batch: int, count: int) -> Tensor:
        """Ids (B, n) for that many rows; raises a Problem for one beyond `count`."""
        return expand_ids(self.ids, batch, count)

    def evaluate(self, logits: Tensor) -> Tensor:
        """The sum in each row of logits (B, V), (B,)."""
        ids = self.ids_for(*logits.shape).to(logits.device)
        chosen = to_float32(logits).gather(1, ids)
        return chosen @ self.factors.to(chosen)


def expand_ids(ids: Tensor, batch: int, count: int) -> Tensor:
    """Token ids (B, n), one row for each of the batch; a Problem for another number of rows or an id not there."""
    if len(ids) not in (1, batch) or not 0 <= int(ids.min()) <= int(ids.max()) < count:
        raise Problem(
            "token={token} must be a token id from 0 to {last}, or one for each of {batch} rows",
            token=str(ids.squeeze().tolist())[:60],
            last=count - 1,
            batch=batch,
        )
    return ids.expand(batch, -1)


def row_ids(tokenizer: Any, token: TokenLike) -> Tensor:
    """Ids (B or 1, 1) of a token, or of one for each row."""
    return torch.as_tensor(token_id(tokenizer, token)).reshape(-1, 1)


def _set_ids(tokenizer: Any, token: TokenSet) -> Tensor:
    """Ids (B or 1, n) of a token or a set of them."""
    if isinstance(token, Set):
        if not token:
            raise Problem("the set of tokens is empty")
        return torch.tensor([sorted(int(token_id(tokenizer, one)) for one in token)])
    return row_ids(tokenizer, token)


def as_logit_sum(metric: Metric, tokenizer: Any) -> LogitSum:
    """The metric as a sum of logits; a Problem for one that is none."""
    if isinstance(metric, AttentionWeight) or callable(metric):
        raise Problem("a sum of parts is known of logits: give a token, or logit_diff(token, versus), as metric")
    return LogitSum.of_tokens(metric if isinstance(metric, LogitDiff) else LogitDiff(metric), tokenizer)


_P = ParamSpec("_P")
_T = TypeVar("_T")
_OLD_WORDS = {"token": "metric", "cells": "sites"}


def accept_old_words(*options: str) -> Callable[[Callable[_P, _T]], Callable[_P, _T]]:
    """Let a function of a `metric` be called by token=, versus= and cells= for one version more.

    `options` are the arguments that stood after its own by position, in their order.
    """

    def decorate(call: Callable[_P, _T]) -> Callable[_P, _T]:
        kinds = inspect.signature(call).parameters.values()
        names = [each.name for each in kinds if each.kind is each.POSITIONAL_OR_KEYWORD]

        @wraps(call)
        def renamed(*args: Any, **kwargs: Any) -> _T:
            if len(args) <= len(names) and not {"versus", *_OLD_WORDS} & kwargs.keys():
                return call(*args, **kwargs)
            warnings.warn(
                f"{call.__qualname__}: token= and versus= are metric=av.logit_diff(token, versus) now, cells= are "
                "sites=, and options are given by name",
                DeprecationWarning,
                stacklevel=2,
            )
            given = dict(zip((*names, *options), args, strict=False)) | kwargs
            given = {_OLD_WORDS.get(name, name): value for name, value in given.items()}
            if (versus := given.pop("versus", None)) is not None:
                given["metric"] = logit_diff(given["metric"], versus)
            return call(**given)  # type: ignore[call-arg]

        return renamed

    return decorate
