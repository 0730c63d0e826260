"""The page's numbers again in a few lines of PyTorch."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

from attnviz.core.precision import bits
from attnviz.experiments.explorer import ModelRun
from attnviz.experiments.sharing import SharingResult as Result
from attnviz.models.architecture import Architecture, Deployment, Paged
from attnviz.ui.shared import snippet


def sharing(run: ModelRun, result: Result) -> None:
    """Draw the code that pools the recorded keys and values, and attends again."""
    snippet(sharing_code(run, result), "h-see")


def counting(arch: Architecture, how: Deployment) -> None:
    """Draw the code that counts parameters and cache bytes as tensors on the meta device."""
    snippet(counting_code(arch, how), "h-count")


def sharing_code(run: ModelRun, result: Result) -> str:
    config = result.config
    pool = {
        "mean": "t.unflatten(1, (G, -1)).mean(2)",
        "first": "t.unflatten(1, (G, -1))[:, :, 0]",
        "random": "torch.randn(1, G, *t.shape[2:], generator=torch.Generator().manual_seed(seed)) * t.std()",
    }[config.method]
    if config.n_kv_heads > result.trained_kv_heads:
        pool = "t.repeat_interleave(G // t.shape[1], 1)"
    return f"""\
import torch
from attnviz.models.capture import capture
from attnviz.models.loading import load
from attnviz.models.tokens import encode

loaded = load({run.request.model!r})
tokens = encode(loaded, {run.request.text!r})
layer = capture(loaded.model, logits=None, **tokens.inputs).layers[{config.layer}]
G = {config.n_kv_heads}  # K/V heads; the layer was trained with {result.trained_kv_heads}


def pooled(t, seed):
    return t if G == t.shape[1] else {pool}


q, k, v = layer.q, pooled(layer.k, {config.seed}), pooled(layer.v, {config.seed + 1})
scores = (q.unflatten(1, (G, -1)) @ k.unsqueeze(2).mT * layer.scale).flatten(1, 2)  # (B, H, Q, K)
shared = scores.masked_fill(~layer.mask, -torch.inf).softmax(-1)
moved = (shared - layer.weights()).abs().sum(-1) / 2  # how much of each row went elsewhere
chose = (layer.mask.sum(-1) > 1).expand_as(moved)  # rows that had two keys or more
print([round(m, 4) for m in ((moved * chose).sum(-1) / chose.sum(-1))[0].tolist()])
print("K/V bytes at 16 bits:", (k.numel() + v.numel()) * 2)
"""


def counting_code(arch: Architecture, how: Deployment) -> str:
    """The code for `counting`; layers that are alike are counted once and multiplied."""
    counts: Counter[tuple[int, int, int, int, int]] = Counter()
    paged = Paged(hybrid=how.hybrid)
    for layer in arch.layers:
        length = how.encoder_tokens if layer.role == "cross" else how.context
        kept = layer.tokens_kept(length, how.convention, paged)
        held = layer.cached if layer.held is None or how.convention != "transformers" else layer.held
        counts[layer.parameters.total, held, kept, layer.fixed, layer.fixed_float32] += 1
    rows = "\n".join(f"    ({n}, {', '.join(map(str, row))})," for row, n in counts.items())
    plain = how.cache_dtype if how.cache_dtype in ("float32", "float16", "bfloat16") else "bfloat16"
    each = bits(how.cache_dtype, how.group) / 8
    growing = f"nbytes(each * kept, torch.{plain})" if each == bits(plain) / 8 else _rounded_up(each)
    return f"""\
import torch

# {arch.name}: how many layers alike, attention parameters of one, numbers a token leaves in its cache,
# tokens kept of {how.context:,} ({how.convention}), and numbers kept whatever the length (16 bit, 32 bit)
layers = [
{rows}
]


def nbytes(numbers, dtype):
    return torch.empty(numbers, dtype=dtype, device="meta").nbytes


parameters = sum(n * count for n, count, *_ in layers)
cache = {how.batch} * sum(
    n * ({growing} + nbytes(fixed, torch.{plain}) + nbytes(fixed32, torch.float32))
    for n, _, each, kept, fixed, fixed32 in layers
)
print("attention parameters:", parameters)
print("cache bytes:", cache)
"""


def _rounded_up(each: Fraction) -> str:
    """Python code for the bytes of `each * kept` numbers, in a format that torch has no dtype for."""
    return f"-(-each * kept * {each.numerator} // {each.denominator})"
