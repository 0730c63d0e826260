"""The attention and mask functions that transformers calls, registered under a name of our own.

Nothing is recorded unless the calling thread has set `listener`: one model serves many sessions.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Protocol

import torch
from torch import Tensor, nn

# by module: the package's own names are missing while another thread is still importing it
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import (
    ALL_MASK_ATTENTION_FUNCTIONS,
    AttentionMaskInterface,
    eager_mask,
    sdpa_mask,
)
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS, AttentionInterface

from attnviz.core.attention import attend
from attnviz.models.capture.attention_call import Call, MaskSplitter, understand
from attnviz.models.capture.attention_switch import NAME, NAME_PLAIN, OURS, original

Answer = tuple[Tensor, Tensor | None]  #: output (B, Q, H, Dv), and weights where the model asked for them


class Listener(Protocol):
    """Whoever is told of each call while a capture runs, and answers it."""

    def answer(self, module: nn.Module, call: Call, mask: Tensor | None, kwargs: dict[str, Any]) -> Answer: ...
    def note_mask(self, mask: Tensor | None, padding: Tensor | None) -> None: ...
    @property
    def splitter(self) -> MaskSplitter: ...


listener: ContextVar[Listener | None] = ContextVar("attnviz_listener", default=None)


def attention(
    module: nn.Module, query: Tensor, key: Tensor, value: Tensor, attention_mask: Tensor | None = None, **kwargs: Any
) -> Answer:
    """What every attention layer of a model calls in place of its own function; some name the arguments."""
    active = listener.get()
    if active is None and original(module) not in OURS:
        return _as_before(module, query, key, value, attention_mask, kwargs)
    splitter = MaskSplitter() if active is None else active.splitter
    scaling = kwargs.get("scaling")
    others = {name: value for name, value in kwargs.items() if name != "scaling"}
    if active is None and not _special(others):
        return sdpa_attention_forward(module, query, key, value, attention_mask, **kwargs)
    call = understand(module, query, key, value, attention_mask, scaling, others, splitter)
    if active is None:
        return run(module, call, attention_mask, kwargs)
    return active.answer(module, call, attention_mask, kwargs)


def mask(*args: Any, **kwargs: Any) -> Tensor | None:
    """The mask that goes with `attention`: boolean, as for torch's fused attention, or None."""
    return _mask(sdpa_mask, args, kwargs)


def plain_mask(*args: Any, **kwargs: Any) -> Tensor | None:
    """The same for families without fused attention: additive, and always there."""
    return _mask(eager_mask, args, kwargs)


def _mask(function: Callable[..., Tensor | None], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor | None:
    active = listener.get()
    before = original(kwargs.get("config"))
    if active is None and before not in OURS:
        theirs = ALL_MASK_ATTENTION_FUNCTIONS.get(before)
        return None if theirs is None else theirs(*args, **kwargs)
    made = function(*args, **kwargs)
    if active is not None:
        active.note_mask(made, _padding(**kwargs))
    return made


def run(module: nn.Module, call: Call, mask: Tensor | None, kwargs: dict[str, Any]) -> Answer:
    """The output of one call, on the fastest path that gets it right."""
    if call.unknown:
        return eager(module, call, mask, kwargs)
    if call.needs_own_path:
        return by_hand(call, training=module.training), None
    if kwargs.get("indices") is not None:
        mask = call.allowed
    return sdpa_attention_forward(module, call.q, call.k, call.v, mask, **kwargs)


def by_hand(call: Call, training: bool = False, chunk: int = 1 << 24) -> Tensor:
    """The output by our own `attend`, a few key/value heads at a time: (B, Q, H, Dv)."""
    b, heads, q_len, _ = call.q.shape
    groups, k_len = call.k.shape[1:3]
    per_kv = heads // groups
    step = max(1, chunk // (b * per_kv * q_len * k_len))
    allowed = call.allowed
    if call.causal:
        allowed = torch.ones(q_len, k_len, dtype=torch.bool, device=call.q.device).tril()
    parts = []
    for start in range(0, groups, step):
        kv = slice(start, start + step)
        h = slice(start * per_kv, (start + step) * per_kv)
        bias, here = (
            None if t is None else t[:, h] if t.dim() == 4 and t.shape[1] > 1 else t for t in (call.bias, allowed)
        )
        sinks = None if call.sinks is None else call.sinks[h]
        stages = attend(
            call.q[:, h],
            call.k[:, kv],
            call.v[:, kv],
            here,
            call.scale,
            bias,
            call.softcap,
            sinks,
            call.dropout,
            training,
        )
        parts.append(stages.output)
    return torch.cat(parts, 1).transpose(1, 2).contiguous()


def eager(module: nn.Module, call: Call, mask: Tensor | None, kwargs: dict[str, Any]) -> Answer:
    """The model's own plain function: output and the weights it reports."""
    function = sys.modules[type(module).__module__].eager_attention_forward
    allowed = mask
    if call.causal:
        allowed = torch.ones(call.q.shape[2], call.k.shape[2], dtype=torch.bool, device=call.q.device).tril()[
            None, None
        ]
    if allowed is not None and allowed.dtype == torch.bool:
        lowest = torch.finfo(call.q.dtype).min
        allowed = torch.zeros_like(allowed, dtype=call.q.dtype).masked_fill(~allowed, lowest)
    answer: Answer = function(module, call.q, call.k, call.v, allowed, **kwargs)
    return answer


def _as_before(
    module: nn.Module, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, kwargs: dict[str, Any]
) -> Answer:
    """For a thread that captures nothing while another one captures the same foreign model."""
    default = getattr(sys.modules[type(module).__module__], "eager_attention_forward", None)
    answer: Answer = ALL_ATTENTION_FUNCTIONS.get_interface(original(module), default)(module, q, k, v, mask, **kwargs)
    return answer


def _special(kwargs: dict[str, Any]) -> bool:
    """Whether torch's fused attention would refuse or ignore something that was given."""
    return any(kwargs.get(name) is not None for name in ("softcap", "s_aux", "sinks", "indices", "block_indices"))


def _padding(attention_mask: Tensor | None = None, kv_length: int = 0, kv_offset: int = 0, **_: Any) -> Tensor | None:
    """(B, 1, 1, K), False where a key is padding: the part of a mask that is not a pattern."""
    if attention_mask is None:
        return None
    missing = max(0, kv_length + kv_offset - attention_mask.shape[-1])
    padded = nn.functional.pad(attention_mask.bool(), (0, missing))[:, kv_offset : kv_offset + kv_length]
    return padded[:, None, None, :]


for _name in OURS:
    AttentionInterface.register(_name, attention)
AttentionMaskInterface.register(NAME, mask)
AttentionMaskInterface.register(NAME_PLAIN, plain_mask)
