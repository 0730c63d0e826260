"""What a model hands to its attention function, brought into one form."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

#: an additive mask at or below this hides the key: exp of it is 0 in every float type
HIDDEN = -1e4

#: keywords that say nothing about the scores, or say again what the mask already holds
HARMLESS = frozenset(
    (
        *("cache_position", "cache_positions", "position_ids", "position_embeddings", "layer_idx", "seq_idx"),
        *("output_attentions", "output_hidden_states", "output_router_logits", "return_dict", "use_cache"),
        *("sliding_window", "is_causal", "is_cross_attention", "encoder_attention_mask", "token_type_ids"),
        *("max_length_q", "max_length_k", "cu_seq_lens_q", "cu_seq_lens_k", "cu_seqlens", "mm_token_type_ids"),
        *("past_key_values", "past_key_value", "encoder_hidden_states", "hidden_states", "shared_kv_states"),
        *("input_ids", "inputs_embeds", "labels", "logits_to_keep", "num_items_in_batch", "deterministic", "dropout"),
    )
)


@dataclass(frozen=True, eq=False)
class Call:
    """One call of attention: see attnviz.models.capture.recorded_layer.Layer for the fields they share."""

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
    unknown: tuple[str, ...]  #: keywords that could change the scores in a way not known here

    @property
    def needs_own_path(self) -> bool:
        """torch's fused attention knows neither soft-capping nor sinks."""
        return self.softcap is not None or self.sinks is not None


@dataclass
class MaskSplitter:
    """Additive masks taken apart once each: many layers share one mask."""

    seen: dict[int, tuple[Tensor, Tensor | None, Tensor | None]] = field(default_factory=dict)

    def split(self, mask: Tensor | None) -> tuple[Tensor | None, Tensor | None]:
        """(where a query may attend, what is added to the scores): either may be None."""
        if mask is None or mask.dtype == torch.bool:
            return mask, None
        if id(mask) not in self.seen:
            self.seen[id(mask)] = (mask, *_split(mask))  # holding the mask keeps its id from being given again
        return self.seen[id(mask)][1:]


def _split(mask: Tensor) -> tuple[Tensor | None, Tensor | None]:
    allowed = mask > HIDDEN
    bias = mask.masked_fill(~allowed, 0)
    return (None if allowed.all() else allowed), (bias if bias.any() else None)


def understand(
    module: nn.Module,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None,
    scaling: float | None,
    kwargs: dict[str, Any],
    splitter: MaskSplitter,
) -> Call:
    """Read the arguments the way torch's fused attention and transformers' wrapper of it do."""
    given = {name: value for name, value in kwargs.items() if value is not None and name not in HARMLESS}
    q_len, k_len = q.shape[2], k.shape[2]
    is_causal = kwargs.get("is_causal")
    causal = mask is None and q_len > 1 and bool(getattr(module, "is_causal", True) if is_causal is None else is_causal)
    allowed, bias = splitter.split(mask)
    indices = given.pop("indices", None)
    if indices is not None:
        allowed, causal = _selected(allowed, causal, indices, q_len, k_len), False
    position_bias = given.pop("position_bias", None)
    if position_bias is not None:
        position_bias = position_bias[..., :k_len]
        bias = position_bias if bias is None else bias + position_bias
    softcap = given.pop("softcap", None)
    unknown = [name for name, value in given.items() if value is not False]
    sinks, misfit = _sinks(given, q.shape[1])
    unknown = [name for name in unknown if sinks is None or name != misfit]
    if softcap is not None and bias is not None:
        unknown.append("softcap")
    scale = q.shape[-1] ** -0.5 if scaling is None else float(scaling)
    dropout = float(kwargs.get("dropout") or 0.0)
    return Call(q, k, v, mask, allowed, causal, bias, softcap, sinks, scale, dropout, tuple(unknown))


def _selected(allowed: Tensor | None, causal: bool, indices: Tensor, q_len: int, k_len: int) -> Tensor:
    """Sparse attention names the keys each query keeps, (B, Q, n): a mask by another name."""
    kept = torch.zeros(indices.shape[0], q_len, k_len, dtype=torch.bool, device=indices.device)
    kept = kept.scatter(-1, indices.long(), True).unsqueeze(1)  # (B, 1, Q, K)
    if causal:
        kept = kept.tril()
    return kept if allowed is None else kept & allowed


def _sinks(given: dict[str, Any], heads: int) -> tuple[Tensor | None, str | None]:
    """One learned logit for each head, under either of the names it goes by."""
    for name in ("s_aux", "sinks"):
        value = given.get(name)
        if isinstance(value, Tensor) and value.numel() == heads and value.squeeze().dim() <= 1:
            return value.reshape(-1), name
    return None, None
