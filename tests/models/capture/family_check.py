"""Build one family from a tiny config, and compare capture with what the model reports on its eager path."""

import copy
import inspect
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor
from transformers import PreTrainedConfig, PreTrainedModel

from attnviz.models.capture import RecordedLayer, capture

LIMIT = 40_000_000  #: a model with more parameters counts as too large: the tiny config did not shrink it


@dataclass
class Verdict:
    """The result for one family with its tiny config."""

    exact: int = 0  #: number of layers computed from q and k
    reported: int = 0  #: number of layers for which only the weights reported by the model are available
    compared: int = 0  #: number of layers that the eager path also reports
    error: float = 0.0  #: largest difference over the compared layers
    missing: int = 0  #: number of attention matrices that the eager path reports and capture did not record
    strange: list[str] = field(default_factory=list)  #: descriptions of layers that differ
    features: set[str] = field(default_factory=set)
    failure: str = ""

    @property
    def good(self) -> bool:
        return not self.failure and self.exact > 0 and not self.strange and not self.missing


def from_config(
    model_class: type[PreTrainedModel], config: PreTrainedConfig, attention: str | None = None
) -> PreTrainedModel:
    """A model of exactly this class; the public `from_config` of the auto classes chooses the class itself."""
    given = {} if attention is None else {"attn_implementation": attention}
    return model_class._from_config(copy.deepcopy(config), **given)


def build(model_class: type[PreTrainedModel], config: PreTrainedConfig, seed: int = 0) -> PreTrainedModel:
    """The model with random weights that are large enough to make its attention far from uniform."""
    with torch.device("meta"):
        size = sum(p.numel() for p in from_config(model_class, config).parameters())
    if size > LIMIT:
        raise ValueError(f"still {size / 1e6:.0f}M parameters")
    torch.manual_seed(seed)
    model = from_config(model_class, config).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "sink" in name:
                parameter.normal_()
            elif parameter.dim() >= 2 and parameter.is_floating_point() and "embed" not in name:
                parameter.mul_(2.0)
    return model


def plain_of(model: PreTrainedModel, config: PreTrainedConfig) -> PreTrainedModel:
    """A second model with the same weights, on transformers' own eager path."""
    plain = from_config(type(model), config, "eager").eval()
    plain.load_state_dict(model.state_dict())
    return plain


def check(model_class: type[PreTrainedModel], config: PreTrainedConfig, inputs: dict[str, Any]) -> Verdict:
    """Compare capture on the family's default path with `output_attentions=True` on its eager path."""
    model = build(model_class, config)
    plain = plain_of(model, config)
    if "use_cache" in inspect.signature(plain.forward).parameters:
        inputs = inputs | {"use_cache": False}
    torch.manual_seed(1)  # some families drop patches at random
    with torch.no_grad():
        wanted = list(attentions(plain(**inputs, output_attentions=True)))
    torch.manual_seed(1)
    trace = capture(model, logits=None, **inputs)
    return compare(list(trace.layers), wanted)


def attentions(output: Any) -> Iterator[list[Tensor]]:
    """The attention matrices (B, H, Q, K) anywhere in a model's output: one list per stack, in the model's order."""
    values = output.items() if hasattr(output, "items") else ()
    for name, value in values:
        if name.endswith("attentions") and isinstance(value, tuple | list):
            yield [entry for entry in value if isinstance(entry, Tensor) and entry.dim() == 4]
        elif hasattr(value, "items"):
            yield from attentions(value)


def compare(layers: list[RecordedLayer], wanted: list[list[Tensor]], tolerance: float = 1e-5) -> Verdict:
    """Pair every matrix of the eager path with the most similar recorded layer, using each layer once.

    The output does not say which stack a recorded layer belongs to, hence the search for the most similar one.
    Within a stack, the layers must be in the order in which the eager path reports them.
    """
    verdict = Verdict(sum(layer.exact for layer in layers), sum(not layer.exact for layer in layers))
    free = dict(enumerate(layers))
    for stack in wanted:
        last = -1
        for matrix in stack:
            distances = [
                (difference(layer, matrix), n) for n, layer in free.items() if layer.shape == tuple(matrix.shape)
            ]
            if not distances:
                verdict.missing += 1
                continue
            error, n = min(distances)
            layer = free.pop(n)
            verdict.compared += 1
            verdict.error = max(verdict.error, error)
            if not error < tolerance:
                verdict.strange.append(f"{layer.name} off by {error:.2g}")
            elif n < last:
                verdict.strange.append(f"{layer.name} stands before {layers[last].name}, which comes first")
            last = max(last, n)
    for layer in layers:
        verdict.features |= features(layer)
    if any(_same_weights(*pair) for pair in pairwise(layers)):
        verdict.features.add("each layer stands twice, once for each half of its values")
    return verdict


def _same_weights(layer: RecordedLayer, other: RecordedLayer) -> bool:
    """Whether two calls attended with the very same queries and keys: one layer, which the model calls twice."""
    pairs = ((layer.q, other.q), (layer.k, other.k))
    return all(a is not None and b is not None and a.shape == b.shape and bool((a == b).all()) for a, b in pairs)


def difference(layer: RecordedLayer, matrix: Tensor) -> float:
    """Largest difference over rows that have an allowed key: in other rows eager weights are uniform, ours 0."""
    ours = layer.weights()
    empty = ours.sum(-1, keepdim=True) == 0
    if layer.exact and layer.allowed is not None:
        empty = empty | ~layer.mask.any(-1, keepdim=True)
    return (ours - matrix).masked_fill(empty, 0.0).abs().max().item()  # also removes the eager path's NaN


def features(layer: RecordedLayer) -> set[str]:
    """The special features of a layer, one word each."""
    found = set()
    if layer.kind == "cross":
        found.add("cross")
    if layer.n_kv_heads < layer.n_heads:
        found.add("shared K/V")
    if layer.softcap is not None:
        found.add("soft-cap")
    if layer.sinks is not None:
        found.add("sinks")
    if layer.bias is not None:
        found.add("bias")
    if layer.exact and layer.stack == "decoder" and layer.kind == "self" and layer.shape[2] == layer.shape[3]:
        q_len = layer.shape[2]
        band = torch.ones(q_len, q_len, dtype=torch.bool).tril()
        if layer.allowed is not None and bool((layer.mask[0, 0] != band).any()):
            found.add("pattern")
    if layer.exact and layer.stack == "encoder" and layer.allowed is not None and not bool(layer.mask[0, 0].all()):
        found.add("pattern")
    if layer.exact and layer.q is not None and abs(layer.scale * layer.q.shape[-1] ** 0.5 - 1) > 1e-3:
        found.add("own scale")
    return found
