"""The parts around attention in a transformer: RMSNorm, the position-wise FFN, the pre- or post-norm block."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal

from torch import Tensor, nn
from torch.nn import functional

from attnviz.base.message import Problem, Several
from attnviz.core.modules import Attention
from attnviz.core.normalisation import RMSNorm

__all__ = ["Block", "FeedForward", "RMSNorm"]

Activation = Literal["relu", "gelu", "gelu_tanh", "silu"]
Order = Literal["pre", "post"]
Norm = Literal["layer", "rms"]

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": functional.relu,
    "gelu": functional.gelu,
    "gelu_tanh": partial(functional.gelu, approximate="tanh"),
    "silu": functional.silu,
}


class FeedForward(nn.Module):
    """Position-wise FFN: project up to `d_hidden`, apply the activation, project back down to M.

    Each token is processed independently. With `gated`, the activated output of a second
    projection multiplies the first (SwiGLU when the activation is "silu").
    """

    def __init__(
        self,
        d_model: int,
        d_hidden: int,
        activation: Activation = "gelu",
        *,
        gated: bool = False,
        bias: bool = True,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        if activation not in ACTIVATIONS:
            raise Problem(
                "activation={activation} is not one of {known}",
                activation=repr(activation),
                known=Several(ACTIVATIONS),
            )
        self.activation = ACTIVATIONS[activation]
        self.up_proj = nn.Linear(d_model, d_hidden, bias=bias)
        self.gate_proj = nn.Linear(d_model, d_hidden, bias=bias) if gated else None
        self.down_proj = nn.Linear(d_hidden, d_model, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        up: Tensor = self.up_proj(x)  # (..., T, d_hidden)
        hidden = self.activation(up) if self.gate_proj is None else self.activation(self.gate_proj(x)) * up
        down: Tensor = self.down_proj(self.dropout(hidden))
        return down


class Block(nn.Module):
    """Self-attention, then cross-attention if `cross` is given, then the FFN, each with a residual.

    `order` "pre" normalises the input of each part, x + part(norm(x)); "post" normalises the sum,
    norm(x + part(x)), as in the original Transformer. In training, `dropout` is applied to the
    output of each part before it is added.
    """

    def __init__(
        self,
        attention: Attention,
        ffn: nn.Module,
        *,
        cross: Attention | None = None,
        order: Order = "pre",
        norm: Norm = "layer",
        eps: float = 1e-5,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        if order not in ("pre", "post"):
            raise Problem('order={order} must be "pre" or "post"', order=repr(order))
        if norm not in ("layer", "rms"):
            raise Problem('norm={norm} must be "layer" or "rms"', norm=repr(norm))
        make, width = (nn.LayerNorm if norm == "layer" else RMSNorm), attention.layout.d_model
        self.order = order
        self.attention, self.cross, self.ffn = attention, cross, ffn
        self.attention_norm, self.ffn_norm = make(width, eps), make(width, eps)
        self.cross_norm = None if cross is None else make(width, eps)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, x: Tensor, context: Tensor | None = None, *, cross: dict[str, Any] | None = None, **attention: Any
    ) -> Tensor:
        """x (..., T, M) -> (..., T, M).

        The keywords in `attention` (mask, cache, positions, ...) are passed to self-attention;
        `context` and the keywords in `cross` (mask, cache, ...) to cross-attention.
        """
        x = self._residual(x, self.attention_norm, lambda read: self.attention(read, **attention))
        if self.cross is not None and self.cross_norm is not None:
            if context is None:
                raise Problem("a block with cross-attention needs a context")
            attend_to = partial(self.cross, context=context, **(cross or {}))
            x = self._residual(x, self.cross_norm, lambda read: attend_to(read))
        return self._residual(x, self.ffn_norm, self.ffn)

    def _residual(self, x: Tensor, norm: nn.Module, part: Callable[[Tensor], Tensor]) -> Tensor:
        if self.order == "pre":
            return x + self.dropout(part(norm(x)))  # type: ignore[no-any-return]
        return norm(x + self.dropout(part(x)))  # type: ignore[no-any-return]
