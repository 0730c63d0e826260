"""Section 1 as a program: the variance of q.k at the chosen d_k, and over d_k."""

from __future__ import annotations

from attnviz.pages.scaling.maths import variance

_COMPONENTS = {
    "normal": "torch.randn(shape, generator=g)",
    "uniform": "(torch.rand(shape, generator=g) - 0.5) * (2 * math.sqrt(3))",
    "rademacher": "torch.randint(0, 2, shape, generator=g, dtype=torch.float32) * 2 - 1",
    "heavy-tailed": "student(shape, g)",
}
_STUDENT = [
    "def student(shape, g):  # t with 4 degrees of freedom over sqrt 2, so that its variance is 1",
    "    u, w = 1 - torch.rand(shape, generator=g), torch.rand(shape, generator=g)",
    "    return ((u.rsqrt() - 1) * 4).sqrt() * (w * (2 * math.pi)).cos() / math.sqrt(2)",
    "",
]


def of_variance(config: variance.Config) -> str:
    """Prints mean, standard deviation and variance, raw and scaled, and the variance at every d_k of the curve."""
    block = variance.per_block(config)
    spoil = {
        "correlated": f"k = torch.add(k * math.sqrt(1 - ({config.strength}) ** 2), q, alpha={config.strength})",
        "shifted": f"q, k = q + {config.strength}, k + {config.strength}",
    }.get(config.distribution)
    drawn = _COMPONENTS.get(config.distribution, _COMPONENTS["normal"])
    lines = [
        "import math",
        "",
        "import torch",
        "",
        *(_STUDENT if config.distribution == "heavy-tailed" else []),
        "def draw(shape, g):",
        f"    q = {drawn}",
        f"    k = {drawn}",
        *([f"    {spoil}"] if spoil else []),
        "    return q, k",
        "",
        f"d_k, pairs, products = {config.d_k}, {config.pairs}, []",
        f"g = torch.Generator().manual_seed({config.seed})",
        f"for start in range(0, pairs, {block}):",
        f"    q, k = draw((min({block}, pairs - start), d_k), g)",
        "    products.append((q * k).sum(-1))",
        "raw = torch.cat(products)",
        "scaled = raw * (1 / math.sqrt(d_k))",
        'for name, x in (("raw", raw.double()), ("scaled", scaled.double())):',
        "    spread = x.var(correction=0).item()",
        '    print(f"{name}: mean {x.mean():.2g}, deviation {spread ** 0.5:.4g}, variance {spread:.4f}")',
        "raw_variance = raw.double().var(correction=0).item()",
        "scaled_variance = scaled.double().var(correction=0).item()",
        "",
        f"g = torch.Generator().manual_seed({config.seed})",
        f"q, k = draw(({variance.GRID_PAIRS}, {variance.GRID[-1]}), g)  # the same pairs, cut off at each d_k",
        "running = (q * k).cumsum(-1).double()",
        f"grown = {{d: running[:, d - 1].var(correction=0).item() for d in {variance.GRID}}}",
        "for d, found in grown.items():",
        '    print(f"d_k {d}: raw {found:,.2f}, scaled {found / d:.2f}")',
    ]
    return "\n".join(lines)
