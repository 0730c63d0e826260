"""What stands before the residual stream and after it, told from what passed: embeddings, final norm, output head."""

from dataclasses import replace

import torch
from torch import Tensor, nn

from attnviz.base.message import Problem
from attnviz.models.capture.block_joints import Passage, close, rounding
from attnviz.models.capture.forward_pass import modules_by_name
from attnviz.models.capture.frozen_map import ACTIVATIONS, Frozen, picked
from attnviz.models.capture.head_selection import wide
from attnviz.models.capture.residual import LogitPath


def path_of(model: nn.Module, end: Tensor, outside: list[Passage], logits: Tensor | None, at: Tensor) -> LogitPath:
    """What leads from the end of the stream (B, Q, M) to the logits (B, V) at positions (B,); a Problem where what
    was found does not give the model's own.
    """
    ask = getattr(model, "get_output_embeddings", None)
    layer = ask() if callable(ask) else getattr(model, "lm_head", None)
    weight = getattr(layer, "weight", None)
    if not isinstance(layer, nn.Linear) or not isinstance(weight, Tensor) or not weight.is_floating_point():
        raise Problem("it predicts no tokens: it has no output layer over a vocabulary, or none that is known as such")
    if logits is None:
        raise Problem('logits must be asked for, as "last" or "all"')
    head = [each for each in outside if each.module is not layer]
    steps, last = _steps(end, head)
    output = next(name for name, module in modules_by_name(model).items() if module is layer)
    path = LogitPath(steps, weight.detach(), None if layer.bias is None else layer.bias.detach(), output=output)
    made = picked(last, at[:, None])[:, 0] @ wide(weight.detach()).mT
    bias = torch.zeros(1, device=made.device) if path.bias is None else wide(path.bias)
    times = 100.0 if rounding(logits.dtype) < 1e-3 else 3.0
    config = getattr(model, "config", None)
    cap = getattr(config.get_text_config(), "final_logit_softcapping", None) if config is not None else None
    capped = replace(path, softcap=cap)
    if cap is not None and close(capped.capped(made + bias).to(logits.dtype), logits, times):
        return capped
    factor = float(((wide(logits) - bias) * made).sum() / (made * made).sum())
    if not close((made * factor + bias).to(logits.dtype), logits, times):
        if any(each.given.dim() == 3 and each.given.shape[1] < end.shape[1] for each in head):
            raise Problem('only some positions went through its output head: capture with logits="all"')
        raise Problem("the model does something to its logits that is neither a product with a number nor a soft-cap")
    return replace(path, factor=1.0 if abs(factor - 1) < 10 * rounding(logits.dtype) else factor)


def _steps(end: Tensor, outside: list[Passage]) -> tuple[tuple[Frozen, ...], Tensor]:
    """The norms, layers and activations after the end of the stream, and what the last of them answered."""
    steps: list[Frozen] = []
    while (found := _next(end, outside)) is not None and len(steps) < len(outside):
        steps.append(found[0])
        end = found[1]
    return tuple(steps), end


def _next(now: Tensor, outside: list[Passage]) -> tuple[Frozen, Tensor] | None:
    """The module that was given these hidden states, as a map, with its answer; or the activation between two."""
    leaves = [each for each in outside if not any(True for _ in each.module.children())]
    for each in leaves:
        if each.given.shape != now.shape or not torch.equal(each.given, now):
            continue
        if isinstance(each.module, nn.Linear):
            bias = each.module.bias
            weight = each.module.weight.detach()
            return Frozen(each.name, matrix=weight, bias=None if bias is None else bias.detach()), each.answered
        norm = each.as_norm()
        if norm is not None and not torch.equal(each.given, each.answered):
            return norm, each.answered
    for each in leaves:
        bent = _activation(now, each.given) if each.given.shape == now.shape else None
        if bent is not None:
            return bent, each.given
    return None


def _activation(given: Tensor, answered: Tensor) -> Frozen | None:
    """The function of each number that makes the one of the other, by its slopes there; None for none that is known."""
    for name, function in ACTIVATIONS.items():
        if close(function(given), answered):
            point = wide(given).detach().requires_grad_()
            with torch.enable_grad():
                (slopes,) = torch.autograd.grad(function(point).sum(), point)
            return Frozen("remainder", scale=slopes, bias=wide(answered) - slopes * wide(given), function=name)
    return None


def start_of(
    model: nn.Module, first: Tensor, outside: list[Passage], tables: dict[str, Tensor]
) -> tuple[Frozen | None, dict[str, Tensor]]:
    """The norm between the embeddings and the stream's first place, and the vectors that are added to the tokens' own,
    by the names of their tables; neither where the stream begins in another way.
    """
    ask = getattr(model, "get_input_embeddings", None)
    own = ask() if callable(ask) else None
    names = modules_by_name(model)
    others = {name: each for name, each in tables.items() if names[name] is not own}
    token = next((each for name, each in tables.items() if names[name] is own), None)
    if token is None:
        return None, {}
    for norm in (
        None,
        *(each for each in outside if each.answered.shape == first.shape and torch.equal(each.answered, first)),
    ):
        target = first if norm is None else norm.given
        if _is_sum(target, token, others):
            measured = None if norm is None else norm.as_norm()
            if norm is None or measured is not None:
                return measured, {_kind(name): each for name, each in others.items()}
    return None, {}


def _is_sum(target: Tensor, token: Tensor, others: dict[str, Tensor]) -> bool:
    """Whether vectors (B, Q, M) are the tokens' own, times a number, and the others."""
    if any(each.shape[1:] != target.shape[1:] for each in (token, *others.values())):
        return False
    others_sum = sum((wide(each) for each in others.values()), torch.zeros_like(wide(token)))
    factor = ((wide(target) - others_sum) * wide(token)).sum() / wide(token).square().sum().clamp_min(1e-30)
    return close((factor * wide(token) + others_sum).to(target.dtype), target, 2.0)


def _kind(name: str) -> str:
    """The name under which the vectors of a table are counted: "positions" for those of places in the sentence."""
    last = name.rpartition(".")[2]
    return "positions" if "pos" in last or last == "wpe" else name
