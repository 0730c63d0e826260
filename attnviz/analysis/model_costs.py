"""What a model's attention costs: parameters, cache bytes by layer and convention, FLOPs; and shared otherwise."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from attnviz.base.extras import load_figures, pandas
from attnviz.base.message import MessageList, Problem
from attnviz.base.units import binary
from attnviz.core.costs import Flops, Parameters
from attnviz.models.architecture.architecture import Architecture
from attnviz.models.architecture.layer_spec import CONVENTIONS, Convention
from attnviz.models.architecture.ways import SMALLER, has_heads, with_compressed_cache, with_kv_heads
from attnviz.models.catalogue import LoadedModel

if TYPE_CHECKING:
    import pandas as pd
    import torch


@dataclass(frozen=True, repr=False)
class Costs:
    """Costs of one architecture's attention for `batch` sequences of `tokens` tokens."""

    architecture: Architecture
    tokens: int
    batch: int
    dtype: str

    @property
    def parameters(self) -> Parameters:
        """Attention parameters by kind, W_Q to norms, with their `.total`."""
        return self.architecture.parameters()

    @property
    def cache_bytes(self) -> dict[Convention, int]:
        """Bytes of the KV cache by convention: the least, what transformers stores, what a paged server allocates."""
        return {convention: sum(column) for convention, column in self.cache_bytes_by_layer.items()}

    @property
    def cache_bytes_by_layer(self) -> dict[Convention, list[int]]:
        """The same for each layer."""
        arch, encoder = self.architecture, self.architecture.encoder_tokens(self.tokens)
        layers = (arch.bytes_by_layer(self.tokens, self.batch, self.dtype, c, encoder) for c in CONVENTIONS)
        return {name: [size for _, size in layer] for name, layer in zip(CONVENTIONS, layers, strict=True)}

    @property
    def prefill_flops(self) -> Flops:
        """FLOPs of attention to read all tokens under the causal mask, by step, with their `.total`."""
        arch, encoder = self.architecture, self.architecture.encoder_tokens(self.tokens)
        return arch.prefill_flops(self.tokens, causal=True, encoder_tokens=encoder or None) * self.batch

    @property
    def decode_flops(self) -> Flops:
        """FLOPs of attention to write one more token, by step, with their `.total`."""
        encoder = self.architecture.encoder_tokens(self.tokens)
        return self.architecture.decode_flops(self.tokens, encoder_tokens=encoder or None) * self.batch

    def as_(self, scheme: str, n_kv_heads: int | None = None) -> Costs:
        """Costs of the same model as "MHA", "MQA", "GQA" with `n_kv_heads` (8 unless said), or "MLA"."""
        heads = [layer for layer in self.architecture.layers if has_heads(layer)]
        kv_heads = {"MHA": heads[0].n_heads if heads else 0, "MQA": 1, "GQA": n_kv_heads or 8}
        if not heads or scheme not in (*kv_heads, "MLA") or (n_kv_heads is not None and scheme != "GQA"):
            raise Problem(
                "{scheme} is no scheme for this model; there are {known}, and n_kv_heads= goes with GQA",
                scheme=repr(scheme),
                known=MessageList((*kv_heads, "MLA") if heads else ("none",)),
            )
        if scheme == "MLA":
            return replace(self, architecture=with_compressed_cache(self.architecture, next(iter(SMALLER.values()))))
        return replace(self, architecture=with_kv_heads(self.architecture, kv_heads[scheme]))

    def to_dataframe(self) -> pd.DataFrame:
        """One row for each layer: kind, heads, parameters and cache bytes by convention. Needs pandas."""
        columns = self.cache_bytes_by_layer
        rows = [
            {"layer": layer.index, "stack": layer.stack, "role": layer.role, "kind": layer.kind}
            | {"n_heads": layer.n_heads, "n_kv_heads": layer.n_kv_heads, "parameters": layer.parameters.total}
            | {f"cache_{name}": column[number] for name, column in columns.items()}
            for number, layer in enumerate(self.architecture.layers)
        ]
        return pandas().DataFrame(rows)

    def plot(self) -> Any:
        """A Plotly figure: cache bytes of each layer, by convention."""
        return load_figures("library_charts").draw_layer_bytes(self.cache_bytes_by_layer)

    def __repr__(self) -> str:
        arch, kept = self.architecture, ", ".join(f"{n} {binary(size)}" for n, size in self.cache_bytes.items())
        return "\n".join(
            (
                f"Costs of {arch.name}: {arch.blocks} layers, {self.batch} x {self.tokens:,} tokens, {self.dtype}",
                f"  attention parameters {self.parameters.total:,}",
                f"  KV cache: {kept}",
                f"  attention FLOPs: {self.prefill_flops.total:.3g} to read, {self.decode_flops.total:.3g} a token",
            )
        )


def costs(model: Any, tokens: int = 8192, batch: int = 1, dtype: str | torch.dtype = "bfloat16") -> Costs:
    """What the attention of a model costs: parameters, KV cache and FLOPs, from its config alone.

    `model` is a model, its config (an object or the contents of a config.json), or the name of a published one, such as
    "llama-3.1-8b". `dtype` is that of the cache: its name, or torch's.
    """
    model = model.model if isinstance(model, LoadedModel) else model
    config = getattr(model, "config", model)
    if isinstance(model, Architecture | str):
        architecture = Architecture.preset(model) if isinstance(model, str) else model
    elif isinstance(config, dict) or hasattr(config, "model_type"):
        architecture = Architecture.from_config(config)
    else:
        raise Problem(
            "{given} has no config: give a model of transformers, its config, or the name of a published model",
            given=type(model).__name__,
        )
    found = Costs(architecture, tokens, batch, str(dtype).removeprefix("torch."))
    _ = found.cache_bytes  # a number or a dtype that makes no sense is refused here
    return found
