"""Attention calls of transformers models: parsed into one form, recorded, and answered.

Our functions are registered under our own name in transformers' interface. Nothing is recorded unless the calling
thread has set `listener`: one model serves many sessions.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from attnviz.base.message import Problem
from attnviz.core.attention import attend
from attnviz.models.capture import adapter
from attnviz.models.capture.recorded_layer import CHUNK

Answer = tuple[Tensor, Tensor | None]  #: output (B, Q, H, Dv), and weights where the model asked for them

#: an additive mask at or below this hides the key: exp of it is 0 in every float type
HIDDEN = -1e4

#: keywords that say nothing about the scores, or say again what the mask already holds
HARMLESS = frozenset(
    (
        *("cache_position", "cache_positions", "position_ids", "position_embeddings", "layer_idx", "seq_idx"),
        *("output_attentions", "output_hidden_states", "output_router_logits", "return_dict", "use_cache"),
        *("sliding_window", "is_causal", "is_cross_attention", "encoder_attention_mask", "token_type_ids"),
        *(
            "scaling",
            "max_length_q",
            "max_length_k",
            "cu_seq_lens_q",
            "cu_seq_lens_k",
            "cu_seqlens",
            "mm_token_type_ids",
        ),
        *("past_key_values", "past_key_value", "encoder_hidden_states", "hidden_states", "shared_kv_states"),
        *("input_ids", "inputs_embeds", "labels", "logits_to_keep", "num_items_in_batch", "deterministic", "dropout"),
    )
)


@dataclass(frozen=True, eq=False)
class AttentionCall:
    """Arguments of one attention call; `RecordedLayer` explains the fields that they share."""

    q: Tensor
    k: Tensor
    v: Tensor
    mask: Tensor | None  #: as it was given; `allowed` and `bias` are what it says
    allowed: Tensor | None
    causal: bool
    bias: Tensor | None
    softcap: float | None
    sinks: Tensor | None
    scale: float
    dropout: float
    unknown: tuple[str, ...] = ()  #: keywords that could change the scores in a way not known here
    cross: bool | None = None  #: whether the keys come from another sequence; None: not known


#: by its id, an additive mask and what `split_mask` makes of it: many layers share one mask
SplitMasks = dict[int, tuple[Tensor, tuple[Tensor | None, Tensor | None]]]


def split_mask(mask: Tensor) -> tuple[Tensor | None, Tensor | None]:
    """Split an additive mask into where a query may attend, and what is added to the scores; either may be None."""
    if mask.dtype == torch.bool:
        return mask, None
    allowed = mask > HIDDEN
    bias = mask.masked_fill(~allowed, 0)
    return (None if allowed.all() else allowed), (bias if bias.any() else None)


def parse_call(
    module: nn.Module,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None,
    kwargs: dict[str, Any],
    split: SplitMasks,
) -> AttentionCall:
    """Parse the arguments as torch's fused attention and transformers' wrapper of it do.

    `split` caches the masks that were split before.
    """
    options = {name: value for name, value in kwargs.items() if value is not None and name not in HARMLESS}
    q_len, k_len = q.shape[2], k.shape[2]
    is_causal = kwargs.get("is_causal")
    causal = mask is None and q_len > 1 and bool(getattr(module, "is_causal", True) if is_causal is None else is_causal)
    if mask is not None and id(mask) not in split:
        split[id(mask)] = (mask, split_mask(mask))  # holding the mask keeps its id from being given again
    allowed, bias = (None, None) if mask is None else split[id(mask)][1]
    indices = options.pop("indices", None)
    if indices is not None:
        allowed, causal = _mask_from_indices(allowed, causal, indices, q_len, k_len), False
    position_bias = options.pop("position_bias", None)
    if position_bias is not None:
        position_bias = position_bias[..., :k_len]
        bias = position_bias if bias is None else bias + position_bias
    softcap = options.pop("softcap", None)
    sinks, sinks_name = _find_sinks(options, q.shape[1])
    unknown = [name for name, value in options.items() if value is not False and name != sinks_name]
    if softcap is not None and bias is not None:
        unknown.append("softcap")
    scale = q.shape[-1] ** -0.5 if kwargs.get("scaling") is None else float(kwargs["scaling"])
    return AttentionCall(
        q, k, v, mask, allowed, causal, bias, softcap, sinks, scale, float(kwargs.get("dropout") or 0.0), tuple(unknown)
    )


def _mask_from_indices(allowed: Tensor | None, causal: bool, indices: Tensor, q_len: int, k_len: int) -> Tensor:
    """Mask (B, 1, Q, K) of sparse attention, from the indices (B, Q, n) of the keys that each query keeps."""
    selected = torch.zeros(indices.shape[0], q_len, k_len, dtype=torch.bool, device=indices.device)
    selected = selected.scatter(-1, indices.long(), True).unsqueeze(1)  # (B, 1, Q, K)
    if causal:
        selected = selected.tril()
    return selected if allowed is None else selected & allowed


def require_even_sharing(call: AttentionCall, name: str) -> None:
    """Raise a Problem unless the number of query heads is a multiple of the number of K/V heads."""
    heads, kv_heads = call.q.shape[1], call.k.shape[1]
    if heads % kv_heads:
        raise Problem(
            "{name} has {heads} query heads and {kv_heads} K/V heads: the first must be a multiple of the second",
            name=name,
            heads=heads,
            kv_heads=kv_heads,
        )


def _find_sinks(options: dict[str, Any], heads: int) -> tuple[Tensor | None, str | None]:
    """Learned sink logits (H,) and the keyword that held them; None and None without."""
    for name in ("s_aux", "sinks"):
        value = options.get(name)
        if isinstance(value, Tensor) and value.numel() == heads and value.squeeze().dim() <= 1:
            return value.reshape(-1), name
    return None, None


class Listener(Protocol):
    """Receives and answers each attention call while a capture runs."""

    def answer(self, module: nn.Module, call: AttentionCall, kwargs: dict[str, Any]) -> Answer: ...
    def note_mask(self, mask: Tensor | None, padding: Tensor | None) -> None: ...
    @property
    def split_masks(self) -> SplitMasks: ...


listener: ContextVar[Listener | None] = ContextVar("attnviz_listener", default=None)


@contextmanager
def listen_to_calls(new_listener: Listener) -> Iterator[None]:
    """Send this thread's attention calls to `new_listener` inside the block."""
    token = listener.set(new_listener)
    try:
        yield
    finally:
        listener.reset(token)


def attention(
    module: nn.Module, query: Tensor, key: Tensor, value: Tensor, attention_mask: Tensor | None = None, **kwargs: Any
) -> Answer:
    """Attention function that every layer of an adopted model calls; some layers pass the arguments by name."""
    active = listener.get()
    if active is None and adapter.original_implementation(module) not in adapter.OURS:
        # this thread captures nothing while another one captures the same foreign model
        return adapter.original_function(module)(module, query, key, value, attention_mask, **kwargs)
    if active is None and kwargs.get("output_attentions"):  # of an adopted model: fused attention has no weights
        return eager_attention(module, parse_call(module, query, key, value, attention_mask, kwargs, {}), kwargs)
    # what torch's fused attention would refuse or ignore
    if active is None and all(
        kwargs.get(name) is None for name in ("softcap", "s_aux", "sinks", "indices", "block_indices")
    ):
        return fused_attention(module, query, key, value, attention_mask, kwargs)
    call = parse_call(module, query, key, value, attention_mask, kwargs, {} if active is None else active.split_masks)
    return (answer_call if active is None else active.answer)(module, call, kwargs)


def _make_mask(kind: str, *args: Any, **kwargs: Any) -> Tensor | None:
    active = listener.get()
    before = adapter.original_implementation(kwargs.get("config"))
    if active is None and before not in adapter.OURS:
        return adapter.mask_function(before)(*args, **kwargs)
    new_mask = adapter.mask_function(kind)(*args, **kwargs)
    if active is not None:
        active.note_mask(new_mask, _key_padding(**kwargs))
    return new_mask


#: the masks that go with `attention`: boolean, as for torch's fused attention, or None; and for families without it,
#: additive and always there
mask, plain_mask = partial(_make_mask, "sdpa"), partial(_make_mask, "eager")


def answer_call(module: nn.Module, call: AttentionCall, kwargs: dict[str, Any]) -> Answer:
    """Output of one call, by the fastest function that supports all its arguments."""
    if call.unknown:
        return eager_attention(module, call, kwargs)
    if call.softcap is not None or call.sinks is not None:  # which torch's fused attention does not know
        return attend_by_groups(call, module.training), None
    return fused_attention(
        module, call.q, call.k, call.v, call.mask if kwargs.get("indices") is None else call.allowed, kwargs
    )


def fused_attention(
    module: nn.Module, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, kwargs: dict[str, Any]
) -> Answer:
    """torch's fused attention, called the way transformers calls it."""
    return adapter.attention_function("sdpa")(module, q, k, v, mask, **kwargs)


def attend_by_groups(call: AttentionCall, training: bool) -> Tensor:
    """Output (B, Q, H, Dv) by our own `attend`, a few key/value heads at a time."""
    b, heads, q_len, _ = call.q.shape
    groups, k_len = call.k.shape[1:3]
    per_kv = heads // groups
    step = max(1, CHUNK // (b * per_kv * q_len * k_len))
    allowed = _causal_mask(call) if call.causal else call.allowed
    parts = []
    for start in range(0, groups, step):
        kv = slice(start, start + step)
        h = slice(start * per_kv, (start + step) * per_kv)
        bias, here = (
            None if t is None else t[:, h] if t.dim() == 4 and t.shape[1] > 1 else t for t in (call.bias, allowed)
        )
        sinks = None if call.sinks is None else call.sinks[h]
        q, k, v = call.q[:, h], call.k[:, kv], call.v[:, kv]
        parts.append(attend(q, k, v, here, call.scale, bias, call.softcap, sinks, call.dropout, training).output)
    return torch.cat(parts, 1).transpose(1, 2).contiguous()


def eager_attention(module: nn.Module, call: AttentionCall, kwargs: dict[str, Any]) -> Answer:
    """Output and reported weights of the model's own eager function."""
    allowed = _causal_mask(call)[None, None] if call.causal else call.mask
    if allowed is not None and allowed.dtype == torch.bool:
        allowed = torch.zeros_like(allowed, dtype=call.q.dtype).masked_fill(~allowed, torch.finfo(call.q.dtype).min)
    return adapter.plain_function(module)(module, call.q, call.k, call.v, allowed, **kwargs)


def _causal_mask(call: AttentionCall) -> Tensor:
    """Mask (Q, K) in which query i sees keys 0..i."""
    return torch.ones(call.q.shape[2], call.k.shape[2], dtype=torch.bool, device=call.q.device).tril()


def _key_padding(
    attention_mask: Tensor | None = None, kv_length: int = 0, kv_offset: int = 0, **_: Any
) -> Tensor | None:
    """Mask (B, 1, 1, K), False where a key is padding; None without an attention mask."""
    if attention_mask is None:
        return None
    missing = max(0, kv_length + kv_offset - attention_mask.shape[-1])
    padded = nn.functional.pad(attention_mask.bool(), (0, missing))
    return padded[:, None, None, kv_offset : kv_offset + kv_length]


adapter.register(attention, mask, plain_mask)
