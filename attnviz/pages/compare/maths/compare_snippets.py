"""The page's numbers again, one short program for each section, with torch's layers as the page builds them."""

from dataclasses import replace

from attnviz.pages.compare.maths import compared_layers, layer_costs, layer_timing, position_mixing, reach_training

_QUOTED = """\
n, d, k, r, heads = {n}, {d}, {k}, {window}, {heads}
operations = {{
    "attention": n * n * d,
    "window": r * n * d,
    "linear": n * d * d // heads,
    "rnn": n * d * d,
    "conv": k * n * d * d,
}}
for name, count in operations.items():
    print(f"{{name:10}} {{count:,}}")
print("attention costs as much as a recurrence at n =", d, "and as a convolution at n =", k * d)
"""

_COUNTED = """\
import torch
from attnviz.pages.compare.maths.compared_layers import layer
from torch.utils.flop_counter import FlopCounterMode

n, d, k, heads = {n}, {d}, {k}, {heads}
steps = min(n, {steps})  # a recurrence costs the same at every step, so a few are enough


def count(kind, tokens):
    with torch.device("meta"), FlopCounterMode(display=False) as counter:  # shapes without memory: nothing is computed
        layer(kind, d, heads=heads, k=k)(torch.empty(1, tokens, d))
    return counter.get_total_flops()


flops = {{kind: count(kind, n) for kind in ("attention", "conv")}}
flops |= {{kind: count(kind, steps) * n // steps for kind in ("rnn", "lstm", "gru")}}
for name, number in flops.items():
    print(f"{{name:10}} {{number:,}} FLOPs")
# attention is 8 n d^2 + 4 n^2 d, an LSTM 16 n d^2, a GRU 12 n d^2
print("attention costs as much as an LSTM at n =", (16 - 8) * d // 4, "and as a GRU at n =", (12 - 8) * d // 4)
"""

_TIMED = """\
import torch
from attnviz.pages.compare.maths import layer_timing

torch.set_num_threads(1)
result = layer_timing.run(layer_timing.{config})
for kind in layer_timing.KINDS:  # n, the seconds of the fastest of a few rounds, and the most bytes held at once
    n, seconds, _ = result.curve(kind)
    exponent = result.exponents(kind)[0]
    print(f"{{kind:10}} {{seconds[-1] * 1e3:9.3f}} ms at n = {{n[-1]:,}}, grows as n^{{exponent:.2f}}")
"""

_REACH = """\
from attnviz.pages.compare.maths import reach_training

result = reach_training.run(reach_training.{config})
for kind, each in result.reached.items():  # gradients: norm of d last output / d input, mean over a few sequences
    print(f"{{kind:10}} gradient at the first token {{each.at_start[0]:.3g}}, then {{each.now[0]:.3g}}")
    print(f"{{kind:10}} {{each.end_accuracy:.1%}} right")
"""

_SHARED = """\
import torch
from torch import nn

n, d, k, heads = {n}, {d}, {k}, {heads}
with torch.device("meta"):
    layers = {{
        "attention": nn.MultiheadAttention(d, heads),
        "lstm": nn.LSTM(d, d),
        "gru": nn.GRU(d, d),
        "conv": nn.Conv1d(d, d, k),
        "dense": nn.Linear(n * d, n * d) if n * d <= 1 << 26 else None,
    }}
parameters = {{name: sum(p.numel() for p in layer.parameters()) for name, layer in layers.items() if layer}}
for name, count in parameters.items():
    print(f"{{name:10}} {{count:,}} parameters")

# one head averages places: the table of a random convolution, places x numbers, and its singular values
places, width = {places}, {kernel_width}
generator = torch.Generator().manual_seed({seed})
table = torch.randn(places, width, width, generator=generator, dtype=torch.float64).flatten(1)
squares = torch.linalg.svdvals(table).square()
missed = [((squares[h:].sum() / squares.sum()) ** 0.5).item() for h in range(1, places + 1)]
average = ((table - table.mean(0)).square().sum() / table.square().sum()).sqrt().item()
print("missed by the average of all places:", f"{{average:.1%}}")
print("missed by 1, 2, ... heads:", [f"{{each:.1%}}" for each in missed])
"""


def costs(config: layer_costs.Config) -> str:
    """Prints the operations of each layer: torch's count, or the quoted table's leading terms."""
    program = _QUOTED if config.counting == "table" else _COUNTED
    return program.format(**vars(config), steps=compared_layers.MOST_STEPS)


def timing(config: layer_timing.Config) -> str:
    """Prints the time of each layer at the longest sequence, and the exponent."""
    longest = min(config.longest, 4096)  # the weights of longer ones take gigabytes
    return _TIMED.format(config=replace(config, longest=longest))


def reach(config: reach_training.Config) -> str:
    """Prints the gradient at the first token before and after training, and the share of labels right."""
    return _REACH.format(config=config)


def shared(config: layer_costs.Config, kernel: position_mixing.KernelConfig) -> str:
    """Prints the parameters of each layer, and what fewer heads than places miss of a convolution."""
    return _SHARED.format(**vars(config), places=kernel.k, kernel_width=kernel.d, seed=kernel.seed)
