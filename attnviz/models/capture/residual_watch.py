"""Watch the residual stream while a model runs, and see by its numbers what lies between a head and a logit.

No family is known by name: what a block does with its attention is told from the tensors that its parts were given.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import torch
from torch import Tensor, nn

from attnviz.base.message import Message, Problem
from attnviz.models.capture.forward_pass import (
    above,
    at_last,
    block_of,
    hooked,
    in_this_thread,
    is_hidden,
    modules_by_name,
)
from attnviz.models.capture.head_selection import wide
from attnviz.models.capture.output_projection import output_layer_of
from attnviz.models.capture.recorded_layer import RecordedLayer
from attnviz.models.capture.residual import LogitPath, Residual, measured_norm
from attnviz.models.capture.trace import Trace


@dataclass(frozen=True)
class Passage:
    """What one module was given and answered."""

    given: Tensor
    answered: Tensor | None


@dataclass
class ResidualWatch:
    """The hidden states that passed through the blocks of a model, their parts, and what comes after them."""

    model: nn.Module
    passed: dict[str, list[Passage]] = field(default_factory=dict)  # in the order of the modules' first answers

    @cached_property
    def _modules(self) -> dict[str, nn.Module]:
        return modules_by_name(self.model)

    @contextmanager
    def watching(self, wanted: bool) -> Iterator[None]:
        """Inside the block, what passes through the modules is kept, if it is wanted."""
        handles = (
            module.register_forward_hook(in_this_thread(partial(self._note, name)), with_kwargs=True)
            for name, module in self._modules.items()
            if wanted and module is not self.model and not isinstance(module, nn.ModuleList)
        )
        with hooked(handles):
            yield

    def _note(self, name: str, _: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """A hook that keeps what a module was given and answered."""
        given = next((t for t in (*args, *kwargs.values()) if is_hidden(t)), None)
        output = output[0] if isinstance(output, tuple | list) and output else output
        if given is not None:
            answered = output.detach() if is_hidden(output) else None
            self.passed.setdefault(name, []).append(Passage(given.detach(), answered))

    def added(self, trace: Trace, at: Tensor) -> Trace:
        """The trace with the stream of the pass that was watched; `at` is the last real position of each row, (B,)."""
        blocks = self._blocks(trace.layers)
        chain = [self.passed[name][0] for name in blocks]
        end = chain[-1].answered
        if end is None or any(each.given.shape != end.shape for each in chain):
            raise Problem("the blocks of this model do not hand on one residual stream; leave residual out")
        streams = (*(each.given for each in chain), end)
        path, why = None, self._attention_adds(trace.layers, blocks)
        if why is None:
            path, why = self._path(end, blocks, at_last(trace.logits, at), at)
        return replace(trace, residual=Residual(streams, path, why, tuple(blocks)), last=at)

    def _blocks(self, layers: tuple[RecordedLayer, ...]) -> list[str]:
        """The outermost numbered modules that hold the self-attention of one stack, in order of execution."""
        names = []
        for layer in layers:
            name = block_of(layer.name)
            if name is not None and name in self.passed and name not in names:
                names.append(name)
        if len(set(map(above, names))) != 1 or any(len(self.passed[name]) != 1 for name in names):
            raise Problem(
                "the residual stream is read in models with one list of blocks that each run once; leave residual out"
            )
        return sorted(names, key=lambda name: int(name.rpartition(".")[2]))

    def _attention_adds(self, layers: tuple[RecordedLayer, ...], blocks: list[str]) -> Message | None:
        """Why what the heads hand on is not simply added to the stream; None if it is, in every layer."""
        for layer in layers:
            block = block_of(layer.name)
            if block not in blocks or layer.kind != "self":
                return Message("{name} lies outside the blocks of the residual stream", {"name": layer.name})
            added = self._added_by(layer)
            if added is None:
                return Message(
                    "what the heads of {name} hand on is changed before or in its output projection, or that "
                    "projection was not found",
                    {"name": layer.name},
                )
            if not self._is_added(added, block):
                return Message(
                    "a norm or a factor stands between the attention of {name} and the residual stream",
                    {"name": layer.name},
                )
        return None

    def _added_by(self, layer: RecordedLayer) -> Tensor | None:
        """What the output projection answered, (B, Q, M), if it was given the heads' outputs as they are."""
        if layer.w_o is None or not layer.exact:
            return None
        last = layer.cropped(slice(-1, None), slice(None)).head_outputs()[:, :, 0].flatten(1)  # (B, H*Dv)
        projection = output_layer_of(self._modules[layer.name], self._modules.get(above(layer.name)), last.shape[1])
        name = next((name for name, module in self._modules.items() if module is projection), "")
        seen = self.passed.get(name, [])
        if len(seen) != 1 or seen[0].answered is None:
            return None
        expected = last @ wide(layer.w_o).mT + (0.0 if layer.b_o is None else wide(layer.b_o))
        return seen[0].answered if _close(seen[0].answered[:, -1], expected) else None

    def _is_added(self, added: Tensor, block: str) -> bool:
        """Whether what the block handed on is the stream, `added`, and the answer of one other part or nothing."""
        whole = self.passed[block][0]
        if whole.answered is None or whole.given.shape != added.shape:
            return False
        after = wide(whole.given) + wide(added)
        parts = [each for name, seen in self.passed.items() if name.startswith(f"{block}.") for each in seen]
        rest = wide(whole.answered) - after  # what the feed-forward part adds, beside attention or after it
        allowed = _rounding(whole.answered.dtype) * wide(whole.answered).abs().amax(-1)  # (B, Q)
        answers = [each.answered for each in parts if each.answered is not None and each.answered.shape == rest.shape]
        return any(bool(((wide(each) - rest).abs().amax(-1) <= allowed).all()) for each in (*answers, 0.0 * rest))

    def _path(
        self, end: Tensor, blocks: list[str], logits: Tensor | None, at: Tensor
    ) -> tuple[LogitPath | None, Message | None]:
        """The final norm and the unembedding, if together they give the model's own logits."""
        norm = self._norm_after(end, blocks)
        unembedding = _unembedding(self.model)
        if norm is None or unembedding is None:
            return None, Message("the final norm or the unembedding of this model was not found")
        if logits is None:
            return None, Message('logits must be asked for, as "last" or "all"')
        name, module, after = norm
        measured = measured_norm(module, end, after)
        if measured is None:
            return None, Message("the final norm of this model is not one whose scale can be held fixed")
        matrix, bias = unembedding
        made = wide(after[torch.arange(len(end), device=end.device), at]) @ wide(matrix).mT
        given = wide(logits) - (0.0 if bias is None else wide(bias))
        factor = float((given * made).sum() / (made * made).sum())
        if not _close(given, made * factor, 100.0):
            return None, Message("the model does something to its logits that is not a product with a number")
        return LogitPath(*measured, matrix, 1.0 if abs(factor - 1) < 1e-4 else factor, name), None

    def _norm_after(self, end: Tensor, blocks: list[str]) -> tuple[str, nn.Module, Tensor] | None:
        """The module outside the blocks that was given the end of the stream, and its answer."""
        for name, seen in self.passed.items():
            module = self._modules[name]
            if name.startswith(f"{above(blocks[0])}.") or any(True for _ in module.children()):
                continue
            for each in seen:
                same = each.given.shape == end.shape and torch.equal(each.given, end)
                if same and each.answered is not None and each.answered.shape == end.shape:
                    return name, module, each.answered
        return None


def _rounding(dtype: torch.dtype) -> float:
    return 1e-5 if dtype in (torch.float32, torch.float64) else 1e-2


def _close(one: Tensor, other: Tensor, times: float = 10.0) -> bool:
    """Whether two tensors differ by no more than rounding."""
    allowed = times * _rounding(one.dtype)
    return one.shape == other.shape and float((wide(one) - wide(other)).abs().max()) <= allowed * (
        1e-6 + float(wide(other).abs().max())
    )


def _unembedding(model: nn.Module) -> tuple[Tensor, Tensor | None] | None:
    """Matrix (V, M) and bias of the output layer."""
    ask = getattr(model, "get_output_embeddings", None)
    layer = ask() if callable(ask) else getattr(model, "lm_head", None)
    weight = getattr(layer, "weight", None)
    if not isinstance(layer, nn.Linear) or not isinstance(weight, Tensor) or not weight.is_floating_point():
        return None
    return weight.detach(), None if layer.bias is None else layer.bias.detach()
