"""The layers that are compared, as torch builds them: all take and give (batch, n, d)."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor, nn
from torch.nn import functional

from attnviz.core.variants import linear_attention


class ExplicitAttention(nn.Module):
    """nn.MultiheadAttention that is asked for its weights, and so builds them: heads x n x n numbers."""

    def __init__(self, d: int, heads: int) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(d, heads, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        mixed: Tensor = self.attention(x, x, x, need_weights=True, average_attn_weights=False)[0]
        return mixed


class FusedAttention(ExplicitAttention):
    """The same weights through scaled_dot_product_attention, which works block by block.

    In eval() without gradients torch takes another way, its "fast path", which builds the weights after all on a
    CPU: so this layer stays in train(), where without dropout it computes the same.
    """

    def forward(self, x: Tensor) -> Tensor:
        mixed: Tensor = self.attention(x, x, x, need_weights=False)[0]
        return mixed


class WindowAttention(nn.Module):
    """Attention of each token to itself and the `window` - 1 before it; what lies before the first is zeros."""

    def __init__(self, d: int, heads: int, window: int) -> None:
        super().__init__()
        self.heads, self.window = heads, window
        self.packed, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (_split(part, self.heads) for part in self.packed(x).chunk(3, -1))  # (B, H, n, D)
        k, v = (functional.pad(part, (0, 0, self.window - 1, 0)).unfold(2, self.window, 1) for part in (k, v))
        weights = (q.unsqueeze(-2) @ k * q.shape[-1] ** -0.5).softmax(-1)  # (B, H, n, 1, window)
        mixed: Tensor = self.out(_join((weights @ v.mT).squeeze(-2)))
        return mixed


class LinearAttention(nn.Module):
    """Four projections as in attention, and `linear_attention` between them."""

    def __init__(self, d: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.packed, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (_split(part, self.heads) for part in self.packed(x).chunk(3, -1))
        mixed: Tensor = self.out(_join(linear_attention(q, k, v)))
        return mixed


class Recurrence(nn.Module):
    """nn.RNN, nn.LSTM or nn.GRU: the hidden state after each token."""

    def __init__(self, kind: Callable[..., nn.RNNBase], d: int) -> None:
        super().__init__()
        self.cell = kind(d, d, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        hidden: Tensor = self.cell(x)[0]
        return hidden


class CausalConvolution(nn.Module):
    """nn.Conv1d over a token and those before it, `dilation` apart."""

    def __init__(self, d: int, k: int, dilation: int = 1) -> None:
        super().__init__()
        self.conv = nn.Conv1d(d, d, k, dilation=dilation)
        self.before = (k - 1) * dilation

    def forward(self, x: Tensor) -> Tensor:
        seen: Tensor = self.conv(functional.pad(x.mT, (self.before, 0)))
        return seen.mT


def layer(kind: str, d: int, *, heads: int = 1, k: int = 3, window: int = 2) -> nn.Module:
    """One layer by its id, with torch's own random weights."""
    made: dict[str, Callable[[], nn.Module]] = {
        "attention": lambda: ExplicitAttention(d, heads),
        "explicit": lambda: ExplicitAttention(d, heads),
        "fused": lambda: FusedAttention(d, heads),
        "window": lambda: WindowAttention(d, heads, window),
        "linear": lambda: LinearAttention(d, heads),
        "rnn": lambda: Recurrence(nn.RNN, d),
        "lstm": lambda: Recurrence(nn.LSTM, d),
        "gru": lambda: Recurrence(nn.GRU, d),
        "conv": lambda: CausalConvolution(d, k),
        "dilated": lambda: CausalConvolution(d, k, dilation=k),
    }
    return made[kind]()


def _split(x: Tensor, heads: int) -> Tensor:
    """(B, n, d) -> (B, H, n, D)"""
    parts: Tensor = x.unflatten(-1, (heads, -1)).transpose(1, 2)
    return parts


def _join(x: Tensor) -> Tensor:
    """(B, H, n, D) -> (B, n, d)"""
    joined: Tensor = x.transpose(1, 2).flatten(2)
    return joined
