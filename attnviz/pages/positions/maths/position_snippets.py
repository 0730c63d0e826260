"""The numbers of the sections on words and on encodings again, as programs that need PyTorch only."""

from __future__ import annotations

from attnviz.pages.positions.maths import position_kinds, position_scores, shuffled_words

_ROTATE = """\
def rotate(x, positions, base):  # x (..., T, D)
    theta = base ** -(torch.arange(0, x.shape[-1], 2, dtype=torch.float64) / x.shape[-1])
    cos, sin = (f(positions.double()[:, None] * theta) for f in (torch.cos, torch.sin))
    {split}
    return {join}
"""
_PAIRS = {
    "rope-half": ("a, b = x.chunk(2, -1)", "torch.cat([a * cos - b * sin, b * cos + a * sin], -1)"),
    "rope-interleaved": (
        "a, b = x[..., 0::2], x[..., 1::2]",
        "torch.stack([a * cos - b * sin, b * cos + a * sin], -1).flatten(-2)",
    ),
}
_SINUSOIDAL = """\
def sinusoidal(positions, width, base):
    theta = base ** -(torch.arange(0, width, 2, dtype=torch.float64) / width)
    angles = positions.double()[:, None] * theta
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(-2)
"""
_T5 = """\
def bucket(distance, both_ways, buckets=32, longest=128):  # key minus query
    buckets = buckets // 2 if both_ways else buckets
    ahead = (distance > 0) * buckets if both_ways else 0
    n = distance.abs() if both_ways else (-distance).clamp(min=0)
    exact = buckets // 2
    far = exact + ((n.clamp(min=1).float() / exact).log() / math.log(longest / exact) * (buckets - exact)).long()
    return ahead + torch.where(n < exact, n, far.clamp(max=buckets - 1))
"""
_DRAWN = """\
def drawn(seed, *shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).double()
"""


def order(config: shuffled_words.Config) -> str:
    """Prints the largest change of any output when the words change places."""
    kind, heads = config.kind, shuffled_words.HEADS
    order = shuffled_words.ordering(config.order, len(config.words), config.seed).tolist()
    add, turn, bias = "", "", ""
    if kind == "sinusoidal":
        add = "    x = x + sinusoidal(positions, M, 10_000.0)\n"
    if kind == "learned":
        add = f"    x = x + drawn({config.seed}, {position_kinds.LONGEST}, M)[:n]\n"
    if kind in position_kinds.ROTATED:
        turn = "    q, k = rotate(q, positions, 10_000.0), rotate(k, positions, 10_000.0)\n"
    if kind in position_kinds.BIASED:
        bias = " + bias(positions, H)"
    mask = "    scores = scores.masked_fill(~torch.ones(n, n, dtype=torch.bool).tril(), -torch.inf)\n"
    return f"""\
import math
import zlib

import torch

words, H, M = {list(config.words)!r}, {heads}, {shuffled_words.WIDTH}
order = {order}

{_DRAWN}
{_helpers(kind, config.seed)}
def attention(x):
    n = len(x)
    positions = torch.arange(n)
{add}    q, k, v = ((x @ w).unflatten(-1, (H, -1)).transpose(0, 1) for w in (w_q, w_k, w_v))
{turn}    scores = q @ k.mT / math.sqrt(M // H){bias}
{mask if config.causal else ""}    return (scores.softmax(-1) @ v).transpose(0, 1).flatten(1)


x = torch.stack([drawn(zlib.crc32(f"{config.seed}/{{word}}".encode()), M) for word in words])
w_q, w_k, w_v = (drawn(zlib.crc32(f"{config.seed}/{{name}}".encode()), M, M) / math.sqrt(M) for name in "qkv")
moved = (attention(x[order]) - attention(x)[order]).abs().amax(-1)  # of each word
change = moved.max().item()
print(f"largest change of an output: {{change:.3g}}")
"""


def _helpers(kind: str, seed: int) -> str:
    """The function that the kind needs, with the empty lines around it."""
    if kind in position_kinds.ROTATED:
        split, join = _PAIRS[kind]
        return "\n" + _ROTATE.format(split=split, join=join) + "\n"
    if kind == "sinusoidal":
        return "\n" + _SINUSOIDAL + "\n"
    if kind == "alibi":
        return "\n" + _alibi() + "\n"
    if kind == "t5":
        return "\n" + _T5 + "\n\n" + _t5_bias(seed, True) + "\n"
    return ""


def _alibi() -> str:
    return """\
def slopes(heads):
    below = 2 ** int(math.log2(heads))
    found = [2.0 ** (-8 * (i + 1) / below) for i in range(below)]
    return torch.tensor(found + [2.0 ** (-4 * (2 * i + 1) / below) for i in range(heads - below)]).double()


def bias(positions, heads):
    return -slopes(heads)[:, None, None] * (positions[None, :] - positions[:, None]).abs()
"""


def _t5_bias(seed: int, both_ways: bool) -> str:
    return f"""\
def bias(positions, heads):  # the table is random: a model learns it
    return drawn({seed}, 32, heads)[bucket(positions[None, :] - positions[:, None], {both_ways})].permute(2, 0, 1)
"""


def scores(config: position_scores.Config, trained: bool = False) -> str:
    """Prints scores over the distance, and how much they change when all positions are shifted."""
    kind = config.kind
    helpers = _helpers(kind, config.seed)
    if kind == "t5":
        helpers = "\n" + _T5 + "\n\n" + _t5_bias(config.seed, config.bidirectional) + "\n"
    table = _table(config, trained) if kind == "learned" else ""
    load = "from attnviz.models.capture import learned_positions\nfrom attnviz.models.loading import load\n"
    return f"""\
import math

import torch
{load if table and trained else ""}
D, n, shift = {config.width}, {config.n}, {config.shift}

{_DRAWN}
{helpers}{table}
def scores(positions):
{_scores_body(config)}

at = torch.arange(n)
found = scores(at)
for back in sorted({{0, 1, n // 2, n - 1}}):
    print(f"{{back:>4}} back: mean score {{found.diagonal(-back).mean().item():.4f}}")
try:
    shifted = (scores(at + shift) - found).abs().max().item()
    print(f"all positions shifted by {{shift}}: scores change by up to {{shifted:.3g}}")
except IndexError:
    shifted = None
    print(f"position {{n - 1 + shift}} has no learned vector")
"""


def _table(config: position_scores.Config, trained: bool) -> str:
    if trained:
        return f"\ntable = learned_positions(load({position_kinds.MODEL!r}).model).double()\nD = table.shape[1]\n\n"
    return f"\ntable = drawn({config.seed}, {position_kinds.LONGEST}, D)\n\n"


def _scores_body(config: position_scores.Config) -> str:
    if config.kind in position_kinds.BIASED:
        return f"    return bias(positions, {config.heads})[{config.head}]\n"
    if config.kind in position_kinds.ROTATED:
        content = "torch.ones(2, D).double()" if config.content == "same" else f"drawn({config.seed}, 2, D)"
        return (
            f"    q, k = (rotate(x.expand(n, D), positions, {config.base!r}) for x in {content})\n"
            "    return q @ k.T / math.sqrt(D)\n"
        )
    x = f"sinusoidal(positions, D, {config.base!r})" if config.kind == "sinusoidal" else "table[positions]"
    lines = [f"    x = {x}"]
    if config.content == "random":
        lines += [f"    w_q, w_k = drawn({config.seed + 1}, 2, D, D) / math.sqrt(D)"]
        lines += ["    return (x @ w_q) @ (x @ w_k).T / math.sqrt(D)", ""]
    else:
        lines += ["    return x @ x.T / math.sqrt(D)", ""]
    return "\n".join(lines)
