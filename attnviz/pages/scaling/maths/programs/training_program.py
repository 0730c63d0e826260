"""Section 4 as a program: the retrieval head, trained again."""

from __future__ import annotations

from attnviz.pages.scaling.maths import retrieval_training as training
from attnviz.pages.scaling.maths.programs.ways import ENTROPY, IMPORTS, weights


def of_training(config: training.Config) -> str:
    """Prints what each way of scaling ends at, and the first gradient of each."""
    learned = config.alternative == "qk-norm"  # its scale is learned: a tensor
    parameter: float | str = "g_learned" if learned else config.parameter
    parameters = {"raw": 1.0, "sqrt": 1.0, config.alternative: parameter}
    kind = "SGD" if config.optimizer == "sgd" else "Adam"
    labels, width = training.LABELS, training.WIDTH
    lines = [
        *IMPORTS,
        f"seeds, names, d_k, steps = {config.seeds}, {config.names}, {config.d_k}, {config.steps}",
        *([f"g_learned = torch.full((seeds, 1, 1), {config.parameter}, requires_grad=True)"] if learned else []),
        "",
        *weights(parameters),
        *ENTROPY,
        "def start(seed):",
        "    g = torch.Generator().manual_seed(seed)",
        "    q, k = torch.randn(names, d_k, generator=g), torch.randn(names, d_k, generator=g)",
        f"    values = torch.randn({labels}, {width}, generator=g)",
        f"    return q, k, values, torch.randn({width}, {labels}, generator=g) / {width} ** 0.5",
        "",
        "def train(way):",
        f"    made = zip(*(start({config.seed} + s) for s in range(seeds)))",
        "    q, k, values, out = learned = [torch.stack(part).requires_grad_() for part in made]",
        *(['    learned += [g_learned] if way == "qk-norm" else []'] if learned else []),
        f"    optimizer = torch.optim.{kind}(learned, lr={config.rate})",
        f"    data = [torch.Generator().manual_seed(10_000 + {config.seed} + s) for s in range(seeds)]",
        "    history = []",
        "    for _ in range(steps):",
        f"        drawn = [torch.randint(0, {labels}, ({training.SEQUENCES}, names), generator=g) for g in data]",
        "        labels = torch.stack(drawn)  # (seeds, sequences, names)",
        f"        v = (F.one_hot(labels, {labels}).float() @ values[:, None]).movedim(1, 2).flatten(2)",
        "        p = weights(q, k, way)  # (seeds, names, names)",
        f"        mixed = (p @ v).unflatten(-1, ({training.SEQUENCES}, {width}))",
        "        guessed, wanted = mixed @ out[:, None], labels.movedim(1, 2)",
        '        each = F.cross_entropy(guessed.flatten(0, 2), wanted.flatten(), reduction="none")',
        "        loss = each.reshape(seeds, -1).mean(-1)",
        "        optimizer.zero_grad()",
        "        loss.sum().backward()",
        "        gradient = (q.grad.square().sum((-1, -2)) + k.grad.square().sum((-1, -2))).sqrt()",
        "        optimizer.step()",
        "        right = (guessed.argmax(-1) == wanted).float().mean((-1, -2))",
        "        history.append(torch.stack([loss.detach(), right, entropy(p.detach()).mean(-1), gradient]))",
        "    return torch.stack(history, -1)  # (4, seeds, steps)",
        "",
        "ends, first = {}, {}",
        f"for way in {tuple(parameters)}:",
        "    history = train(way)",
        f"    ends[way] = tuple(history[:3, :, -{training.LAST}:].mean((-1, -2)).tolist())  # the last steps",
        "    first[way] = history[3, :, 0].mean().item()",
        "    loss, right, spread = ends[way]",
        '    print(f"{way}: {right:.1%} right, loss {loss:.3f}, entropy {spread:.2f}")',
        '    print(f"    first gradient {first[way]:.2g}")',
    ]
    return "\n".join(lines)
