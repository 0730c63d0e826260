"""How much the output at the last position depends on the input at each position before it.

The measure is the Frobenius norm of d output / d input, position by position: exact, by one backward pass over as
many copies of the sequence as the output has numbers.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from attnviz.pages.compare.maths import compared_layers

KINDS = ("attention", "linear", "lstm", "gru", "conv", "dilated")


class RecallModel(nn.Module):
    """Tokens and places as learned vectors, one kind of layer, and the last output as a label's logits.

    Attention needs the learned place of a token, or it could not tell the first from the others; all get it.
    Convolutions are stacked, ReLU between: `layers` of them, or for "dilated" as many as reach the first token.
    """

    def __init__(self, kind: str, *, n: int, labels: int, d: int, heads: int, k: int, layers: int) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(labels + 1, d), nn.Parameter(0.02 * torch.randn(n, d))
        made: list[nn.Module] = []
        if kind == "conv":
            made = [compared_layers.CausalConvolution(d, k) for _ in range(layers)]
        elif kind == "dilated":
            made = [compared_layers.CausalConvolution(d, k, k**i) for i in range(layers_to_reach(n, k))]
        else:
            made = [compared_layers.layer("fused" if kind == "attention" else kind, d, heads=heads)]
        self.layers = nn.ModuleList(made)
        self.out = nn.Linear(d, labels)

    def embed(self, tokens: Tensor) -> Tensor:
        """(B, n) -> (B, n, d)"""
        vectors: Tensor = self.tokens(tokens) + self.places
        return vectors

    def last(self, x: Tensor) -> Tensor:
        """The last position's output, (B, n, d) -> (B, d)."""
        for i, layer in enumerate(self.layers):
            x = layer(functional.relu(x) if i else x)
        return x[:, -1]

    def forward(self, tokens: Tensor) -> Tensor:
        logits: Tensor = self.out(self.last(self.embed(tokens)))
        return logits


def layers_to_reach(n: int, k: int) -> int:
    """Layers with dilations 1, k, k^2, ... after which the last output sees n places."""
    layers, seen = 1, k
    while seen < n:
        layers, seen = layers + 1, seen * k
    return layers


def influence(last: Callable[[Tensor], Tensor], x: Tensor) -> np.ndarray:
    """Norm of d last(x) / d x[j] for every position j of one sequence x (n, d): (n,), the last position last."""
    width = last(x.unsqueeze(0)).shape[-1]
    copies = x.detach().expand(width, *x.shape).clone().requires_grad_()
    (gradient,) = torch.autograd.grad(last(copies).diagonal().sum(), copies)  # copy i: gradient of output number i
    norms: np.ndarray = gradient.square().sum((0, 2)).sqrt().numpy()
    return norms
