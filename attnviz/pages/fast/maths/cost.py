"""Cost of attention with the whole matrix and in tiles: bytes moved, FLOPs, memory, and time on a machine."""

from dataclasses import dataclass

from attnviz.base.message import require_within
from attnviz.core import traffic
from attnviz.core.costs import DecodingStep, Machine, count_activations, count_flops
from attnviz.core.heads import HeadLayout
from attnviz.core.precision import stored_bytes
from attnviz.core.traffic import BytesMoved

LENGTHS = tuple(1 << power for power in range(7, 21))  #: up to a million tokens
BLOCKS = tuple(1 << power for power in range(11))
KIB, KEYS = 1 << 10, traffic.STEP
#: the fast memory that one worker has in the paper that this page is about
FAST_KIB, FAST_SOURCE = 192, "arXiv 2205.14135, 2.1"
LIMITS = {"tokens": (2, 1 << 20), "heads": (1, 256), "kv_heads": (1, 256), "d_head": (1, 512), "fast_kib": (1, 1 << 16)}


@dataclass(frozen=True)
class Config:
    """A layer, the length of the text, and the size of the fast memory in KiB."""

    tokens: int = 8192
    heads: int = 32
    kv_heads: int = 8
    d_head: int = 128
    fast_kib: int = FAST_KIB
    causal: bool = False
    dtype: str = "bfloat16"

    def __post_init__(self) -> None:
        require_within(self, LIMITS)

    @property
    def layout(self) -> HeadLayout:
        return HeadLayout(self.heads * self.d_head, self.heads, self.kv_heads, self.d_head)


@dataclass(frozen=True)
class WayCost:
    """One forward pass of all heads of a layer."""

    bytes_moved: BytesMoved
    flops: int

    @property
    def intensity(self) -> float:
        """Arithmetic intensity: FLOPs per byte moved."""
        return self.flops / self.bytes_moved.total

    def roofline_step(self, machine: Machine) -> DecodingStep:
        """Roofline time on `machine`: the slower of computing and moving bytes."""
        return DecodingStep(self.flops / machine.peak, self.bytes_moved.total / machine.bandwidth)


@dataclass(frozen=True)
class Result:
    """Costs of both ways, and how they grow with the rows of a tile and with the length."""

    config: Config
    block: int  #: rows of a tile, as many as fit
    tile_bytes: int  #: bytes of the fast memory that such a tile takes
    whole_matrix: WayCost
    tiles: WayCost
    break_even_rows: int | None  #: the fewest rows of a tile with which tiles move less
    bytes_by_block: tuple[int, ...]  #: bytes that tiles of BLOCKS rows move
    score_bytes: tuple[int, ...]  #: bytes of one matrix of scores of all heads, at each of LENGTHS
    qkv_output_bytes: tuple[int, ...]  #: bytes of q, k, v and output there, which both ways hold


def run(config: Config) -> Result:
    """Compute all costs by formula; no attention is run."""
    layout, n, dtype = config.layout, config.tokens, config.dtype
    largest_block = traffic.largest_tile_rows(layout, config.fast_kib * KIB, dtype)
    block = min(largest_block, -(-n // KEYS) * KEYS)

    def count_tiled_bytes(rows: int) -> BytesMoved:
        return traffic.bytes_in_tiles(layout, n, rows, config.causal, dtype)

    return Result(
        config,
        block,
        traffic.fast_memory_bytes(layout, block, dtype=dtype),
        WayCost(traffic.bytes_of_whole_matrix(layout, n, dtype), count_flops(layout, 0, n * n).total),
        WayCost(
            count_tiled_bytes(block), count_flops(layout, 0, traffic.pairs_in_tiles(n, block, config.causal)).total
        ),
        traffic.break_even_rows(layout, n, config.causal, dtype),
        tuple(count_tiled_bytes(rows).total for rows in BLOCKS),
        tuple(stored_bytes(count_activations(layout, length).scores, dtype) for length in LENGTHS),
        tuple(stored_bytes(_count_qkv_output(layout, length), dtype) for length in LENGTHS),
    )


def _count_qkv_output(layout: HeadLayout, tokens: int) -> int:
    """Number of values in q, k, v and the output of all heads."""
    activations = count_activations(layout, tokens, kernel="fused")
    return activations.total - activations.projected


def program(config: Config) -> str:
    """Program that prints the bytes and FLOPs of both ways."""
    return f"""\
from attnviz.core import costs, traffic
from attnviz.core.heads import HeadLayout

layout = HeadLayout({config.heads * config.d_head}, {config.heads}, {config.kv_heads}, {config.d_head})
tokens, dtype = {config.tokens}, {config.dtype!r}
block = min(traffic.largest_tile_rows(layout, {config.fast_kib} * 1024, dtype), -(-tokens // 16) * 16)
whole = traffic.bytes_of_whole_matrix(layout, tokens, dtype)
tiles = traffic.bytes_in_tiles(layout, tokens, block, causal={config.causal}, dtype=dtype)
print(f"tiles of {{block}} rows")
print(f"whole {{whole.total:,}} bytes, {{costs.count_flops(layout, 0, tokens**2).total:,}} FLOPs")
pairs = traffic.pairs_in_tiles(tokens, block, causal={config.causal})
print(f"tiles {{tiles.total:,}} bytes, {{costs.count_flops(layout, 0, pairs).total:,}} FLOPs")
"""
