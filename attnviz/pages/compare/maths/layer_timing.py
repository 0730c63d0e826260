"""Time and memory of torch's layers over the number of tokens, and how fast they grow.

`data/measured.json` holds measurements and their machine; `python -m scripts.prepare layers` makes it. The owner of a
server can measure anew.
"""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from importlib.resources import files
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from attnviz.analysis.measuring import MeasuredOn, WayTiming, this_machine, time_call
from attnviz.base.message import Problem, require_multiple
from attnviz.core.modules import seeded_generator
from attnviz.pages.compare.maths import compared_layers, layer_costs

KINDS = ("explicit", "fused", "linear", "lstm", "gru", "conv")
LENGTHS = tuple(2**i for i in range(5, 14))
WIDTHS = (64, 256)
MOST_BYTES = 1 << 30  #: a layer whose attention weights would need more is left out
FITTED_SPAN = 8  #: the exponent is fitted from the longest sequence down to this fraction of it


@dataclass(frozen=True)
class Config:
    """The layers, the kind of pass and the longest sequence to measure."""

    d: int = 64
    heads: int = 4
    k: int = 3
    training: bool = False  #: forward and backward; else forward alone, without gradients
    longest: int = LENGTHS[-1]
    rounds: int = 5  #: the fastest of so many, fewer where they take long
    seed: int = 0


@dataclass(frozen=True)
class Result:
    """The measurements so far, and the machine that they were made on."""

    config: Config
    machine: MeasuredOn
    timings: tuple[WayTiming, ...]
    total: int  #: how many there will be

    def curve(self, kind: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """n, seconds and bytes of one kind of layer, each (lengths,)."""
        rows = sorted((t.n, t.seconds, t.nbytes) for t in self.timings if t.way == kind)
        n, seconds, nbytes = (np.array(column) for column in zip(*rows, strict=True)) if rows else (np.array([]),) * 3
        return n, seconds, nbytes

    def exponents(self, kind: str) -> tuple[float, float, float] | None:
        """p in n^p for seconds, for bytes, and for the formula's FLOPs there; None below three lengths."""
        n, seconds, nbytes = self.curve(kind)
        late = n >= n.max(initial=0) / FITTED_SPAN
        if late.sum() < 3:
            return None
        flops = np.array([flops_of(kind, int(length), self.config) for length in n[late]], dtype=float)
        return fit_exponent(n[late], seconds[late]), fit_exponent(n[late], nbytes[late]), fit_exponent(n[late], flops)

    def time_ratio(self, kind: str, baseline: str) -> tuple[np.ndarray, np.ndarray]:
        """Lengths measured for both kinds, and seconds of `kind` over those of `baseline` at each."""
        n, kind_seconds, _ = self.curve(kind)
        m, baseline_seconds, _ = self.curve(baseline)
        shared = np.intersect1d(n, m)
        return shared, kind_seconds[np.isin(n, shared)] / baseline_seconds[np.isin(m, shared)]

    def find_crossover(self, kind: str, baseline: str) -> float | None:
        """Interpolated n from which `kind` takes longer than `baseline`; None if there is none."""
        n, times = self.time_ratio(kind, baseline)
        gap = np.log(times)
        for i in range(len(n) - 1, 0, -1):
            if gap[i] > 0 >= gap[i - 1]:
                fraction = -gap[i - 1] / (gap[i] - gap[i - 1])
                return float(np.exp(np.log(n[i - 1]) + fraction * (np.log(n[i]) - np.log(n[i - 1]))))
        return None


def fit_exponent(n: np.ndarray, values: np.ndarray) -> float:
    """p of the power law c n^p that fits best, by least squares of the logarithms."""
    return float(np.polyfit(np.log(n), np.log(np.maximum(values, 1e-12)), 1)[0])


def flops_of(kind: str, n: int, config: Config) -> int:
    """FLOPs of a forward pass by formula, the same for both implementations of attention."""
    sizes = layer_costs.Config(n=n, d=config.d, k=config.k, heads=config.heads)
    return layer_costs.terms("attention" if kind in ("explicit", "fused") else kind, sizes).count_operations(sizes)


def run(config: Config) -> Result:
    """Measure everything, and return the last result of `measure`."""
    return list(measure(config))[-1]


def measure(config: Config) -> Iterator[Result]:
    """Measure layer by layer, shortest sequences first. Yields the result after each."""
    check(config)
    copies = 4 if config.training else 2
    cases = [
        (kind, n)
        for n in LENGTHS
        if n <= config.longest
        for kind in KINDS
        if kind != "explicit" or copies * config.heads * n * n * 4 <= MOST_BYTES
    ]
    timings: list[WayTiming] = []
    with seeded_generator(config.seed):
        layers = {kind: compared_layers.make_layer(kind, config.d, heads=config.heads, k=config.k) for kind in KINDS}
    for kind, n in cases:
        x = torch.randn(1, n, config.d, generator=torch.Generator().manual_seed(config.seed))
        call = partial(_run_training_pass if config.training else _run_forward, layers[kind], x)
        timings.append(time_call(kind, n, call, config.rounds))
        yield Result(config, this_machine(), tuple(timings), len(cases))


@torch.inference_mode()
def _run_forward(layer: nn.Module, x: Tensor) -> Tensor:
    return layer(x)


def _run_training_pass(layer: nn.Module, x: Tensor) -> tuple[Tensor, ...]:
    """Run a forward pass, and the backward pass of a sum."""
    return torch.autograd.grad(layer(x).square().sum(), tuple(layer.parameters()))


def check(config: Config) -> None:
    """Raise Problem if heads do not divide the width, or if an exponent has too few lengths."""
    require_multiple("d", config.d, "heads", config.heads)
    if config.longest < LENGTHS[2]:
        raise Problem(
            "longest={longest} must be at least {least}: an exponent needs three lengths",
            longest=config.longest,
            least=LENGTHS[2],
        )


@cache
def load_prepared() -> dict[tuple[int, bool], Result]:
    """Packaged measurements, by (width, whether the backward pass is included)."""
    record = json.loads((files(__package__) / "data" / "measured.json").read_text("utf-8"))
    return {(result.config.d, result.config.training): result for result in map(from_json, record["results"])}


def to_json(result: Result) -> dict[str, Any]:
    """A result as plain data."""
    rows = [[t.way, t.n, float(f"{t.seconds:.4g}"), t.nbytes] for t in result.timings]
    return {"config": asdict(result.config), "machine": asdict(result.machine), "timings": rows, "of": result.total}


def from_json(record: dict[str, Any]) -> Result:
    """The result that `to_json` wrote."""
    rows = tuple(WayTiming(*row) for row in record["timings"])
    of = record.get("of", len(rows))  # the prepared ones are complete, and older than this entry
    return Result(Config(**record["config"]), MeasuredOn(**record["machine"]), rows, of)


def program(config: Config) -> str:
    """Program that prints the time of each layer at the longest sequence, and the exponent."""
    shorter = replace(config, longest=min(config.longest, 4096))  # the weights of longer ones take gigabytes
    return f"""\
import torch
from attnviz.pages.compare.maths import layer_timing

torch.set_num_threads(1)
result = layer_timing.run(layer_timing.{shorter})
for kind in layer_timing.KINDS:  # n, the seconds of the fastest of a few rounds, and the most bytes held at once
    n, seconds, _ = result.curve(kind)
    exponent = result.exponents(kind)[0]
    print(f"{{kind:10}} {{seconds[-1] * 1e3:9.3f}} ms at n = {{n[-1]:,}}, grows as n^{{exponent:.2f}}")
"""
