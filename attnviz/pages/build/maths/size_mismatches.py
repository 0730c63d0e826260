"""Which sizes must agree: PyTorch's own error beside that of attnviz, for any sizes; and shapes of a real batch."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from attnviz.base.message import Message, Problem
from attnviz.core.attention import attend


@dataclass(frozen=True)
class Sizes:
    """Every size of one attention call, also those that ought to be equal."""

    n_heads: int = 2  #: H
    n_kv_heads: int = 2  #: G
    queries: int = 4  #: Q
    keys: int = 3  #: K of the keys
    values: int = 3  #: K of the values
    q_width: int = 4  #: D of the queries
    k_width: int = 4  #: D of the keys
    v_width: int = 5  #: Dv
    mask_queries: int = 4
    mask_keys: int = 3


@dataclass(frozen=True)
class SizeRule:
    """Two sizes compared: their names, their values, and whether they agree. None: they need not."""

    name: str  #: "width" | "keys" | "groups" | "lengths" | "value_width" | "mask"
    left: int
    right: int
    holds: bool | None


@dataclass(frozen=True)
class Result:
    """The rules, and the same call in PyTorch and in attnviz: an error or the output's shape."""

    rules: tuple[SizeRule, ...]
    torch_error: str | None
    our_error: Message | None
    shape: tuple[int, ...] | None  #: (H, Q, Dv) when both work
    code: str  #: the PyTorch call, runnable


#: Deliberate mistakes to choose from: each changes one size that has to agree.
MISTAKES: dict[str, dict[str, int]] = {
    "none": {},
    "width": {"k_width": 5},
    "keys": {"values": 4},
    "groups": {"n_heads": 6, "n_kv_heads": 4},
    "mask": {"mask_keys": 5},
}


def run(sizes: Sizes) -> Result:
    """Check each rule and make the call both ways."""
    mask_fits = sizes.mask_queries in (1, sizes.queries) and sizes.mask_keys in (1, sizes.keys)  # 1: it is repeated
    rules = (
        SizeRule("width", sizes.q_width, sizes.k_width, sizes.q_width == sizes.k_width),
        SizeRule("keys", sizes.keys, sizes.values, sizes.keys == sizes.values),
        SizeRule("groups", sizes.n_heads, sizes.n_kv_heads, sizes.n_heads % sizes.n_kv_heads == 0),
        SizeRule("mask", sizes.mask_keys, sizes.keys, mask_fits),
        SizeRule("lengths", sizes.queries, sizes.keys, None),
        SizeRule("value_width", sizes.v_width, sizes.q_width, None),
    )
    generator = torch.Generator().manual_seed(0)
    q = torch.randn(sizes.n_heads, sizes.queries, sizes.q_width, generator=generator)
    k = torch.randn(sizes.n_kv_heads, sizes.keys, sizes.k_width, generator=generator)
    v = torch.randn(sizes.n_kv_heads, sizes.values, sizes.v_width, generator=generator)
    mask = torch.ones(sizes.mask_queries, sizes.mask_keys, dtype=torch.bool)
    in_torch, here = (
        _call_or_catch(lambda: attend_in_three_lines(q, k, v, mask)),
        _call_or_catch(lambda: attend(q, k, v, mask).output),
    )
    return Result(
        rules,
        str(in_torch) if isinstance(in_torch, Exception) else None,
        _message(here) if isinstance(here, Exception) else None,
        tuple(here.shape) if isinstance(here, Tensor) else None,
        code(sizes),
    )


def attend_in_three_lines(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
    """Attention as three lines of PyTorch, K and V repeated for the query heads that share them."""
    group_size = q.shape[0] // k.shape[0]
    k, v = k.repeat_interleave(group_size, 0), v.repeat_interleave(group_size, 0)
    scores = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(~mask, -torch.inf)
    return F.softmax(scores, -1) @ v


def _call_or_catch(call: Callable[[], Tensor]) -> Tensor | Exception:
    try:
        return call()
    except (RuntimeError, ValueError, ZeroDivisionError) as refusal:
        return refusal


def _message(refusal: Exception) -> Message:
    return refusal.message if isinstance(refusal, Problem) else Message("{error}", {"error": str(refusal)})


def code(sizes: Sizes) -> str:
    """Source of the PyTorch call with these sizes, to paste: it fails or works as it does on the page."""
    repeat = ""
    if sizes.n_heads != sizes.n_kv_heads:
        repeat = f"k, v = (t.repeat_interleave({sizes.n_heads} // {sizes.n_kv_heads}, 0) for t in (k, v))\n"
    return (
        "import torch\n\n"
        f"q = torch.randn({sizes.n_heads}, {sizes.queries}, {sizes.q_width})     # H, Q, D\n"
        f"k = torch.randn({sizes.n_kv_heads}, {sizes.keys}, {sizes.k_width})     # G, K, D\n"
        f"v = torch.randn({sizes.n_kv_heads}, {sizes.values}, {sizes.v_width})     # G, K, Dv\n"
        f"mask = torch.ones({sizes.mask_queries}, {sizes.mask_keys}, dtype=torch.bool)  # Q, K\n"
        f"{repeat}"
        "scores = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(~mask, -torch.inf)\n"
        "print((scores.softmax(-1) @ v).shape)\n"
    )


# Shapes along the way at the sizes of a real batch, as torch works them out without computing a number.
@dataclass(frozen=True)
class BatchSize:
    """(B, T, M), and the heads that M is cut into."""

    batch: int
    tokens: int
    width: int
    heads: int


#: by id, as links write it
BATCH_SIZES = {"10x60x512": BatchSize(10, 60, 512, 8), "128x512x1024": BatchSize(128, 512, 1024, 16)}
BYTES = 4  #: of a number in float32


def shapes(size: BatchSize) -> dict[str, tuple[int, ...]]:
    """The shape of each tensor from X to the output, by its name on the walk."""
    with torch.device("meta"):
        x = torch.empty(size.batch, size.tokens, size.width)
        w = torch.empty(size.width, size.width)
    flat = x @ w
    q = k = v = flat.unflatten(-1, (size.heads, -1)).transpose(1, 2)
    scores = q @ k.mT
    heads = scores.softmax(-1) @ v
    merged = heads.transpose(1, 2).flatten(2)
    tensors = {
        "X": x,
        "X W_Q": flat,
        "Q": q,
        "K": k,
        "V": v,
        "Q Kᵀ": scores,
        "weights": scores,
        "heads": heads,
        "merged": merged,
        "output": merged @ w,
    }
    return {name: tuple(tensor.shape) for name, tensor in tensors.items()}


def program(size: BatchSize) -> str:
    """Source that prints the same shapes: on the meta device tensors have shapes and no numbers."""
    return (
        "import torch\n\n"
        f"B, T, M, H = {size.batch}, {size.tokens}, {size.width}, {size.heads}\n"
        'with torch.device("meta"):  # shapes without numbers\n'
        "    X = torch.empty(B, T, M)\n"
        "    W_Q, W_K, W_V, W_O = (torch.empty(M, M) for _ in range(4))\n"
        "Q, K, V = ((X @ W).unflatten(-1, (H, M // H)).transpose(1, 2) for W in (W_Q, W_K, W_V))\n"
        "scores = Q @ K.mT / (M // H) ** 0.5\n"
        "heads = scores.softmax(-1) @ V\n"
        "merged = heads.transpose(1, 2).flatten(2)\n"
        "output = merged @ W_O\n"
        "for tensor in (X, Q, K, V, scores, heads, merged, output):\n"
        "    print(tuple(tensor.shape))\n"
    )
