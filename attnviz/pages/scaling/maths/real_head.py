"""A trained head with and without scaling: which dimensions hold its scores' variance, and entropy by scale."""

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from attnviz.base.message import Problem, require_between
from attnviz.core.measures import entropy, entropy_share, mean_over_rows
from attnviz.models.capture import RecordedLayer

#: The model's own scale is multiplied by each of these, to plot entropy over scale.
MULTIPLES = tuple(2.0 ** (i / 2) for i in range(-8, 13))


@dataclass(frozen=True)
class Config:
    """The head to measure, and the visitor's scale."""

    layer: int = 0
    head: int = 0
    factor: float = 1.0  #: the visitor's own scale, as a multiple of the model's


@dataclass(frozen=True)
class Weights:
    """The head's weights at one scale."""

    scale: float  #: factor of q.kT
    weights: np.ndarray  #: (Q, K)
    entropy: float  #: nats, mean over rows that may attend to two keys or more
    share: float  #: entropy over ln(keys that a row may see), mean over the same rows
    variance: float  #: of the logits, over the pairs that may attend


@dataclass(frozen=True)
class Result:
    """Variances of the head's scores, and its weights without scaling, as trained, and at the visitor's scale."""

    config: Config
    d_k: int
    model_scale: float
    allowed: np.ndarray  #: (Q, K) boolean
    by_dimension: np.ndarray  #: (D,) variance of q_i k_i over the pairs that may attend
    total: float  #: variance of the raw q.k over the same pairs; the sum above if dimensions were uncorrelated
    raw: Weights
    model: Weights
    chosen: Weights
    shares: np.ndarray  #: entropy share at each of MULTIPLES

    def n_dimensions_for(self, share: float) -> int:
        """The smallest number of dimensions with this share of the summed variances."""
        cumulative = np.sort(self.by_dimension)[::-1].cumsum()
        return int(np.searchsorted(cumulative, share * cumulative[-1]) + 1) if cumulative[-1] > 0 else 0


def run(layer: RecordedLayer, config: Config) -> Result:
    """Measure one head of a recorded layer, on its first sentence."""
    if not layer.exact or layer.q is None or layer.k is None:
        raise Problem("layer {index} gives its weights only; its scores cannot be measured", index=layer.index)
    require_between("head", config.head, 0, layer.n_heads - 1)
    allowed = layer.mask.expand(1, layer.n_heads, *layer.shape[2:])[0, config.head]
    q = layer.q[0, config.head].double()  # (Q, D)
    k = layer.k[0, config.head * layer.n_kv_heads // layer.n_heads].double()  # (K, D)
    by_dimension, total = _variances(q, k, allowed)
    model_scale = layer.scale_of(config.head)
    weights_by_scale = {
        scale: _weights(layer, config.head, scale, allowed) for scale in {1.0, model_scale, model_scale * config.factor}
    }
    return Result(
        config,
        q.shape[-1],
        model_scale,
        allowed.numpy(),
        by_dimension.numpy(),
        total,
        weights_by_scale[1.0],
        weights_by_scale[model_scale],
        weights_by_scale[model_scale * config.factor],
        np.array([_weights(layer, config.head, model_scale * m, allowed).share for m in MULTIPLES]),
    )


def _variances(q: Tensor, k: Tensor, allowed: Tensor) -> tuple[Tensor, float]:
    """Variance of each q_i k_i (D,), then of their sum, over the pairs in `allowed` (Q, K)."""
    mask = allowed.double()
    count = mask.sum().clamp_min(1)
    first = ((mask @ k) * q).sum(0) / count  # (D,) mean of q_i k_i
    second = ((mask @ k.square()) * q.square()).sum(0) / count
    scores = (q @ k.mT)[allowed]
    total = float(scores.var(correction=0)) if scores.numel() else math.nan
    return (second - first.square()).clamp_min(0), total


def _weights(layer: RecordedLayer, head: int, scale: float, allowed: Tensor) -> Weights:
    stages = layer.stages(head, scale=scale)
    weights, logits = stages.weights[0, 0], stages.scaled[0, 0]
    shares = entropy_share(weights, allowed)
    spread = entropy(weights).masked_fill(shares.isnan(), torch.nan)
    variance = float(logits[allowed].double().var(correction=0)) if allowed.any() else math.nan
    return Weights(scale, weights.numpy(), float(mean_over_rows(spread)), float(mean_over_rows(shares)), variance)


def program(model: str, text: str, layer: RecordedLayer, config: Config) -> str | None:
    """Prints the variances of q.k and of its dimensions, and spread and entropy at each scale.

    None for a layer that does more to its scores than scale them: the page says what, and the program could not.
    """
    if not layer.exact or any(extra is not None for extra in (layer.softcap, layer.sinks, layer.bias)):
        return None
    return f"""\
import attnviz as av
import torch
from attnviz.core.measures import entropy, entropy_share
from attnviz.models.tokens import encode

loaded = av.load({model!r})
layer = av.capture(loaded.model, **encode(loaded, {text!r}).inputs).layers[{config.layer}]
q, k = layer.q[0, {config.head}].double(), layer.k[0, {config.head * layer.n_kv_heads // layer.n_heads}].double()
seen = layer.mask.expand(1, layer.n_heads, *layer.mask.shape[2:])[0, {config.head}]
by_dimension = (q[:, None] * k)[seen].var(0, correction=0)
total = (q @ k.mT)[seen].var(correction=0).item()
print(f"variance of q.k {{total:.4g}}; of its dimensions, added up, {{by_dimension.sum():.4g}}")

found = {{}}
for name, scale in (("raw", 1.0), ("model", layer.scale), ("yours", layer.scale * {config.factor})):
    z = (q @ k.mT) * scale
    p = z.masked_fill(~seen, -torch.inf).softmax(-1)
    rows = seen.sum(-1) > 1  # that have a choice
    share, spread = entropy_share(p, seen)[rows].mean().item(), entropy(p)[rows].mean().item()
    found[name] = (share, spread, z[seen].var(correction=0).item())
    print(f"{{name}}: {{share:.0%}} as spread as it could be, entropy {{spread:.2f}} nats")
    print(f"    logits vary by {{found[name][2]:.3g}}")
"""
