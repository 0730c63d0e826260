"""What a head may be looking for: patterns by name, or a function that marks the cells of a sentence's matrix."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from attnviz.core import measures
from attnviz.core.message import Problem, Several

#: token ids of one sentence, (T,) -> boolean (T, T): the keys that a head of this kind looks at from each query
Marks = Callable[[Tensor], Tensor]
HeadPattern = str | Marks

#: name -> weight on the pattern, (B, H, Q), given weights (B, H, Q, K), ids (B, K) and which keys are real (B, 1, K)
NAMED: dict[str, Callable[[Tensor, Tensor, Tensor | None], Tensor]] = {
    "previous_token": lambda weights, ids, keys: measures.previous_token_mass(weights, keys),
    "same_token": lambda weights, ids, keys: measures.same_token_mass(weights, keys),
    "next_token": lambda weights, ids, keys: measures.next_token_mass(weights, keys),
    "first_token": lambda weights, ids, keys: measures.first_token_mass(weights, keys),
    "duplicate_token": measures.duplicate_token_score,
    "induction": measures.induction_score,
}


def name_of(pattern: HeadPattern) -> str:
    """The name under which a pattern's scores are kept: a function's own name."""
    return pattern if isinstance(pattern, str) else getattr(pattern, "__name__", type(pattern).__name__)


def checked(patterns: Sequence[HeadPattern]) -> dict[str, HeadPattern]:
    """The patterns by name; a Problem for a name that is not known or comes twice, and for none at all."""
    if isinstance(patterns, str):
        patterns = (patterns,)
    found: dict[str, HeadPattern] = {}
    for pattern in patterns:
        name = name_of(pattern)
        if isinstance(pattern, str) and pattern not in NAMED:
            raise Problem("pattern={name} is not known; known are: {known}", name=pattern, known=Several(NAMED))
        if not isinstance(pattern, str) and not callable(pattern):
            raise Problem("pattern={pattern} must be a name or a function of the token ids", pattern=repr(pattern))
        if name in found:
            raise Problem("two patterns are called {name}", name=name)
        found[name] = pattern
    if not found:
        raise Problem("patterns is empty: name at least one of {known}", known=Several(NAMED))
    return found


def mass(pattern: HeadPattern, weights: Tensor, ids: Tensor, keys: Tensor | None) -> Tensor:
    """Weight (B, H, Q) that each row gives to the pattern's keys; NaN where the pattern has none for that row."""
    if isinstance(pattern, str):
        return NAMED[pattern](weights, ids, keys)
    marks = torch.stack([_marks(pattern, row) for row in ids]).to(weights.device)  # (B, T, T)
    if keys is not None:
        marks = marks & keys  # (B, 1, K)
    return measures.mass_on(weights, marks.unsqueeze(1))


def _marks(pattern: Marks, ids: Tensor) -> Tensor:
    made = torch.as_tensor(pattern(ids))
    wanted = (len(ids), len(ids))
    if tuple(made.shape) != wanted or made.dtype != torch.bool:
        raise Problem(
            "{name} returned {dtype} of shape {shape}; for {count} tokens it must return a boolean matrix of {count} "
            "rows and columns",
            name=name_of(pattern),
            dtype=made.dtype,
            shape=tuple(made.shape),
            count=len(ids),
        )
    return made
