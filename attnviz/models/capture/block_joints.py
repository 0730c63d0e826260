"""How a block joins what its parts answer to the residual stream, told from the numbers that passed through them.

No family is known by name. What is tried: parts that are added as they are, one after the other or side by side
(Llama, GPT-2, GPT-NeoX); a norm between a part and the stream (Gemma 2, OLMo 2); a factor there (Granite); and norms
on the stream itself (BERT).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

import torch
from torch import Tensor, nn

from attnviz.models.capture.frozen_map import Frozen, measured_norm
from attnviz.models.capture.head_selection import wide


@dataclass(frozen=True)
class Passage:
    """What one module was given and answered: hidden states (B, Q, M), or (B*Q, M)."""

    name: str
    module: nn.Module
    given: Tensor
    answered: Tensor

    def as_norm(self) -> Frozen | None:
        """The module as a norm, if it is one."""
        larger = any(True for _ in self.module.children()) or any(p.dim() > 1 for p in self.module.parameters())
        if larger or self.given.shape != self.answered.shape:
            return None
        return measured_norm(self.name, self.module, self.given, self.answered)

    def like(self, stream: Tensor) -> "Passage":
        """The same with what it was given and answered in the shape of the stream, where they have its size."""
        given, answered = (t.view_as(stream) if t.numel() == stream.numel() else t for t in (self.given, self.answered))
        return replace(self, given=given, answered=answered)


@dataclass(frozen=True)
class Joint:
    """What stands between a block's parts and the stream, by place; and which part adds to it beside attention."""

    maps: dict[str, Frozen]
    mlp: str = ""


def joint_of(block: Passage, attention: Tensor, parts: list[Passage]) -> Joint | None:
    """How the block came from what it was given to what it answered, `attention` being what that part answered."""
    change = wide(block.answered) - wide(block.given)
    for norm, added in ((None, attention), *_normed(attention, parts)):
        rest = change - wide(added)
        for name, answer in (("", torch.zeros_like(rest)), *((part.name, part.answered) for part in parts)):
            if _same(answer, rest, block.answered):
                return Joint({} if norm is None else {"attention": norm}, name)
    return _by_factors(change, attention, parts, block) or _norms_on_the_stream(block, attention, parts)


def _normed(attention: Tensor, parts: list[Passage]) -> Iterator[tuple[Frozen, Tensor]]:
    """The norms that were given what attention answered, with their answers."""
    for part in parts:
        if part.given.shape == attention.shape and torch.equal(part.given, attention):
            norm = part.as_norm()
            if norm is not None:
                yield norm, part.answered


def _by_factors(change: Tensor, attention: Tensor, parts: list[Passage], block: Passage) -> Joint | None:
    """The two parts added after each was multiplied by a number: least squares in two unknowns."""
    one = wide(attention)
    for part in parts:
        both = torch.stack([one.flatten(), wide(part.answered).flatten()])  # (2, N)
        gram = both @ both.mT
        if torch.linalg.det(gram) <= 1e-6 * gram[0, 0] * gram[1, 1]:
            continue
        factors = torch.linalg.solve(gram, both @ change.flatten())
        if _same((factors @ both).view_as(change), change, block.answered):
            return Joint({"attention": Frozen(part.name, gain=factors[:1])}, part.name)
    return None


def _norms_on_the_stream(block: Passage, attention: Tensor, parts: list[Passage]) -> Joint | None:
    """A norm of the stream after attention was added, and another at the end of the block."""
    after = wide(block.given) + wide(attention)
    middles = [part for part in parts if _same(part.given, after, part.given)]
    ends = [part for part in parts if _same(part.answered, block.answered, block.answered)]
    for middle, end in product(middles, ends):
        norms = middle.as_norm(), end.as_norm()
        if norms[0] is not None and norms[1] is not None:
            rest = wide(end.given) - wide(middle.answered)
            mlp = next((part.name for part in parts if _same(part.answered, rest, end.given)), None)
            if mlp is not None:
                return Joint({"middle": norms[0], "end": norms[1]}, mlp)
    return None


def _same(one: Tensor, other: Tensor, stream: Tensor) -> bool:
    """Whether two tensors (B, Q, M) differ by no more than a sum with the stream is rounded."""
    if one.shape != other.shape:
        return False
    allowed = rounding(stream.dtype) * wide(stream).abs().amax(-1)  # (B, Q)
    return bool(((wide(one) - wide(other)).abs().amax(-1) <= allowed).all())


def rounding(dtype: torch.dtype) -> float:
    """The share of a number that may be lost where others are added to it."""
    return 1e-5 if dtype in (torch.float32, torch.float64) else 1e-2


def close(one: Tensor, other: Tensor, times: float = 10.0) -> bool:
    """Whether two tensors differ by no more than rounding."""
    allowed = times * rounding(one.dtype)
    return one.shape == other.shape and float((wide(one) - wide(other)).abs().max()) <= allowed * (
        1e-6 + float(wide(other).abs().max())
    )
