"""Helpers to run a torch model for its attention and the requested logits only, and to hook its modules.

A compiled model runs uncompiled: the weights are the same, and every attention call can be seen.
"""

import inspect
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from attnviz.base.message import Problem

Logits = Literal["last", "all"] | None


_WRAPPED = "_orig_mod"  #: where torch.compile keeps the module that it wraps, also in the names of what is below

_lock = threading.Lock()
_stances: list[Any] = []  # the stance that was taken, once for all who need it, and one entry for each of them


def unwrap_model(model: Any) -> nn.Module:
    """The torch module inside a compiled or loaded model; raises a Problem if there is none."""
    if not isinstance(model, nn.Module) and isinstance(getattr(model, "model", None), nn.Module):
        model = model.model
    if not isinstance(model, nn.Module):
        raise Problem("{given} is neither a model nor a method of one", given=repr(model)[:60])
    inner: Any = getattr(model, _WRAPPED, model)
    adapter = getattr(inner, "active_peft_config", None)
    if adapter is not None and not adapter.is_prompt_learning:  # what it adds lies inside the model that it wraps
        inner = inner.get_base_model()
    return inner if isinstance(inner, nn.Module) else model


def input_device(model: nn.Module) -> torch.device:
    """Device of what the model is given; an offloaded model brings it to where it computes."""
    devices = (parameter.device for parameter in model.parameters() if not parameter.is_meta)
    return next(devices, torch.device("cpu"))


def modules_by_name(model: nn.Module) -> dict[str, nn.Module]:
    """All modules by their dotted names in the uncompiled model."""
    return {plain_name(name): module for name, module in model.named_modules()}


def plain_name(name: str) -> str:
    """Dotted name of a module in the uncompiled model."""
    return ".".join(segment for segment in name.split(".") if segment != _WRAPPED)


def parent_name(name: str) -> str:
    """Dotted name of the parent module."""
    return name.rpartition(".")[0]


def is_within(name: str, ancestor: int | str) -> bool:
    """Whether a module is `ancestor` or inside it, by their dotted names."""
    return name == ancestor or (isinstance(ancestor, str) and name.startswith(f"{ancestor}."))


def has_two_stacks(model: nn.Module | None) -> bool:
    """Whether the model's config says that it is an encoder-decoder."""
    return bool(getattr(getattr(model, "config", None), "is_encoder_decoder", False))


def is_hidden(value: Any) -> bool:
    """Whether `value` has the shape of hidden states, (B, Q, M)."""
    return isinstance(value, Tensor) and value.dim() == 3 and value.is_floating_point()


def replace_hidden(
    name: str, change: Callable[[Tensor], Tensor], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments of a module with `change` applied to the first hidden states among them, wherever they stand."""
    hidden = next((value for value in (*args, *kwargs.values()) if is_hidden(value)), None)
    several = bool(args) and isinstance(args[0], Tensor) and args[0].dim() > 3  # streams side by side, as in Gemma 3n
    if hidden is None or several:
        raise Problem("{name} is not given a residual stream", name=name)
    new = change(hidden)  # CTRL's attention is given one tensor three times, as queries, keys and values
    others = {key: new if value is hidden else value for key, value in kwargs.items()}
    return tuple(new if value is hidden else value for value in args), others


def block_name(name: str) -> str | None:
    """Dotted name up to the first number; None without a number."""
    segments = name.split(".")
    first = next((index for index, segment in enumerate(segments) if segment.isdigit()), None)
    return None if first is None else ".".join(segments[: first + 1])


@contextmanager
def attach_hooks(handles: Iterable[RemovableHandle]) -> Iterator[None]:
    """Remove hooks at the end of the block, even if the generator of `handles` fails midway."""
    with ExitStack() as stack:
        for handle in handles:
            stack.enter_context(handle)
        yield


def this_thread_only(hook: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a hook so that it does nothing in other threads: one model serves many at once."""
    owner = threading.get_ident()
    return lambda *args: hook(*args) if threading.get_ident() == owner else None


@contextmanager
def disable_compile(model: nn.Module, always: bool = False) -> Iterator[None]:
    """Run compiled modules of `model` uncompiled inside the block; overlapping blocks are counted.

    `always` also covers what the model compiles while it runs.
    """
    # without this module nothing was compiled in this process
    if not always and ("torch._dynamo" not in sys.modules or not any(map(_is_compiled, model.modules()))):
        yield
        return
    with _lock:
        if not _stances:
            _stances.append(torch.compiler.set_stance("force_eager"))
            _stances[0].__enter__()
        _stances.append(None)
    try:
        yield
    finally:
        with _lock:
            _stances.pop()
            if len(_stances) == 1:
                _stances.pop().__exit__(None, None, None)


def _is_compiled(module: nn.Module) -> bool:
    return (
        hasattr(module, _WRAPPED)
        or getattr(module, "_compiled_call_impl", None) is not None
        or hasattr(vars(module).get("forward"), "_torchdynamo_orig_callable")
    )


def pass_arguments(model: nn.Module, logits: Logits, inputs: dict[str, Any]) -> tuple[nn.Module, dict[str, Any]]:
    """Module to run and its arguments, without a cache and without logits that are not needed."""
    for name in ("input_ids", "decoder_input_ids"):
        ids = inputs.get(name)
        if isinstance(ids, Tensor) and (ids.dim() < 2 or ids.shape[1] == 0):
            raise Problem(
                "{name} has shape {shape}; it must be (batch, length), not empty: one sentence is a batch of 1",
                name=name,
                shape=tuple(ids.shape),
            )
    module = _backbone(model, inputs) if logits is None else model
    accepted, arguments = _forward_parameters(module), dict(inputs)
    if "use_cache" in accepted and "past_key_values" not in inputs:
        arguments.setdefault("use_cache", False)
    chosen = "logits_to_keep" in arguments or arguments.get("labels") is not None  # a loss needs every position's
    if logits == "last" and "logits_to_keep" in accepted and not chosen:
        arguments["logits_to_keep"] = _logit_positions(inputs)
    return module, arguments


def select_ids_and_masks(inputs: dict[str, Any]) -> dict[str, Tensor]:
    """The arguments that a trace stores: all tensors but floating-point ones, by name."""
    return {
        name: value for name, value in inputs.items() if isinstance(value, Tensor) and not value.is_floating_point()
    }


def select_logits(output: Any, logits: Logits, model: nn.Module, inputs: dict[str, Any]) -> Tensor | None:
    """Logits of an output: (B, V) for "last", (B, Q, V) for "all"; None if the model has none."""
    every = getattr(output, "logits", None)
    if logits is None or not isinstance(every, Tensor):
        return None
    if logits == "all" or every.dim() != 3:
        return every
    if every.shape[1] == 1:
        return every[:, 0]
    last, positions = last_positions(inputs, model, every.shape[1]), _logit_positions(inputs)
    if (
        isinstance(positions, Tensor)
        and len(positions) == every.shape[1]
        and "logits_to_keep" in _forward_parameters(model)
    ):
        last = torch.searchsorted(positions, last)
    return logits_at(every, last)


def last_positions(inputs: dict[str, Any], model: nn.Module | None, length: int) -> Tensor:
    """Position of each row's last real token among `length` queries, (B,)."""
    ids, two_stacks = _find_ids(inputs), has_two_stacks(model)
    mask = inputs.get("decoder_attention_mask" if two_stacks else "attention_mask")
    if not isinstance(mask, Tensor) or mask.dim() != 2 or ids is None or bool(mask[:, -1].all()):
        return torch.full((1 if ids is None else len(ids),), length - 1, device=None if ids is None else ids.device)
    before = 0 if two_stacks else mask.shape[1] - ids.shape[1]  # tokens that are already in the cache
    return (torch.arange(mask.shape[1], device=mask.device) * mask.bool()).argmax(-1) - before


def logits_at(logits: Tensor | None, positions: Tensor) -> Tensor | None:
    """Logits (B, V) or (B, Q, V) at one position of each row, (B, V)."""
    if logits is None or logits.dim() == 2:
        return logits
    return logits[torch.arange(len(logits), device=logits.device), positions.to(logits.device)]


def _forward_parameters(model: nn.Module) -> Any:
    return inspect.signature(model.forward).parameters


def _backbone(model: nn.Module, inputs: dict[str, Any]) -> nn.Module:
    """The model without its output layer, if its base model accepts the same inputs; otherwise the whole model."""
    base = getattr(model, "base_model", model)
    return base if isinstance(base, nn.Module) and set(inputs) <= set(_forward_parameters(base)) else model


def _logit_positions(inputs: dict[str, Any]) -> int | Tensor:
    """Value for `logits_to_keep`: the positions at which a row of the batch ends.

    It is a tensor even for one position, because Gemma 4 drops the other queries from its last layers when it
    is a number.
    """
    ids = _find_ids(inputs)
    return 1 if ids is None else last_positions(inputs, None, ids.shape[1]).unique()


def _find_ids(inputs: dict[str, Any]) -> Tensor | None:
    return next(
        (value for name in ("input_ids", "inputs_embeds") if isinstance(value := inputs.get(name), Tensor)), None
    )
