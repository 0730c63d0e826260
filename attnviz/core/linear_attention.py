"""Attention without the softmax: keys and values are summed once, so that n tokens cost n steps and not n x n.

With a positive feature map f in place of exp, (f(Q) f(K)^T) V = f(Q) (f(K)^T V), and the product on the right is
only D x Dv large, however long the sequence is (Katharopoulos et al. 2020, "Transformers are RNNs").
"""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional


def positive_features(x: Tensor) -> Tensor:
    """elu(x) + 1, the feature map of the paper: always above 0, so that weights are positive."""
    return functional.elu(x) + 1


def linear_attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Every query's mixture of all values, by weights f(q).f(k) over their sum.

    q (..., Q, D), k (..., K, D), v (..., K, Dv) -> (..., Q, Dv)
    """
    q, k = positive_features(q), positive_features(k)
    state = k.mT @ v  # (..., D, Dv)
    total = k.sum(-2).unsqueeze(-1)  # (..., D, 1)
    mixed: Tensor = (q @ state) / (q @ total)
    return mixed


def linear_attention_weights(q: Tensor, k: Tensor) -> Tensor:
    """The weights that `linear_attention` never builds, for looking at: (..., Q, K), rows sum to 1."""
    products = positive_features(q) @ positive_features(k).mT
    weights: Tensor = products / products.sum(-1, keepdim=True)
    return weights
