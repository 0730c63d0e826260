"""Time and memory over the number of tokens: of every attention kernel that this machine has, or of layers.

`python -m attnviz.pages.fast` measures whatever there is and keeps it in the cache folder, where the page finds it;
`data/` holds what came with the app. Nothing is compared that was not measured in one run.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

from attnviz.analysis import prepared_files
from attnviz.analysis.measuring import MeasuredOn, WayTiming, this_machine, time_call
from attnviz.base.message import require_between
from attnviz.core.attention import attend
from attnviz.core.modules import seeded_generator
from attnviz.core.precision import stored_bytes
from attnviz.core.tiled import Tiling, tiled_attend
from attnviz.models.file_faults import DAMAGED, first_line
from attnviz.models.settings import current_settings

SHIPPED = Path(__file__).parent / "data"


def _fused(backend: SDPBackend, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    with sdpa_kernel(backend):
        return scaled_dot_product_attention(q, k, v)


@cache
def _compiled() -> Callable[..., Tensor]:
    from torch.nn.attention.flex_attention import flex_attention

    return torch.compile(flex_attention)


KERNELS: dict[str, Callable[[Tensor, Tensor, Tensor], Tensor]] = {
    # scores, softmax, output: a step each, and the whole matrix twice
    "naive": lambda q, k, v: torch.softmax(q @ k.mT / q.shape[-1] ** 0.5, -1) @ v,
    "tiled": lambda q, k, v: tiled_attend(q, k, v, Tiling(256, 256)).output,
    "math": partial(_fused, SDPBackend.MATH),
    "flash": partial(_fused, SDPBackend.FLASH_ATTENTION),
    "efficient": partial(_fused, SDPBackend.EFFICIENT_ATTENTION),
    "cudnn": partial(_fused, SDPBackend.CUDNN_ATTENTION),
    "flex": lambda q, k, v: _compiled()(q, k, v),
}
WAYS = tuple(KERNELS)
HERE = WAYS[:-1]  #: what is measured while a visitor waits: FlexAttention takes half a minute to compile on a processor
#: layers of torch's with their weights: attention with its weights built and fused, and what it is compared with
LAYERS = ("explicit", "fused", "lstm", "gru", "conv")
SQUARES = ("naive", "math", "explicit")  #: those that hold the matrix
SHORTEST, LONGEST = 128, 1 << 20
MOST_BYTES = 1 << 30  #: of both matrices of a way that holds them; a longer sequence is left out
SLOWEST = 3.0  #: seconds of a call, above which longer sequences are left out
CHECKED = 128  #: tokens at which each way is compared with `attend` in float64


@dataclass(frozen=True)
class Config:
    """The layer to measure, up to which length, on which device, and by which kernels."""

    heads: int = 8
    d_head: int = 64
    longest: int = 4096
    dtype: str = "float32"
    device: str = "cpu"
    ways: tuple[str, ...] = HERE
    rounds: int = 3
    seed: int = 0

    def __post_init__(self) -> None:
        require_between("longest", self.longest, SHORTEST, LONGEST)

    @property
    def lengths(self) -> tuple[int, ...]:
        """Sequence lengths to measure: powers of two up to `longest`."""
        return tuple(1 << power for power in range(SHORTEST.bit_length() - 1, self.longest.bit_length()))


#: what a visitor may have measured
SUBJECTS = {"kernels": Config(), "layers": Config(heads=4, ways=LAYERS)}


@dataclass(frozen=True)
class Result:
    """What was measured so far."""

    config: Config
    machine: MeasuredOn
    day: str
    timings: tuple[WayTiming, ...]
    refused: dict[str, str]  #: what torch said of the ways that this machine does not have
    apart: dict[str, float]  #: of each way, the largest difference from float64, as a share of the largest number
    share: float  #: of the work that is done

    @property
    def is_done(self) -> bool:
        return self.share == 1

    def timings_of(self, way: str) -> dict[int, WayTiming]:
        """Timings of one way by sequence length, shortest first."""
        return {row.n: row for row in sorted(self.timings, key=lambda row: row.n) if row.way == way}

    @property
    def ways(self) -> tuple[str, ...]:
        return tuple(way for way in (*WAYS, *LAYERS) if self.timings_of(way))

    @property
    def subject(self) -> str:
        """What was measured, by its name in SUBJECTS."""
        return "layers" if set(self.config.ways) <= set(LAYERS) else "kernels"

    def longest_common_length(self, first_way: str, second_way: str) -> int | None:
        """Longest sequence at which both ways were measured; None if there is none."""
        return max(self.timings_of(first_way).keys() & self.timings_of(second_way).keys(), default=None)


def measure(config: Config) -> Iterator[Result]:
    """Measure each way at each length, shortest first. Yields the result so far after each timing."""
    machine, day = this_machine(config.dtype, config.device), datetime.now(UTC).date().isoformat()
    calls = {way: _make_call(config, way) for way in config.ways}
    refused, apart = _check_ways(config, calls)
    ways = calls.keys() - refused.keys()
    room = (MOST_BYTES / stored_bytes(2 * config.heads, config.dtype)) ** 0.5  # tokens whose two matrices are held
    lengths = [n for n in config.lengths if n <= room or ways - set(SQUARES)]
    timings: list[WayTiming] = []
    slow: set[str] = set()
    for at, n in enumerate(lengths):
        qkv = _random_qkv(config, n)
        for way in [way for way in calls if way in ways - slow and (n <= room or way not in SQUARES)]:
            with torch.inference_mode():
                timings.append(time_call(way, n, partial(calls[way], *qkv), config.rounds, config.device))
            if timings[-1].seconds * 4 > SLOWEST:  # twice as many tokens take four times as long
                slow.add(way)
            yield Result(config, machine, day, tuple(timings), refused, apart, (4**at - 1) / 4 ** len(lengths))
    yield Result(config, machine, day, tuple(timings), refused, apart, 1)


def _random_qkv(config: Config, n: int) -> tuple[Tensor, ...]:
    """Random q, k and v, each (1, H, n, D)."""
    generator = torch.Generator().manual_seed(config.seed)
    shape = (1, config.heads, n, config.d_head)
    target: dict[str, Any] = {"device": config.device, "dtype": getattr(torch, config.dtype)}
    return tuple(torch.randn(shape, generator=generator).to(**target) for _ in range(3))


def _make_call(config: Config, way: str) -> Callable[[Tensor, Tensor, Tensor], Tensor]:
    """A way's pass over q, k and v; a layer's over q alone, its heads side by side."""
    if way in KERNELS:
        return KERNELS[way]
    d = config.heads * config.d_head
    makers: dict[str, Callable[[], nn.Module]] = {
        "lstm": lambda: nn.LSTM(d, d, batch_first=True),
        "gru": lambda: nn.GRU(d, d, batch_first=True),
        "conv": lambda: nn.Conv1d(d, d, 3, padding=1),
    }
    with seeded_generator(config.seed):
        layer = makers.get(way, lambda: nn.MultiheadAttention(d, config.heads, batch_first=True))()
    layer.to(device=config.device, dtype=getattr(torch, config.dtype))
    built = way == "explicit"
    passes: dict[str, Callable[[Tensor], Any]] = {
        # in train(): in eval() torch takes a path of its own that builds the weights after all
        "explicit": lambda x: layer(x, x, x, need_weights=built, average_attn_weights=False)[0],
        "conv": lambda x: layer(x.mT).mT,
        "lstm": lambda x: layer(x)[0],
    }
    run = passes[{"fused": "explicit", "gru": "lstm"}.get(way, way)]
    return lambda q, _k, _v: run(q.transpose(1, 2).flatten(2))


def _check_ways(config: Config, calls: dict[str, Callable[..., Tensor]]) -> tuple[dict[str, str], dict[str, float]]:
    """Error messages of ways that fail on this machine, and the largest relative error of other kernels."""
    refused: dict[str, str] = {}
    apart: dict[str, float] = {}
    q, k, v = _random_qkv(config, CHECKED)
    exact = attend(q.double(), k.double(), v.double()).output
    for way, call in calls.items():
        try:
            with torch.inference_mode():
                output = call(q, k, v).double()
            if way in KERNELS:
                apart[way] = float((output - exact).abs().max() / exact.abs().max())
        except Exception as error:  # a compiler that is missing, too, and each version of torch has its own words
            refused[way] = first_line(error)
    return refused, apart


# Files, each named with its machine.
FORMAT = 1
SHIPPED_PREFIX = "given-"  #: before the name of a file that came with the app


def file_name(result: Result) -> str:
    """File name of a result, such as fast-amd-epyc-cpu: letters, digits and hyphens."""
    hardware = f"{result.machine.processor}-{result.machine.device}".lower()
    return ("fast-layers-" if result.subject == "layers" else "fast-") + "-".join(
        "".join(c if c.isalnum() else " " for c in hardware).split()
    )


def store_result(result: Result, folder: Path | None = None) -> Path:
    """Write a result into `folder`, by default the folder for own results."""
    content = json.dumps({"format": FORMAT, "result": asdict(result)}) + "\n"
    return prepared_files.write_cache_file(
        (folder or own_results_folder()) / f"{file_name(result)}.json", content.encode()
    )


def own_results_folder() -> Path:
    """Folder with the measurements of this machine."""
    return current_settings().cache / "measurements"


def stored_results() -> dict[str, Result]:
    """All readable results by file name: those of this machine first, then those shipped with the app."""
    mine = {path.stem: path for path in sorted(own_results_folder().glob("fast-*.json"))}
    paths = mine | {SHIPPED_PREFIX + path.stem: path for path in shipped_results()}
    read = {name: _read_result(path) for name, path in paths.items()}
    return {name: result for name, result in read.items() if result is not None}


@cache
def shipped_results() -> tuple[Path, ...]:
    return tuple(sorted(SHIPPED.glob("fast-*.json")))


def _read_result(path: Path) -> Result | None:
    """Read a result; None if the file is damaged or has another format."""
    try:
        content = json.loads(path.read_text("utf-8"))
        if content["format"] != FORMAT:
            return None
        record = content["result"]
        config = Config(**record["config"] | {"ways": tuple(record["config"]["ways"])})
        timings = tuple(WayTiming(**row) for row in record["timings"])
        return Result(**record | {"config": config, "machine": MeasuredOn(**record["machine"]), "timings": timings})
    except DAMAGED:
        return None


def program(config: Config) -> str:
    """Program that measures the same on another machine."""
    return f"""\
from attnviz.pages.fast.maths import measured

# python -m attnviz.pages.fast measures more, FlexAttention too, and keeps it for the page; on a GPU, too
config = measured.Config(heads={config.heads}, d_head={config.d_head}, longest=1024, ways={config.ways!r})
*_, result = measured.measure(config)
for row in result.timings:
    print(f"{{row.way:9}} {{row.n:6,}} tokens {{row.seconds * 1e3:9.3f}} ms {{row.nbytes:12,}} bytes")
"""
