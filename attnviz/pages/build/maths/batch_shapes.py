"""Shapes along the way at the sizes of a real batch, as torch works them out without computing a number."""

from dataclasses import dataclass

import torch


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
    made = {
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
    return {name: tuple(tensor.shape) for name, tensor in made.items()}


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
