"""Which positions each layer mixes, as a matrix of position by position, and whether that matrix is the same elsewhere.

Cell (i, j) is the norm of d output[i] / d input[j]. A convolution has the same numbers along every diagonal and for
every input: its weights are shared between places and fixed. Attention has neither: it computes how to mix from the
input. A recurrence is in between: its gates depend on the input, its weights do not.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from attnviz.base.message import require_between, require_multiple, require_within
from attnviz.core.modules import seeded_generator
from attnviz.pages.compare.maths import compared_layers, layer_costs

KINDS = ("attention", "linear", "lstm", "conv")
LONGEST = 48


@dataclass(frozen=True)
class Config:
    """Sizes, the seed of the weights, and the seed of the inputs."""

    n: int = 16
    d: int = 16
    heads: int = 2
    k: int = 3
    seed: int = 0  #: of the weights
    input_seed: int = 1  #: of the first input; the second is the same sequence in another order of its values


@dataclass(frozen=True)
class Mixing:
    """Mixing matrices of one layer for two inputs, and two measures of what it shares."""

    first: np.ndarray  #: (n, n), rows are outputs
    second: np.ndarray
    input_change: float  #: |first - second| / |first|: how much the matrix changes with the input
    unevenness: float  #: share of the matrix that changes along its diagonals: 0 where every place is treated alike


def run(config: Config) -> dict[str, Mixing]:
    """Mixing of each layer, by kind."""
    require_between("n", config.n, 3, LONGEST)
    require_multiple("d", config.d, "heads", config.heads)
    first_input, second_input = torch.randn(
        2, config.n, config.d, generator=torch.Generator().manual_seed(config.input_seed)
    )
    mixing = {}
    for kind in KINDS:
        with seeded_generator(config.seed):
            layer = compared_layers.make_layer(kind, config.d, heads=config.heads, k=config.k)
        first, second = measure_mixing(layer, first_input), measure_mixing(layer, second_input)
        mixing[kind] = Mixing(
            first, second, float(np.linalg.norm(first - second) / np.linalg.norm(first)), measure_unevenness(first)
        )
    return mixing


def measure_mixing(layer: nn.Module, x: Tensor) -> np.ndarray:
    """Norm of d layer(x)[i] / d x[j], (n, n), from the full Jacobian."""
    rows = []
    for i in range(len(x)):
        copies = x.expand(x.shape[-1], *x.shape).clone().requires_grad_()  # copy c: gradient of number c of output i
        (gradient,) = torch.autograd.grad(layer(copies)[:, i].diagonal().sum(), copies)
        rows.append(gradient.square().sum((0, 2)).sqrt())
    return torch.stack(rows).numpy()


def measure_unevenness(norms: np.ndarray) -> float:
    """Distance to the nearest matrix with equal numbers along each diagonal, relative to the matrix."""
    even = np.empty_like(norms)
    row, column = np.indices(norms.shape)
    for offset in np.unique(column - row):
        diagonal = column - row == offset
        even[diagonal] = norms[diagonal].mean()
    return float(np.linalg.norm(norms - even) / np.linalg.norm(norms))


# Where attention blurs: one head averages places, a convolution has a matrix for each. How many heads make up for it?
#
# A convolution adds k tokens, each through a matrix of its own. One head gives each place a weight and sends their
# average through one matrix. Put as a table of k places by d x d numbers, H heads are a table of rank H, so that the
# singular values say how near they can come (Eckart and Young), and k heads that each look at one place come all the
# way (Cordonnier et al. 2020, "On the Relationship between Self-Attention and Convolutional Layers").
KERNEL_LIMITS = {"k": (2, 32), "d": (1, 64)}


@dataclass(frozen=True)
class KernelConfig:
    """Size and seed of the convolution to approximate."""

    k: int = 5
    d: int = 16
    seed: int = 0


@dataclass(frozen=True)
class KernelResult:
    """Relative errors of heads against a convolution: norm of what is missing over that of the output."""

    heads: np.ndarray  #: 1 to k
    best: np.ndarray  #: no weights of any sign can do better with so many heads
    pointing: np.ndarray  #: each head looks at one place alone, the most important places first
    average: float  #: one head that looks at all places evenly


def run_kernel(config: KernelConfig) -> KernelResult:
    """Errors of 1 to k heads that approximate a convolution over k positions."""
    require_within(config, KERNEL_LIMITS)
    table = make_kernel(config).flatten(1)  # (k, d d)
    total = table.square().sum()
    singular = torch.linalg.svdvals(table).square()
    places = table.square().sum(1).sort(descending=True).values
    even = table - table.mean(0)  # what the best matrix for the average of all places misses
    return KernelResult(
        np.arange(1, config.k + 1),
        _remaining_error(
            nn.functional.pad(singular, (0, config.k - len(singular))), total
        ),  # at d = 1 there are fewer than k
        _remaining_error(places, total),
        float((even.square().sum() / total).sqrt()),
    )


def make_kernel(config: KernelConfig) -> Tensor:
    """Matrices (k, d, d) of the convolution, standard normal."""
    luck = torch.Generator().manual_seed(config.seed)
    return torch.randn(config.k, config.d, config.d, generator=luck, dtype=torch.float64)


def _remaining_error(squares: Tensor, total: Tensor) -> np.ndarray:
    """Relative norm left after the first 1, 2, ... of `squares` are explained."""
    left = squares.flip(0).cumsum(0).flip(0)[1:]  # summed from the end, so that nothing is left of nothing
    return (nn.functional.pad(left, (0, 1)) / total).sqrt().numpy()


def program(sizes: layer_costs.Config, kernel: KernelConfig) -> str:
    """Program that prints the parameters of each layer, and the error of fewer heads than positions."""
    return f"""\
import torch
from torch import nn

n, d, k, heads = {sizes.n}, {sizes.d}, {sizes.k}, {sizes.heads}
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
places, width = {kernel.k}, {kernel.d}
generator = torch.Generator().manual_seed({kernel.seed})
table = torch.randn(places, width, width, generator=generator, dtype=torch.float64).flatten(1)
squares = torch.linalg.svdvals(table).square()
missed = [((squares[h:].sum() / squares.sum()) ** 0.5).item() for h in range(1, places + 1)]
average = ((table - table.mean(0)).square().sum() / table.square().sum()).sqrt().item()
print("missed by the average of all places:", f"{{average:.1%}}")
print("missed by 1, 2, ... heads:", [f"{{each:.1%}}" for each in missed])
"""
