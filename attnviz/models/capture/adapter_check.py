"""Check that the installed transformers still has what the adapter relies on.

The check runs at the first capture. Without it, a version that renamed something would make every model look like one
without the interface: slower, weights only, and for no visible reason.
"""

from functools import cache
from typing import Any

import torch
from torch import nn

from attnviz.base.message import Problem
from attnviz.base.undocumented_dependency import Dependency, missing_dependencies
from attnviz.models.capture import adapter, attention_call
from attnviz.models.capture.attention_call import Answer, AttentionCall
from attnviz.models.capture.recorder import Recorder

_ADAPTER = "attnviz/models/capture/adapter.py"
_CALL = "attnviz/models/capture/attention_call.py"


@cache
def require_adapter() -> None:
    """Raise a Problem that names what transformers no longer has. Takes milliseconds, once a process."""
    for message in missing_dependencies(DEPENDENCIES) if adapter.INSTALLED else ():
        raise Problem(message.template, **message.params)


class _Probe(Recorder):
    """Records a pass and the keywords of its one layer."""

    def answer(self, module: nn.Module, call: AttentionCall, kwargs: dict[str, Any]) -> Answer:
        self.keywords = kwargs
        return super().answer(module, call, kwargs)


def _import_llama() -> Any:
    from transformers.models.llama import modeling_llama  # here: only needed when it comes to checking

    return modeling_llama


def _make_config(**settings: Any) -> Any:
    from transformers.configuration_utils import PretrainedConfig

    return PretrainedConfig(**settings)


def _record_probe() -> _Probe:
    """Record a Llama of one layer on three tokens, the first of them padding."""
    from transformers.models.llama.configuration_llama import LlamaConfig

    config = LlamaConfig(
        hidden_size=8, intermediate_size=8, num_hidden_layers=1, num_attention_heads=2, vocab_size=4, pad_token_id=None
    )
    # whoever captures may have set a seed, or another device
    with torch.random.fork_rng(devices=[]), torch.device("cpu"), torch.no_grad():
        model = _import_llama().LlamaModel(config).eval()
        probe = _Probe(model)
        with adapter.switch_implementation(model), attention_call.listen_to_calls(probe):
            model(input_ids=torch.tensor([[0, 1, 2]]), attention_mask=torch.tensor([[0, 1, 1]]), use_cache=False)
    return probe


def _config_can_be_written() -> bool:
    config = _make_config()
    setattr(config, adapter.WRITTEN, adapter.NAME)
    return getattr(config, adapter.READ) == adapter.NAME


def _transformers_dependency(what: str, purpose: str, holds: Any, user: str = _ADAPTER) -> Dependency:
    return Dependency("transformers", what, user, purpose, holds)


DEPENDENCIES: tuple[Dependency, ...] = (
    _transformers_dependency(
        f"PretrainedConfig.{adapter.READ}",
        "asking which attention function a model calls",
        lambda: getattr(_make_config(attn_implementation="eager"), adapter.READ) == "eager",
    ),
    _transformers_dependency(
        f"PretrainedConfig.{adapter.WRITTEN}",
        "putting our attention function in for as long as a capture runs",
        _config_can_be_written,
    ),
    _transformers_dependency(
        f"PreTrainedModel.{adapter.SERVES_FUSED}",
        "giving each family the masks that it takes",
        lambda: isinstance(getattr(_import_llama().LlamaModel, adapter.SERVES_FUSED), bool),
    ),
    _transformers_dependency(
        'AttentionInterface()["sdpa"]',
        "running a model on its fast path during a capture",
        lambda: callable(adapter.attention_function("sdpa")),
    ),
    _transformers_dependency(
        'AttentionMaskInterface()["sdpa"]',
        "making the masks of a capture",
        lambda: callable(adapter.mask_function("sdpa")),
    ),
    _transformers_dependency(
        'AttentionMaskInterface()["eager"]',
        "making the masks of families that add them",
        lambda: callable(adapter.mask_function("eager")),
    ),
    _transformers_dependency(
        "AttentionInterface.register and AttentionMaskInterface.register",
        "making our functions known",
        lambda: all(
            adapter.attention_function(name) is attention_call.attention
            and adapter.mask_function(name) in (attention_call.mask, attention_call.plain_mask)
            for name in adapter.OURS
        ),
    ),
    _transformers_dependency(
        f"{adapter.LOOKED_UP_IN}.get_interface in its modeling files",
        "telling which families look their attention function up",
        lambda: callable(getattr(_import_llama(), adapter.LOOKED_UP_IN).get_interface(adapter.NAME, None)),
    ),
    _transformers_dependency(
        f"{adapter.PLAIN} in its modeling files",
        "the weights of a layer that cannot be computed from its queries and keys",
        lambda: callable(getattr(_import_llama(), adapter.PLAIN)),
    ),
    _transformers_dependency(
        "attention layers that call the registered function with module, q, k, v, mask and scaling",
        "recording a layer",
        lambda: _record_probe().layers[0].qkv[0].shape == (1, 2, 3, 4) and "scaling" in _record_probe().keywords,
        _CALL,
    ),
    _transformers_dependency(
        "mask functions that are given config, attention_mask, kv_length and kv_offset",
        "telling padding from a mask's pattern",
        lambda: _record_probe().layers[0].mask_for(None)[0, 0, 0].tolist() == [False, True, True],
        _CALL,
    ),
)
