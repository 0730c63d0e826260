"""Section 7 as a program: softmax on typed scores, in four formats, block by block, and as a mixture."""

from __future__ import annotations

from collections.abc import Sequence

from attnviz.core.temperature import COLDEST
from attnviz.pages.scaling.maths import softmax_numerics

MOST_SCORES = 200  #: for more, the program would be mostly a list of numbers


def of_softmax(scores: Sequence[float], temperature: float, block: int) -> str | None:
    """Prints the weights and their entropy, where exp overflows, the running sums of blocks, and the two mixtures.

    None for too many scores.
    """
    if len(scores) > MOST_SCORES:
        return None
    cold = temperature <= COLDEST
    share = "(x == x.max()).double() / (x == x.max()).sum()  # the limit at T = 0" if cold else "(x / T).softmax(-1)"
    lines = [
        "import math",
        "",
        "import torch",
        "",
        f'x, T = torch.tensor({list(scores)}, dtype=torch.float64), float("{temperature!r}")',
        f"p = {share}",
        "entropy = -torch.special.xlogy(p, p).sum().item()",
        'print([f"{w:.6f}" for w in p.tolist()], f"entropy {entropy:.4f} of at most {math.log(len(x)):.4f} nats")',
        "",
        "def naive(x):",
        "    return x.exp() / x.exp().sum()",
        "",
        "def breaks(shift, dtype):",
        "    return not naive((x + shift).to(dtype)).isfinite().all()",
        "",
        "broken = {}  # what must be added to the scores until exp, or its sum, overflows",
        "for dtype in (torch.float64, torch.float32, torch.bfloat16, torch.float16):",
        f"    low, high = 0.0, {float(softmax_numerics.SHIFTS[-1])}",
        "    if breaks(low, dtype) or not breaks(high, dtype):",
        "        low = high = 0.0 if breaks(low, dtype) else math.inf",
        "    while high - low > 0.005:",
        "        middle = (low + high) / 2",
        "        low, high = (low, middle) if breaks(middle, dtype) else (middle, high)",
        "    broken[dtype] = round(high, 2)",
        "    limit = math.log(torch.finfo(dtype).max)",
        "    rows = [naive(y.to(dtype)).tolist()[:3] for y in (x, x - x.max())]",
        '    print(dtype, "exp overflows beyond %.2f" % limit, "naive breaks at +%g" % broken[dtype], *rows)',
        "",
        "angle = torch.pi * (1 - (torch.arange(len(x)) + 0.5).double() / len(x))",
        "values = torch.stack([angle.cos(), angle.sin()], -1)  # on the upper half of a circle",
        "m, l, o = -math.inf, 0.0, torch.zeros(2, dtype=torch.float64)",
        f"for some, their in zip(x.split({block}), values.split({block})):",
        "    larger = max(m, some.max().item())",
        "    old, e, m = math.exp(m - larger), (some - larger).exp(), larger",
        "    l, o = l * old + e.sum().item(), o * old + e @ their",
        "output = o / l  # of online softmax: no block ever saw the whole row",
        'print("block by block", output.tolist(), "beside", (x.softmax(-1) @ values).tolist())',
        "",
        "near, far = (p @ values).norm().item(), (x @ values).norm().item()",
        "moved = ((x + 1) @ values - x @ values).norm().item()",
        'print(f"mixed by weights {near:.2f} from the centre, by raw scores {far:.3g}, moved {moved:.2f} by adding 1")',
    ]
    return "\n".join(lines)
