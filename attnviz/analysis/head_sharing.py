"""Pool a trained layer's key/value heads, so that more query heads share each.

As the GQA paper converts a model (arXiv 2305.13245, section 2.1): the key heads of a group become one, and
so do the value heads. Averaging projected keys is averaging the rows of W_K: both are linear, and so is RoPE.
"""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn

from attnviz.analysis.model_run import ModelRun
from attnviz.analysis.predictions import ProbabilityChange, likeliest
from attnviz.base.message import Problem, require_one_of
from attnviz.core.attention import Stages
from attnviz.core.costs import count_parameters, kv_bytes
from attnviz.core.heads import HeadLayout
from attnviz.core.measures import weight_moved
from attnviz.models.capture import Edit, Logits, RecordedLayer, TensorChange, Trace, find_output_projection, intervene
from attnviz.models.catalogue import LoadedModel

Method = Literal["mean", "first", "random"]


@dataclass(frozen=True)
class Config:
    """The layer, how many key/value heads it is left with, and how they are pooled."""

    layer: int = 0
    n_kv_heads: int = 1
    method: Method = "mean"
    seed: int = 0  #: for method "random"


@dataclass(frozen=True)
class Point:
    """The layer with one number of key/value heads."""

    n_kv_heads: int
    output_change: float  #: length of the change of the layer's output over the length of that output
    cache_bytes: int  #: keys and values of this sentence, 16 bits a number
    parameters: int  #: numbers in W_K and W_V


@dataclass(frozen=True)
class Result:
    config: Config
    n_heads: int
    trained_kv_heads: int
    before: np.ndarray  #: (H, Q, K) weights as trained
    after: np.ndarray  #: (H, Q, K) weights with keys and values shared
    hidden: np.ndarray  #: (Q, K) boolean: cells that the mask hides
    weight_shifts: np.ndarray  #: (H,) the share of each head's weight that went to other keys, mean over all rows
    output_changes: np.ndarray  #: (H,) change of each head's output, relative
    k_shape: tuple[int, ...]  #: (G, K, D) of the shared keys
    v_shape: tuple[int, ...]
    sweep: tuple[Point, ...]  #: one point for each possible number of key/value heads, from MHA down to MQA

    @property
    def point(self) -> Point:
        return self.at(self.config.n_kv_heads)

    @property
    def trained(self) -> Point:
        return self.at(self.trained_kv_heads)

    @property
    def side_by_side(self) -> tuple[int, ...]:
        """K/V heads of MHA, of one GQA (the chosen one, else the trained, else one between) and of MQA."""
        between = [point.n_kv_heads for point in self.sweep if 1 < point.n_kv_heads < self.n_heads]
        candidates = [g for g in (self.config.n_kv_heads, self.trained_kv_heads) if g in between]
        middle = candidates[:1] or between[len(between) // 2 :][:1]
        return tuple(dict.fromkeys((self.n_heads, *middle, 1)))

    def kv_of(self, n_kv_heads: int | None = None) -> tuple[int, ...]:
        """The K/V head that each query head reads, of `n_kv_heads` in all; None: the chosen number."""
        count = self.config.n_kv_heads if n_kv_heads is None else n_kv_heads
        return tuple(head * count // self.n_heads for head in range(self.n_heads))

    def at(self, n_kv_heads: int) -> Point:
        """The point with `n_kv_heads` K/V heads."""
        return next(point for point in self.sweep if point.n_kv_heads == n_kv_heads)


def kv_head_choices(layer: RecordedLayer) -> list[int]:
    """Numbers of key/value heads that the layer's own can be copied or pooled to, most first: from MHA to MQA."""
    return _kv_head_counts(layer.n_heads, layer.n_kv_heads)


def _kv_head_counts(heads: int, kv_heads: int) -> list[int]:
    copied = [g for g in range(heads, kv_heads, -1) if heads % g == 0 and g % kv_heads == 0]
    return copied + [g for g in range(kv_heads, 0, -1) if kv_heads % g == 0]


def pool_heads(heads: Tensor, n_kv_heads: int, method: Method = "mean", seed: int = 0) -> Tensor:
    """(..., G, K, D) -> (..., n_kv_heads, K, D): one head for each run of neighbours.

    More heads than there are: each is copied for as many, so that every query head reads what it read before.
    "mean" averages the run, "first" keeps its first head, "random" draws numbers of the same spread instead.
    """
    n_trained = heads.shape[-3]
    if n_kv_heads > n_trained and n_kv_heads % n_trained == 0:
        return heads.repeat_interleave(n_kv_heads // n_trained, -3)
    if n_kv_heads < 1 or n_trained % n_kv_heads:
        raise Problem(
            "{had} K/V heads cannot be pooled to {wanted}: it must divide them", had=n_trained, wanted=n_kv_heads
        )
    if n_kv_heads == n_trained:
        return heads
    groups = heads.unflatten(-3, (n_kv_heads, n_trained // n_kv_heads))
    if method == "mean":
        return groups.mean(-3)
    if method == "first":
        return groups[..., 0, :, :]
    noise = torch.randn(groups[..., 0, :, :].shape, generator=torch.Generator().manual_seed(seed))
    return noise.to(heads) * heads.std()


def pooling_change(config: Config) -> TensorChange:
    """The same pooling as a function of (q, k, v), to run a whole model with."""

    def share(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        n_pooled = max(g for g in _kv_head_counts(q.shape[-3], k.shape[-3]) if g <= config.n_kv_heads)
        return (
            q,
            pool_heads(k, n_pooled, config.method, config.seed),
            pool_heads(v, n_pooled, config.method, config.seed + 1),
        )

    return share


def add_output_projection(layer: RecordedLayer, model: nn.Module) -> RecordedLayer:
    """The layer with its output projection, which saved traces leave out."""
    if layer.w_o is not None or layer.v is None or not layer.name:
        return layer
    modules = dict(model.named_modules())
    module, parent = modules.get(layer.name), modules.get(layer.name.rpartition(".")[0])
    width = layer.n_heads * layer.v.shape[-1]
    return layer if module is None else replace(layer, w_o=find_output_projection(module, parent, width))


def run(layer: RecordedLayer, config: Config) -> Result:
    """Share one recorded layer's keys and values on its first sentence."""
    if not layer.exact or layer.q is None or layer.k is None or layer.v is None:
        raise Problem("layer {index} gives its weights only; its keys cannot be shared", index=layer.index)
    require_one_of("n_kv_heads", config.n_kv_heads, kv_head_choices(layer))
    before, after = _pooled_stages(layer, Config(layer.index, layer.n_kv_heads)), _pooled_stages(layer, config)
    allowed = layer.mask.expand(1, layer.n_heads, *layer.shape[2:])[0]
    return Result(
        config,
        layer.n_heads,
        layer.n_kv_heads,
        before.weights[0].float().numpy(force=True),
        after.weights[0].float().numpy(force=True),
        ~allowed[0].cpu().numpy(),
        weight_moved(before.weights[0], after.weights[0]).float().numpy(force=True),
        relative_change(before.output[0], after.output[0]).float().numpy(force=True),
        (config.n_kv_heads, *layer.k.shape[2:]),
        (config.n_kv_heads, *layer.v.shape[2:]),
        tuple(_measure_point(layer, before, g, config) for g in kv_head_choices(layer)),
    )


def _pooled_stages(layer: RecordedLayer, config: Config) -> Stages:
    """The layer's attention on pooled keys and values, (1, H, Q, K)."""
    q, k, v = pooling_change(config)(*(tensor[:1] for tensor in layer.qkv))
    return replace(layer, q=q, k=k, v=v).stages_of(list(range(layer.n_heads)))


def _measure_point(layer: RecordedLayer, before: Stages, n_kv_heads: int, config: Config) -> Point:
    after, (q, _k, v) = _pooled_stages(layer, replace(config, n_kv_heads=n_kv_heads)), layer.qkv
    width = layer.w_o.shape[0] if layer.w_o is not None else layer.n_heads * v.shape[-1]
    shape = HeadLayout(width, layer.n_heads, n_kv_heads, q.shape[-1], v.shape[-1])
    count = count_parameters(shape)
    return Point(
        n_kv_heads,
        float(relative_change(layer_output(layer, before), layer_output(layer, after))),
        kv_bytes(shape, layer.shape[3]),
        count.w_k + count.w_v,
    )


def layer_output(layer: RecordedLayer, stages: Stages) -> Tensor:
    """The layer's output for the first sentence, (Q, M); its heads concatenated without an output projection."""
    joined = stages.output[0].transpose(0, 1).flatten(1).float()
    return joined @ layer.w_o.float().T if layer.w_o is not None else joined


def relative_change(old: Tensor, new: Tensor) -> Tensor:
    """Length of the change over the length of `old`, for matrices (..., Q, M)."""
    length: Tensor = torch.linalg.vector_norm(new - old, dim=(-2, -1))
    return length / torch.linalg.vector_norm(old, dim=(-2, -1)).clamp_min(1e-30)


# What shared keys and values change in the whole model: the next token, before and after.
Scope = Literal["layer", "all"]


@dataclass(frozen=True)
class Downstream:
    """Next-token change after sharing. `guesses`, most probable first as trained, is empty without predictions."""

    scope: Scope
    guesses: tuple[ProbabilityChange, ...]
    divergence: float | None  #: KL(before || after) of the next token's distributions, nats; it is directed
    last_output_change: float  #: length of the change of the last layer's attention output, relative to that output


def rerun_with_sharing(before: ModelRun, loaded: LoadedModel, config: Config, scope: Scope = "layer") -> Downstream:
    """Run the model again with `config`'s sharing in one layer or in all."""
    edit = Edit(layers=config.layer if scope == "layer" else "all", change=pooling_change(config))
    logits: Logits = "last" if before.trace.logits is not None else None
    after = intervene(loaded.model, edit, logits=logits, **before.inputs_on(loaded.model.device))
    output_change = float(relative_change(_last_output(before.trace, loaded), _last_output(after, loaded)))
    if before.trace.logits is None or after.logits is None or loaded.entry.kind == "encoder":
        return Downstream(scope, (), None, output_change)
    old, new = (logits[0].double().softmax(-1) for logits in (before.trace.logits, after.logits))
    guesses = tuple(likeliest(loaded, before.trace.logits[0], after.logits[0], n_after=2))
    divergence = float((old * (old.clamp_min(1e-30).log() - new.clamp_min(1e-30).log())).sum())
    return Downstream(scope, guesses, divergence, output_change)


def _last_output(trace: Trace, loaded: LoadedModel) -> Tensor:
    """Output of the last self-attention layer, (Q, M)."""
    layer = add_output_projection(
        [candidate for candidate in trace.layers if candidate.kind == "self"][-1], loaded.model
    )
    return layer_output(layer, layer.stages_of(list(range(layer.n_heads))))
