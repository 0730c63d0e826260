"""Models taken apart by torch alone: norms are frozen, and what parts hand on is cut off as leaves of the graph."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.testing import assert_close


def frozen(module: nn.Module, given: tuple[Tensor, ...], answered: Tensor) -> Tensor:
    """A norm whose scale takes no gradient, written from its formula and held to what the module answered."""
    x, kind = given[0], type(module).__name__
    if "LayerNorm" in kind and "T5" not in kind:
        x = x - x.mean(-1, keepdim=True)
    eps = getattr(module, "eps", None) or getattr(module, "variance_epsilon", None)
    x = x * (x.square().mean(-1, keepdim=True) + eps).rsqrt().detach()
    x = x * (1 + module.weight if "Gemma" in kind else module.weight)
    x = x if getattr(module, "bias", None) is None else x + module.bias
    assert_close(x, answered, rtol=1e-4, atol=1e-4)
    return x


@contextmanager
def leaves_of(
    model: nn.Module, given: dict[Any, str], answered: dict[Any, str], instead: Iterator[Tensor] | None = None
) -> Iterator[dict[Any, Tensor]]:
    """Leaves by name: what some modules are given, what others answer, and what embeddings do.

    `given` and `answered` hold modules by the names of parts. `instead` has other numbers for what is given.
    """
    leaves: dict[Any, Tensor] = {}

    def leaf(name: Any, value: Tensor) -> Tensor:
        leaves[name] = value.detach().requires_grad_()
        return leaves[name].clone()  # Falcon adds to it in place

    def before(part: Any) -> Any:
        return lambda _m, x: (leaf(part, x[0] if instead is None else next(instead)), *x[1:])

    def after(part: Any) -> Any:
        return lambda _m, _x, y: (leaf(part, y[0]), *y[1:]) if isinstance(y, tuple) else leaf(part, y)

    with ExitStack() as stack:
        for name, module in model.named_modules():
            if type(module).__name__.endswith("Norm"):
                stack.callback(module.register_forward_hook(frozen).remove)
            elif isinstance(module, nn.Embedding):
                stack.callback(module.register_forward_hook(after(name)).remove)
        for part, name in given.items():
            stack.callback(model.get_submodule(name).register_forward_pre_hook(before(part)).remove)
        for part, name in answered.items():
            stack.callback(model.get_submodule(name).register_forward_hook(after(part)).remove)
        yield leaves


def values_of(model: nn.Module, given: dict[Any, str], answered: dict[Any, str], run: Any) -> dict[Any, Tensor]:
    """What these modules are given and answer in a pass, by the names of parts."""
    with leaves_of(model, given, answered) as leaves:
        run()
    return {part: leaves[part].detach() for part in (*given, *answered)}


def slopes_times_values(number: Tensor, model: nn.Module, leaves: dict[Any, Tensor]) -> dict[Any, Tensor]:
    """What each leaf and each bias adds to a number that is linear in them."""
    named = model.named_parameters(remove_duplicate=False)
    every = leaves | {name: each for name, each in named if name.endswith("bias") and each.dim() == 1}
    slopes = torch.autograd.grad(number, list(every.values()), allow_unused=True, retain_graph=True)
    pairs = zip(every.items(), slopes, strict=True)
    return {name: (slope * value).detach() for (name, value), slope in pairs if slope is not None}
