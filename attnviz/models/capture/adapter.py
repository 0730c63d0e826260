"""Switch transformers models to our attention function: all use of private transformers names is here.

A model that the app loads is adopted: it calls our function for good. A model from outside is switched when its first
capture starts, and restored exactly when its last one ends, however it ends.

transformers has a public `set_attn_implementation`. It was tried on 440 families of 5.23.0 that use the interface: it
did not restore 25 exactly, missed configs of 13, and sets one name where 38 need two. So it only adopts. Configs that
it misses are written one by one, as all are when a model is switched for a while. `adapter_check` checks that the
private names exist.
"""

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from threading import Condition
from typing import Any

from torch import nn

from attnviz.base.message import Problem

INSTALLED = find_spec("transformers") is not None  #: where it is not, no model can be one of its own

log = logging.getLogger("attnviz")

NAME = "attnviz"
#: for families that torch's fused attention does not serve: their code relies on additive masks that are always there
NAME_PLAIN = "attnviz_plain"
OURS = (NAME, NAME_PLAIN)

#: functions that every family can be built with and that need no other package; transformers' choice is one of them
BUILT_IN = (None, "eager", "sdpa")
EXPERTS = "_experts_implementation"  #: the same for a mixture's experts, where `BUILT_IN_EXPERTS` need nothing else
BUILT_IN_EXPERTS = (None, "eager", "batched_mm", "grouped_mm")

READ = "_attn_implementation"  #: what every attention layer asks its config for
WRITTEN = "_attn_implementation_internal"  #: where the config keeps it; `READ` can be set too, but sets sub-configs
SERVES_FUSED = "_supports_sdpa"  #: whether the family's masks go with torch's fused attention
LOOKED_UP_IN = "ALL_ATTENTION_FUNCTIONS"  #: the name under which a modeling file has the interface
PLAIN = "eager_attention_forward"  #: the family's own attention, beside it

Function = Callable[..., Any]


@dataclass
class _SwitchedConfig:
    """A config of a model from outside that is switched to our function while it has `users`."""

    config: Any
    original: str | None
    current: str
    users: int


_switch_condition = Condition()
_switched_configs: dict[int, _SwitchedConfig] = {}  # by id(config); the entry keeps its config alive


_our_functions: dict[str, tuple[Function, Function]] = {}  # attention and mask, by the name they are registered under


def register(attention: Function, mask: Function, plain_mask: Function) -> None:
    """Register our functions with transformers as soon as a model is adopted or switched."""
    _our_functions[NAME] = (attention, mask)
    _our_functions[NAME_PLAIN] = (attention, plain_mask)


@cache
def _interfaces() -> tuple[Any, Any]:
    """transformers' attention and mask interfaces, with our functions registered.

    Imported at first use: importing transformers takes seconds, and most pages and commands run no model.
    """
    # by module: the package's own names are missing while another thread is still importing it
    from transformers.masking_utils import AttentionMaskInterface
    from transformers.modeling_utils import AttentionInterface

    for name, (attention, mask) in _our_functions.items():
        AttentionInterface.register(name, attention)
        AttentionMaskInterface.register(name, mask)
    return AttentionInterface, AttentionMaskInterface


def is_transformers(model: nn.Module) -> bool:
    """Whether the model is one of transformers' own."""
    base = getattr(sys.modules.get("transformers.modeling_utils"), "PreTrainedModel", None)
    return base is not None and isinstance(model, base)


def attention_function(name: str) -> Function:
    """transformers' own attention function of that name, such as "sdpa"."""
    function = _interfaces()[0]().get(name)
    if function is None:
        raise Problem("transformers no longer has an attention function {name}", name=name)
    return function


def mask_function(name: str | None) -> Function:
    """transformers' own mask function for attention `name`; where it has none, a function that returns None."""
    function = _interfaces()[1]().get(name)
    if function is None and name in ("sdpa", "eager"):
        raise Problem("transformers no longer has a mask function {name}", name=name)
    return function or (lambda *args, **kwargs: None)


def plain_function(module: nn.Module) -> Function:
    """The family's own eager attention, which returns its weights."""
    function = getattr(_modeling_file(module), PLAIN, None)
    if function is None:
        raise Problem("{model} no longer has {what}", model=type(module).__module__, what=PLAIN)
    return function


def original_function(module: nn.Module) -> Function:
    """The function that an attention layer called before a running capture switched its model."""
    file = _modeling_file(module)
    return (getattr(file, LOOKED_UP_IN, None) or _interfaces()[0]()).get_interface(
        original_implementation(module), getattr(file, PLAIN, None)
    )


def uses_interface(model: nn.Module) -> bool:
    """Whether any of the model's code looks its attention function up where ours is registered."""
    files = {type(module).__module__ for module in model.modules()}
    return any(hasattr(sys.modules.get(file), LOOKED_UP_IN) for file in files)


def adopt(model: nn.Module) -> nn.Module:
    """Have `model` call our attention function from now on; it records only inside `capture`.

    A model of a family that does not ask for its attention function is left as it is.
    """
    if not uses_interface(model):
        return model
    _interfaces()
    wanted = replace_names(model)
    with _switch_condition:
        if not any(id(config) in _switched_configs for config, _ in wanted):
            _call_public_setter(model, wanted)
        for config, name in wanted:
            if id(config) in _switched_configs:  # by a running capture, which leaves behind what it finds here
                _switched_configs[id(config)].original = name
            else:
                _write_implementation(config, name)
    return model


def reset_implementation(config: Any) -> None:
    """Clear an implementation that a config.json names and that needs another package; transformers then chooses.

    The attention becomes ours anyway. With the package `kernels` installed, a name such as "flash_attention_2" would
    make transformers fetch and run a kernel from the hub.
    """
    for read, built_in in ((READ, BUILT_IN), (EXPERTS, BUILT_IN_EXPERTS)):
        if any(getattr(sub_config, read, None) not in built_in for sub_config in _iterate_configs(config)):
            setattr(config, read, None)  # and in all configs inside it


def _iterate_configs(config: Any) -> Iterator[Any]:
    """The config and all that are in it."""
    yield config
    for name in getattr(config, "sub_configs", ()):
        inside = getattr(config, name, None)
        if inside is not None:
            yield from _iterate_configs(inside)


def _call_public_setter(model: nn.Module, wanted: list[tuple[Any, str]]) -> None:
    """Call transformers' public setter where it can serve; see the module's docstring for what it misses."""
    public = getattr(model, "set_attn_implementation", None)
    if public is not None and len({name for _, name in wanted}) == 1:
        try:
            public(wanted[0][1])
        except ValueError as error:
            log.debug("set_attn_implementation refused %s: %s", type(model).__name__, error)


def replace_names(model: nn.Module) -> list[tuple[Any, str]]:
    """Each config object that a module of the model reads, once, with our function's name for its family."""
    fused: dict[int, tuple[Any, bool]] = {}
    for module in model.modules():
        config = getattr(module, "config", None)
        if hasattr(config, READ):
            serves = bool(getattr(module, SERVES_FUSED, False))
            fused[id(config)] = (config, serves or fused.get(id(config), (None, False))[1])
    return [(config, NAME if serves else NAME_PLAIN) for config, serves in fused.values()]


def original_implementation(owner: Any) -> str | None:
    """The implementation a module (or a config) had before a running capture switched it over."""
    config = getattr(owner, "config", owner)
    entry = _switched_configs.get(id(config))
    return entry.original if entry is not None else getattr(config, READ, NAME)


@contextmanager
def switch_implementation(model: nn.Module, name: str | None = None) -> Iterator[None]:
    """Make `model` run our functions, or implementation `name`, inside the block; equal blocks may overlap.

    Every config counts as switched while the block lasts, even if it names the function already: before the lock is
    taken, that name may come from another block.
    """
    wanted = [(config, name or replacement) for config, replacement in replace_names(model)]
    if wanted:
        _interfaces()
    taken: list[Any] = []
    try:
        with _switch_condition:
            # until no other block has one of them as something else
            _switch_condition.wait_for(
                lambda: all(_switched_configs[id(c)].current == now for c, now in wanted if id(c) in _switched_configs)
            )
            for config, now in wanted:
                if id(config) not in _switched_configs:
                    # before it is written: whoever runs the model meanwhile, without the lock, knows what it was
                    _switched_configs[id(config)] = _SwitchedConfig(config, getattr(config, READ), now, 0)
                _switched_configs[id(config)].users += 1
                taken.append(config)
                _write_implementation(config, now)
        yield
    finally:
        with _switch_condition:
            for config in taken:
                entry = _switched_configs[id(config)]
                entry.users -= 1
                if entry.users == 0:
                    _write_implementation(config, entry.original)
                    del _switched_configs[id(config)]
            _switch_condition.notify_all()


def _write_implementation(config: Any, name: str | None) -> None:
    """Write the implementation's name into a config; raises a Problem if reading it back gives another."""
    if getattr(config, READ) != name:
        setattr(config, WRITTEN, name)
    if getattr(config, READ, None) != name:
        raise Problem(
            "{config} no longer takes the name of an attention function in {what}: its attention cannot be recorded",
            config=type(config).__name__,
            what=WRITTEN,
        )


def _modeling_file(module: nn.Module) -> Any:
    """Module object of the modeling file that defines a layer."""
    return sys.modules[type(module).__module__]
