"""The table everyone quotes (Vaswani et al. 2017, table 1): cost of a layer, steps that wait, and the longest path.

Two ways of counting. "table" is the table's own: the leading term, constants left out; linear attention, which is
younger than that table, is counted so by Katharopoulos et al. 2020. "built" is what torch's layers really do, in FLOPs
(a multiplication and an addition are two): the projections around attention and the gates of a recurrence are in it,
biases and activations are not. Divided by n d, either count is a sum of terms in n, d, k d and r, so that where two
layers cost the same has an exact answer.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from attnviz.base.message import require_multiple, require_within

Axis = Literal["n", "d", "k"]
Counting = Literal["built", "table"]
#: the ids of the layers; "dilated" is a convolution whose dilation grows k-fold with each layer
KINDS = ("attention", "window", "linear", "rnn", "lstm", "gru", "conv", "dilated")
RECURRENT = ("rnn", "lstm", "gru")
COMPARED = ("lstm", "conv", "attention")  #: those that stand beside each other at the sizes of each use
LIMITS = {"n": (1, 1 << 20), "d": (1, 1 << 14), "k": (2, 256), "window": (2, 1 << 16), "heads": (1, 256)}
_POINTS = 4  #: points of a curve for each doubling


@dataclass(frozen=True)
class Config:
    """Sizes of the layers, the way of counting and the axis of the curves."""

    n: int = 4096  #: tokens
    d: int = 512  #: width of a token, in and out
    k: int = 3  #: places that a convolution sees at once
    window: int = 64  #: keys that a query of windowed attention sees
    heads: int = 8
    counting: Counting = "built"
    axis: Axis = "n"  #: what the curves run over


@dataclass(frozen=True)
class Terms:
    """Cost of a layer divided by n d: constant + n * N + d * D + kd * K D + window * min(R, N)."""

    constant: Fraction = Fraction(0)
    n: Fraction = Fraction(0)
    d: Fraction = Fraction(0)
    kd: Fraction = Fraction(0)
    window: Fraction = Fraction(0)

    def operations_per_entry(self, config: Config) -> Fraction:
        """Operations of the layer divided by n d."""
        by_size = self.n * config.n + self.d * config.d + self.kd * config.k * config.d
        return self.constant + by_size + self.window * min(config.window, config.n)  # no key is seen that is not there

    def count_operations(self, config: Config) -> int:
        """Operations of the layer, an exact integer wherever the heads divide the width."""
        return int(self.operations_per_entry(config) * config.n * config.d)

    def linear_form(self, config: Config) -> tuple[Fraction, Fraction]:
        """(a, b) of a + b x: the cost divided by n d along the axis, other sizes as in `config`."""
        slope = {"n": self.n, "d": self.d + self.kd * config.k, "k": self.kd * config.d}[config.axis]
        return self.operations_per_entry(config) - slope * getattr(config, config.axis), slope


@dataclass(frozen=True)
class CrossingPoint:
    """Where a layer costs as much as attention. `position` None: nowhere on the positive axis, or everywhere.

    A window longer than the text is attention: they are "equal" up to that length, and attention is dearer beyond.
    """

    kind: str
    position: Fraction | None
    attention_is: Literal["cheaper", "dearer", "equal"]  #: before the crossing, or everywhere where there is none


@dataclass(frozen=True)
class Result:
    """Cost, steps and path of each layer over the axis, and the crossings with attention."""

    config: Config
    x: np.ndarray  #: values of the axis
    cost: Mapping[str, np.ndarray]  #: by kind, over x
    steps: Mapping[str, np.ndarray]  #: operations that must wait for each other
    path: Mapping[str, np.ndarray]  #: layers or steps from the first input to the last output
    here: Mapping[str, tuple[int, int, int]]  #: cost, steps and path at the config's own n, d and k
    crossings: tuple[CrossingPoint, ...]


def run(config: Config) -> Result:
    """Cost, steps and path of every layer over the axis. Raises Problem for sizes outside the limits."""
    check(config)
    x = grid(config)
    configs = [Config(**vars(config) | {config.axis: int(value)}) for value in x]
    # the quoted table has one recurrence, because gates are constants
    kinds = [kind for kind in KINDS if config.counting == "built" or kind not in ("lstm", "gru")]
    table = {kind: terms(kind, config) for kind in kinds}
    return Result(
        config,
        x,
        {
            kind: np.array([float(table[kind].count_operations(config_at_x)) for config_at_x in configs])
            for kind in kinds
        },
        {kind: np.array([steps(kind, config_at_x.n) for config_at_x in configs]) for kind in kinds},
        {kind: np.array([path(kind, config_at_x) for config_at_x in configs]) for kind in kinds},
        {kind: (table[kind].count_operations(config), steps(kind, config.n), path(kind, config)) for kind in kinds},
        tuple(find_crossing(kind, config) for kind in kinds if kind not in ("attention", "dilated")),
    )


def terms(kind: str, config: Config) -> Terms:
    """Cost of a layer, term by term."""
    unit, per_head = Fraction(1), Fraction(1, config.heads)
    if config.counting == "table":
        return {
            "attention": Terms(n=unit),
            "window": Terms(window=unit),
            "linear": Terms(d=per_head),
            "rnn": Terms(d=unit),
            "conv": Terms(kd=unit),
            "dilated": Terms(kd=unit),
        }[kind]
    return {  # 8: four projections of d x d; a recurrence multiplies by d x d twice for each gate
        "attention": Terms(d=8 * unit, n=4 * unit),
        "window": Terms(d=8 * unit, window=4 * unit),
        "linear": Terms(d=8 + 4 * per_head, constant=2 * unit),
        "rnn": Terms(d=4 * unit),
        "lstm": Terms(d=16 * unit),
        "gru": Terms(d=12 * unit),
        "conv": Terms(kd=2 * unit),
        "dilated": Terms(kd=2 * unit),
    }[kind]


def steps(kind: str, n: int) -> int:
    """Operations of one layer that must wait for each other."""
    return n if kind in RECURRENT else 1


def path(kind: str, config: Config) -> int:
    """Layers (of a recurrence: steps) that a signal passes from the first input to the last output.

    Convolutions and windows look back only: k places, their own included.
    """
    if kind in RECURRENT:
        return config.n
    if kind in ("conv", "window"):
        reach = (config.k if kind == "conv" else config.window) - 1
        return max(1, -(-(config.n - 1) // reach))
    return layers_to_reach(config.n, config.k) if kind == "dilated" else 1


def race_steps(distance: int, k: int, dilated: bool = False) -> dict[str, int]:
    """Steps or layers that take a signal from a word to the one `distance` further on, once the first has been read."""
    sizes = Config(n=distance + 1, k=k)
    return {
        "recurrence": path("rnn", sizes) - 1,
        "convolution": path("dilated" if dilated else "conv", sizes),
        "attention": path("attention", sizes),
    }


def layers_to_reach(n: int, k: int) -> int:
    """Layers with dilations 1, k, k^2, ... after which the last output sees n places."""
    layers, seen = 1, k
    while seen < n:
        layers, seen = layers + 1, seen * k
    return layers


def find_crossing(kind: str, config: Config) -> CrossingPoint:
    """Exact point on the axis at which `kind` costs as much as attention."""
    if kind == "window" and config.axis == "n":
        return CrossingPoint(kind, Fraction(config.window), "equal")
    a, b = terms("attention", config).linear_form(config)
    c, d = terms(kind, config).linear_form(config)
    at = (c - a) / (b - d) if b != d and (c - a) / (b - d) > 0 else None
    before = at / 2 if at is not None else Fraction(1)
    attention_cost, other_cost = a + b * before, c + d * before
    return CrossingPoint(
        kind, at, "cheaper" if attention_cost < other_cost else "dearer" if attention_cost > other_cost else "equal"
    )


def grid(config: Config) -> np.ndarray:
    """Values of the axis: whole numbers, a few for each doubling, and the config's own value."""
    low, high = {"n": (2, 1 << 20), "d": (8, 1 << 13), "k": (2, 128)}[config.axis]
    first, last = math.log2(low), math.log2(high)
    even = {round(2 ** (first + i / _POINTS)) for i in range(round((last - first) * _POINTS) + 1)}
    return np.array(sorted(even | {getattr(config, config.axis)}))


def check(config: Config) -> None:
    """Raise Problem for sizes outside the limits, or heads that do not divide the width."""
    require_within(config, LIMITS)
    require_multiple("d", config.d, "heads", config.heads)


@dataclass(frozen=True)
class Use:
    """One layer of a published model: its kind and its sizes."""

    id: str
    kind: str  #: one of COMPARED
    model: str
    source: str
    sizes: Config

    @property
    def costs(self) -> dict[str, tuple[int, int, int]]:
        """FLOPs, waiting steps and longest path of each of COMPARED at these sizes, by kind."""
        sizes = self.sizes
        return {
            kind: (
                terms(kind, sizes).count_operations(sizes),
                steps(kind, sizes.n),
                path(kind, sizes),
            )
            for kind in COMPARED
        }


def _use(id_: str, usual: str, model: str, source: str, n: int, d: int, k: int = 3, heads: int = 8) -> Use:
    return Use(id_, usual, model, source, Config(n, d, k, heads=heads))


#: 10 s of speech in frames of 30 ms; a week by the hour; 35 words; 1,014 letters, pooled by 3; maps of 56 x 56 and
#: 568 x 568; a sentence; 196 patches; contexts of BERT, GPT-3 and Llama
USES = (
    _use("speech", "lstm", "RNN-T", "He et al. 2018, arXiv 1811.06621", 333, 640),
    _use("series", "lstm", "DeepAR", "Salinas et al. 2017, arXiv 1704.04110", 168, 40),
    _use("words", "lstm", "LSTM, 1,500 wide", "Zaremba et al. 2014, arXiv 1409.2329", 35, 1500, heads=12),
    _use("letters", "conv", "Char-CNN", "Zhang et al. 2015, arXiv 1509.01626", 336, 256, 7),
    _use("objects", "conv", "ResNet-50", "He et al. 2015, arXiv 1512.03385", 56 * 56, 64, 9),
    _use("regions", "conv", "U-Net", "Ronneberger et al. 2015, arXiv 1505.04597", 568 * 568, 64, 9),
    _use("translation", "attention", "Transformer", "Vaswani et al. 2017, arXiv 1706.03762", 30, 512),
    _use("patches", "attention", "ViT-B/16", "Dosovitskiy et al. 2020, arXiv 2010.11929", 197, 768, heads=12),
    _use("reading", "attention", "BERT", "Devlin et al. 2018, arXiv 1810.04805", 512, 768, heads=12),
    _use("writing", "attention", "GPT-3", "Brown et al. 2020, arXiv 2005.14165", 2048, 12288, heads=96),
    _use("chat", "attention", "Llama 3.1 8B", "Grattafiori et al. 2024, arXiv 2407.21783", 8192, 4096, heads=32),
)

USES_PROGRAM = """\
from attnviz.pages.compare.maths.layer_costs import USES

for use in USES:
    sizes = f"n={use.sizes.n}, d={use.sizes.d}, k={use.sizes.k}"
    flops = {kind: cost for kind, (cost, steps, path) in use.costs.items()}
    print(f"{use.model} ({sizes}) {flops}")
"""
