"""Sections 2, 3 and 5 as programs: one row of weights, its Jacobian, and many rows at every d_k."""

from __future__ import annotations

from collections.abc import Mapping

from attnviz.pages.scaling.maths import growing_width, jacobian, length, saturation
from attnviz.pages.scaling.maths.programs.ways import ENTROPY, IMPORTS, weights


def of_saturation(config: growing_width.Config) -> str:
    """Prints the row of section 2, and the medians of its curves at the measured d_k that is nearest."""
    parameters = {"raw": 1.0, "sqrt": 1.0, config.alternative: config.parameter}
    lines = [
        *IMPORTS,
        *weights(parameters),
        *ENTROPY,
        *_vectors(config.n_keys, config.seed),
        *_row(config),
        *_MEASURES,
        f"d, gradients = {_nearest(config.d_k)}, {{}}  # the measured d_k that is nearest",
        f"for way in {tuple(parameters)}:",
        "    q, k = all_q[..., :d], all_k[..., :d]",
        "    found = {name: x.flatten().double() for name, x in measures(q, k, way).items()}",
        '    found |= dict(zip(("to_q", "to_k"), gradient_norms(q, k, all_sent, way)))',
        "    medians[way] = {name: x.quantile(0.5).item() for name, x in found.items()}",
        '    medians[way]["certain"] = found["certain"].mean().item()',
        "    means[way] = {name: x.mean().item() for name, x in found.items()}",
        '    print(d, way, {name: f"{x:.3g}" for name, x in medians[way].items()})',
        "    print(\"  means of the gradients:\", f\"{means[way]['to_q']:.2g}, {means[way]['to_k']:.2g}\")",
    ]
    return "\n".join(lines)


def of_gradient(config: growing_width.Config) -> str:
    """Prints the norm, the largest diagonal entry and the eigenvalues of section 3's Jacobians."""
    _, rows = growing_width.how_many(config.n_keys)
    lines = [
        "import math",
        "",
        "import torch",
        "",
        f"d_k, g = {config.d_k}, torch.Generator().manual_seed({config.seed})",
        f"q = torch.randn({rows}, {growing_width.LARGEST_D_K}, generator=g)[:1, :d_k]  # one query",
        f"k = torch.randn({config.n_keys}, {growing_width.LARGEST_D_K}, generator=g)[:, :d_k]",
        "found = {}",
        'for way, scale in (("raw", 1.0), ("scaled", 1 / math.sqrt(d_k))):',
        "    z = ((q @ k.mT) * scale)[0].double()",
        "    J = torch.func.jacrev(lambda z: z.softmax(-1))(z)  # by autograd, n x n",
        "    eigenvalues = torch.linalg.eigvalsh(J).flip(0)",
        "    found[way] = (J.norm().item(), J.diagonal().max().item(), eigenvalues[0].item())",
        '    print(way, "norm %.4f, largest diagonal entry %.4f, largest eigenvalue %.2g" % found[way])',
        f'    print("the largest:", eigenvalues[:{min(config.n_keys, jacobian.MOST_SHOWN)}].tolist())',
        'print("ratio of the largest eigenvalues", found["scaled"][2] / max(found["raw"][2], 1e-300))',
    ]
    return "\n".join(lines)


def of_alternatives(config: growing_width.Config, parameters: Mapping[str, float]) -> str:
    """Prints the row of section 5, the medians of all alternatives at the nearest d_k, and those over 4,096 keys.

    `parameters`: of every alternative, raw and scaled among them, as last set.
    """
    wide = min(config.d_k, length.WIDEST)
    lines = [
        *IMPORTS,
        *weights(parameters),
        *ENTROPY,
        *_vectors(config.n_keys, config.seed),
        *_row(config),
        *_MEASURES,
        f"d = {_nearest(config.d_k)}  # the measured d_k that is nearest",
        f"for way in {tuple(parameters)}:",
        "    q, k = all_q[..., :d], all_k[..., :d]",
        "    found = {name: x.flatten().double() for name, x in measures(q, k, way).items()}",
        '    found["to_q"] = gradient_norms(q, k, all_sent, way, keys=False)[0]',
        '    shown = ("largest", "entropy", "jacobian", "to_q")',
        "    medians[way] = {name: found[name].quantile(0.5).item() for name in shown}",
        '    print(d, way, {name: f"{x:.3g}" for name, x in medians[way].items()})',
        "",
        f"g, effective = torch.Generator().manual_seed({config.seed}), {{}}  # the same queries over 4,096 keys",
        f"q, k = torch.randn(1, {length.ROWS}, {wide}, generator=g), torch.randn(1, 4096, {wide}, generator=g)",
        'for way in ("raw", "sqrt", "log-n", "qk-norm"):',
        "    effective[way] = entropy(weights(q, k, way)).exp().median().item()",
        '    print(f"{way}: over 4,096 keys as spread as {effective[way]:,.0f}")',
    ]
    return "\n".join(lines)


def _nearest(d_k: int) -> int:
    return min(saturation.GRID, key=lambda d: (max(d, d_k) / min(d, d_k), d))


def _vectors(n: int, seed: int) -> list[str]:
    sets, rows = growing_width.how_many(n)
    width = growing_width.LARGEST_D_K
    return [
        f"g, sets, medians, means = torch.Generator().manual_seed({seed}), [], {{}}, {{}}",
        f"for _ in range({sets}):  # sets of queries that share keys, and the gradient that arrives at each weight",
        f"    q, k = torch.randn({rows}, {width}, generator=g), torch.randn({n}, {width}, generator=g)",
        f"    sets.append((q, k, torch.randn({rows}, {n}, generator=g)))",
        "all_q, all_k, all_sent = (torch.stack(part) for part in zip(*sets))",
        "",
    ]


def _row(config: growing_width.Config) -> list[str]:
    return [
        f"q, k = all_q[0, :1, :{config.d_k}], all_k[0, :, :{config.d_k}]  # one query, all its keys",
        "row = {}",
        f'for way in ("raw", "sqrt", "{config.alternative}"):',
        "    p = weights(q, k, way)[0].double()",
        "    row[way] = (p.max().item(), entropy(p).item(), entropy(p).exp().item())",
        '    print(way, "largest weight %.6f, entropy %.6f, effective keys %.4f" % row[way])',
        "",
    ]


_MEASURES = [
    "def measures(q, k, way):",
    "    p = weights(q, k, way)",
    "    p2, p3 = p.double().square().sum(-1), p.double().pow(3).sum(-1)",
    "    return {",
    '        "largest": p.amax(-1), "entropy": entropy(p), "effective": entropy(p).exp(),',
    '        "certain": (p.amax(-1) > 0.99).float(), "jacobian": (p2 - 2 * p3 + p2**2).clamp_min(0).sqrt(),',
    '        "score": logits(q, k, way).amax(-1),',
    "    }",
    "",
    "def gradient_norms(all_q, all_k, all_sent, way, keys=True):  # row by row: what reaches q, and all its keys",
    "    norms = []",
    "    for some_q, some_k, some_sent in zip(all_q, all_k, all_sent):",
    "        for q, sent in zip(some_q, some_sent):",
    "            q, k = q[None].clone().requires_grad_(), some_k.clone().requires_grad_(keys)",
    "            total = (weights(q, k, way) * sent).sum()",
    "            if not total.requires_grad:",
    "                norms.append((0.0, 0.0))",
    "                continue",
    "            total.backward()",
    "            norms.append((q.grad.norm().item(), k.grad.norm().item() if keys else 0.0))",
    "    return torch.tensor(norms, dtype=torch.float64).T",
    "",
]
