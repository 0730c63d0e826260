"""The page's numbers again, as a program of a few lines that needs PyTorch only."""

from __future__ import annotations

from attnviz.core.temperature import COLDEST
from attnviz.experiments.scaling import growing_width, saturation, variance

_COMPONENTS = {
    "normal": "torch.randn(shape, generator=g)",
    "uniform": "(torch.rand(shape, generator=g) - 0.5) * (2 * math.sqrt(3))",
    "rademacher": "torch.randint(0, 2, shape, generator=g, dtype=torch.float32) * 2 - 1",
    "heavy-tailed": "student(shape, g)",
}
_STUDENT = """
def student(shape, g):  # t with 4 degrees of freedom over sqrt 2, so that its variance is 1
    u, w = 1 - torch.rand(shape, generator=g), torch.rand(shape, generator=g)
    return ((u.rsqrt() - 1) * 4).sqrt() * (w * (2 * math.pi)).cos() / math.sqrt(2)
"""
_LOGITS = {
    "temperature": "(q @ k.mT) * (1 / (math.sqrt(d) * {p}))",
    "inverse": "(q @ k.mT) * ({p} / d)",
    "qk-norm": "(F.normalize(q, dim=-1) * {p}) @ F.normalize(k, dim=-1).mT",
    "softcap": "{p} * torch.tanh((q @ k.mT) * (1 / math.sqrt(d)) / {p})",
    "log-n": "(q @ k.mT) * (1 / math.sqrt(d) * math.log(k.shape[-2]) / math.log({p}))",
    "sink": "(q @ k.mT) * (1 / math.sqrt(d))",
}


def code(spread: variance.Config, row: growing_width.Config) -> str:
    """Prints the variances of section 1, the row of section 2, and the medians of its curves."""
    return "\n".join([_head(spread), _variance(spread), _row(row), _curves(row)])


def _head(spread: variance.Config) -> str:
    student = _STUDENT if spread.distribution == "heavy-tailed" else ""
    return f"import math\n\nimport torch\nimport torch.nn.functional as F\n{student}"


def _variance(config: variance.Config) -> str:
    block = variance.per_block(config)
    drawn = _COMPONENTS.get(config.distribution, _COMPONENTS["normal"])
    spoil = {
        "correlated": f"k = torch.add(k * math.sqrt(1 - ({config.strength}) ** 2), q, alpha={config.strength})",
        "shifted": f"q, k = q + {config.strength}, k + {config.strength}",
    }.get(config.distribution)
    lines = [
        "# 1. The variance of q.k",
        f"d_k, pairs, products = {config.d_k}, {config.pairs}, []",
        f"g = torch.Generator().manual_seed({config.seed})",
        f"for start in range(0, pairs, {block}):",
        f"    shape = (min({block}, pairs - start), d_k)",
        f"    q = {drawn}",
        f"    k = {drawn}",
        *([f"    {spoil}"] if spoil else []),
        "    products.append((q * k).sum(-1))",
        "raw = torch.cat(products)",
        "scaled = raw * (1 / math.sqrt(d_k))",
        "raw_variance = raw.double().var(correction=0).item()",
        "scaled_variance = scaled.double().var(correction=0).item()",
        'print(f"variance of q.k: raw {raw_variance:.4f} beside {d_k}, scaled {scaled_variance:.4f} beside 1")',
        "",
    ]
    return "\n".join(lines)


def _row(config: growing_width.Config) -> str:
    sets, rows = growing_width.how_many(config.n_keys)
    n, width = config.n_keys, growing_width.LARGEST_D_K
    lines = [
        "# 2. Softmax: queries and keys, in sets that share keys",
        f"d_k, g, sets = {config.d_k}, torch.Generator().manual_seed({config.seed}), []",
        f"for _ in range({sets}):",
        f"    q = torch.randn({rows}, {width}, generator=g)",
        f"    k = torch.randn({n}, {width}, generator=g)",
        "    sets.append((q, k))",
        f"    torch.randn({rows}, {n}, generator=g)  # gradients use these",
        "all_q, all_k = (torch.stack(part)[:, None] for part in zip(*sets))",
        "",
        "def weights(q, k, way):",
        "    d = q.shape[-1]",
        '    if way == "raw":',
        "        return (q @ k.mT).softmax(-1)",
        '    if way == "scaled":',
        "        return ((q @ k.mT) * (1 / math.sqrt(d))).softmax(-1)",
        *_alternative(config),
        "",
        "def entropy(p):",
        "    p = p / p.sum(-1, keepdim=True)",
        "    return -torch.special.xlogy(p, p).sum(-1)",
        "",
        "q, k = all_q[0, :, :1, :d_k], all_k[0, :, :, :d_k]  # one query, all its keys",
        "row = {}",
        f'for way in ("raw", "scaled", "{config.alternative}"):',
        "    p = weights(q, k, way)[0, 0].double()",
        "    row[way] = (p.max().item(), entropy(p).item(), entropy(p).exp().item())",
        '    print(way, "largest weight %.6f, entropy %.6f, effective keys %.4f" % row[way])',
        "",
    ]
    return "\n".join(lines)


def _alternative(config: growing_width.Config) -> list[str]:
    p = repr(config.parameter)
    if config.alternative == "temperature" and config.parameter <= COLDEST:
        largest = "(z == z.amax(-1, keepdim=True)).float()"
        return ["    z = q @ k.mT", f"    top = {largest}", "    return top / top.sum(-1, keepdim=True)"]
    lines = [f"    z = {_LOGITS[config.alternative].format(p=p)}"]
    if config.alternative == "sink":
        return [*lines, f"    return torch.cat([z, torch.full_like(z[..., :1], {p})], -1).softmax(-1)[..., :-1]"]
    return [*lines, "    return z.softmax(-1)"]


def _curves(config: growing_width.Config) -> str:
    return "\n".join(
        [
            "medians = {}",
            f"for d in {saturation.GRID}:",
            f'    for way in ("raw", "scaled", "{config.alternative}"):',
            "        p = weights(all_q[..., :d], all_k[..., :d], way)",
            "        medians[d, way] = [x.flatten().double().quantile(0.5).item() for x in (p.amax(-1), entropy(p))]",
            '    print(d, {way: "%.4f, %.4f" % tuple(medians[d, way]) for width, way in medians if width == d})',
            "",
        ]
    )
