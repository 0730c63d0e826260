"""Prefill against decode: FLOPs and bytes of each pass, and the time that a machine takes for it."""

import copy
import json
import time
import timeit
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import torch

from attnviz.analysis import prepared_files
from attnviz.core.costs import DecodingStep, Machine, count_pairs, processor_name
from attnviz.models.capture import RecordedLayer
from attnviz.models.file_faults import DAMAGED
from attnviz.models.settings import current_settings
from attnviz.pages.decoding.maths.decoders import Decoder

PassKind = Literal["prefill", "decode"]
PROMPTS = (1, 4, 16, 64, 128)  #: tokens of a prompt, processed in one pass
CONTEXTS = (16, 64, 128, 256)  #: tokens in the cache that one new token is decoded after
#: the same for machines that are only worked out, where nothing has to be waited for
FORMULA_PROMPTS, FORMULA_CONTEXTS = (1, 8, 64, 256, 1024), (16, 128, 1024)
ROUNDS = 3
WIDTH = 768  #: of the square matrices whose product gives the peak
STREAM = 1 << 24  #: float32 numbers read to measure the bandwidth: 64 MiB, more than processors keep at hand


@dataclass(frozen=True)
class PassPoint:
    """One pass over `tokens` new tokens at the end of `context`."""

    kind: PassKind
    tokens: int
    context: int
    flops: int
    nbytes: int  #: weights, and keys and values that are read from the cache
    seconds: float | None = None  #: measured; None where only the formula is known

    @property
    def intensity(self) -> float:
        """FLOPs for each byte read."""
        return self.flops / self.nbytes

    def best_case(self, machine: Machine) -> DecodingStep:
        """Shortest possible times on `machine`: of computing and of reading."""
        return DecodingStep(self.flops / machine.peak, self.nbytes / machine.bandwidth)


@dataclass(frozen=True)
class MachineTimings:
    """Peak and bandwidth of a machine, and the passes timed on it so far."""

    machine: Machine
    points: tuple[PassPoint, ...]
    total: int  #: points there will be

    @property
    def done(self) -> bool:
        return len(self.points) == self.total


def ideal_passes(decoder: Decoder, number_bytes: int) -> tuple[PassPoint, ...]:
    """Every pass by formula, for weights and cache at `number_bytes` bytes a number."""
    body, head = decoder.count_matrix_entries()
    heads = [(layer.shape[1], _width(layer), layer.n_kv_heads) for layer in decoder.process(_make_ids(1)).layers]

    def point(kind: PassKind, new: int, context: int) -> PassPoint:
        attention = sum(2 * h * new * context * width for h, width, _g in heads)
        cached = (context - new) * sum(g * width for _h, width, g in heads)
        return PassPoint(kind, new, context, 2 * (new * body + head) + attention, number_bytes * (body + head + cached))

    return (
        *(point("prefill", n, n) for n in FORMULA_PROMPTS),
        *(point("decode", 1, n + 1) for n in FORMULA_CONTEXTS),
    )


def measure(decoder: Decoder) -> Iterator[MachineTimings]:
    """Time the machine, then every pass: float32, the best of several rounds. Yields after each pass."""
    points: list[PassPoint] = []
    machine = _measure_machine()
    passes = [
        *((n, 0) for n in PROMPTS if n <= decoder.context),
        *((1, n) for n in CONTEXTS if n < decoder.context),
    ]
    weights = 4 * sum(decoder.count_matrix_entries())
    for tokens, context in passes:
        cache = decoder.process(_make_ids(context)).cache if context else None
        points.append(_time_pass(decoder, tokens, context, cache, weights))
        yield MachineTimings(machine, tuple(points), len(passes))


def _time_pass(decoder: Decoder, tokens: int, context: int, cache: object, weights: int) -> PassPoint:
    seconds = []
    for _ in range(ROUNDS):
        fresh = copy.deepcopy(cache)
        began = time.perf_counter()
        cached_pass = decoder.process(_make_ids(tokens), fresh)
        seconds.append(time.perf_counter() - began)
    read_bytes = sum(
        sum(tensor.nbytes for tensor in layer.qkv[1:]) * context // (context + tokens) for layer in cached_pass.layers
    )
    kind: PassKind = "decode" if context else "prefill"
    return PassPoint(
        kind,
        tokens,
        context + tokens,
        pass_flops(decoder, cached_pass.layers, tokens),
        weights + read_bytes,
        min(seconds),
    )


def _measure_machine() -> Machine:
    """Peak FLOP/s and bandwidth of torch on this machine, in float32 with its current threads."""
    a = torch.randn(WIDTH, WIDTH, generator=torch.Generator().manual_seed(0))
    peak = 2 * WIDTH**3 / _time_fastest(lambda: a @ a)
    matrix = torch.ones(1 << 12, STREAM >> 12)
    vector = torch.ones(STREAM >> 12)
    return Machine(int(peak), int(4 * STREAM / _time_fastest(lambda: matrix @ vector)), 1 << 30)


def _time_fastest(run: Callable[[], object]) -> float:
    """Seconds of the fastest of several runs."""
    return min(timeit.repeat(run, number=1, repeat=ROUNDS + 2))


def _make_ids(count: int) -> tuple[int, ...]:
    """`count` token ids. Their values do not change the time."""
    return tuple(32 + n % 90 for n in range(count))


@dataclass(frozen=True)
class Work:
    """Tokens, FLOPs and seconds of one pass."""

    tokens: int  #: processed in this pass
    flops: int
    seconds: float


def pass_flops(decoder: Decoder, layers: tuple[RecordedLayer, ...], new: int) -> int:
    """FLOPs of one pass over `new` tokens: every matrix, and every (query, key) pair as torch's own counter has it.

    The head's matrix is multiplied once, for the last token alone. Biases, norms and softmax are not counted.
    """
    body, head = decoder.count_matrix_entries()
    attention = sum(2 * layer.shape[1] * count_pairs(*layer.shape[2:]) * _width(layer) for layer in layers)
    return 2 * (new * body + head) + attention


def _width(layer: RecordedLayer) -> int:
    """Width of a query plus width of a value."""
    q, _k, v = layer.qkv
    return q.shape[-1] + v.shape[-1]


FORMAT = 1


def measurement_path(model: str) -> Path:
    """Path of a model's measurement in the cache folder."""
    safe = "".join(c if c.isalnum() or c in "-." else "-" for c in model)
    return current_settings().cache / "measurements" / f"decoding-{safe}.json"


def store_measurement(model: str, measured: MachineTimings) -> None:
    """Write the measurement with its day, processor and number of threads."""
    record = {
        "format": FORMAT,
        "measured": asdict(measured),
        "day": datetime.now(UTC).date().isoformat(),
        "processor": processor_name(),
        "threads": torch.get_num_threads(),
    }
    prepared_files.write_cache_file(measurement_path(model), json.dumps(record).encode())


def find_measurement(model: str) -> MachineTimings | None:
    """The stored measurement of a model. None if there is none, or if its file is damaged."""
    try:
        record = json.loads(measurement_path(model).read_text("utf-8"))
        if record["format"] != FORMAT:
            return None
        measured = record["measured"]
        points = tuple(PassPoint(**point) for point in measured["points"])
        return MachineTimings(Machine(**measured["machine"]), points, measured["total"])
    except DAMAGED:
        return None
