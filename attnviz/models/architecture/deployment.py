"""One model on one machine: whether it fits in memory, its longest context, and how fast it can decode."""

from collections.abc import Callable
from dataclasses import dataclass

from attnviz.base.message import Problem
from attnviz.core.costs import DecodingStep, Machine, decode_step
from attnviz.core.precision import stored_bytes
from attnviz.models.architecture.architecture import Architecture
from attnviz.models.architecture.layer_spec import Convention, Paged
from attnviz.models.architecture.meta_device import ParameterCounts

FARTHEST = 1 << 30


@dataclass(frozen=True)
class Deployment:
    """How a model is served: context in tokens, batch, number formats, and the layout of the cache."""

    context: int = 8192
    batch: int = 1
    weight_dtype: str = "bfloat16"
    cache_dtype: str = "bfloat16"
    group: int = 64  #: numbers that share one scale in int8, int4 and int2
    convention: Convention = "ideal"
    hybrid: bool = True  #: only for a paged cache: whether layers with a window get a cache of their own size
    encoder_tokens: int = 0  #: tokens that the encoder has read, whatever the context

    def __post_init__(self) -> None:
        for name in ("context", "batch"):
            value = getattr(self, name)
            if not 1 <= value <= FARTHEST:
                raise Problem(
                    "{name}={value} must be a whole number from 1 to {most}", name=name, value=value, most=FARTHEST
                )


@dataclass(frozen=True)
class Size:
    """The results for one deployment. Bytes are exact; seconds are those of an ideal kernel."""

    weight_bytes: int
    cache_bytes: int  #: for the whole batch
    fits: bool
    longest_context: int  #: in tokens, at this batch; 0 when not even one token fits
    largest_batch: int  #: at this context
    step: DecodingStep
    bandwidth_limit: int | None  #: context in tokens from which no batch is compute-bound; None if there is none

    @property
    def tokens_per_second(self) -> float:
        """Tokens per second of one sequence."""
        return 1 / self.step.seconds


def size_deployment(arch: Architecture, counts: ParameterCounts, how: Deployment, machine: Machine) -> Size:
    """Size a model that stores all of `counts`; a decoding step reads and multiplies with less."""
    if not arch.decodes:
        raise Problem("{model} is an encoder: it decodes no tokens and keeps no cache", model=arch.name)
    weights = stored_bytes(counts.total, how.weight_dtype, how.group)
    room = machine.memory - weights

    def cache(tokens: int, batch: int = 1) -> int:
        return arch.kv_cache_bytes(
            tokens, batch, how.cache_dtype, how.convention, how.encoder_tokens, how.group, Paged(hybrid=how.hybrid)
        )

    each = cache(how.context)
    # a single sequence reads only the experts it uses; a batch is assumed to use all of them
    step = decode_step(
        machine,
        parameters=counts.active,
        weight_bytes=stored_bytes(counts.active if how.batch == 1 else counts.read, how.weight_dtype, how.group),
        attention_flops=_attention(arch, how.context, how.encoder_tokens),
        cache_bytes=each,
        batch=how.batch,
    )
    return Size(
        weights,
        each * how.batch,
        each * how.batch <= room,
        _largest(lambda tokens: cache(tokens, how.batch) <= room),
        FARTHEST if room >= 0 and each == 0 else max(0, room // max(each, 1)),
        step,
        bandwidth_limit(arch, counts.active, machine, cache, how.encoder_tokens),
    )


def bandwidth_limit(
    arch: Architecture, active: int, machine: Machine, cache: Callable[[int], int], encoder_tokens: int = 0
) -> int | None:
    """The shortest context in tokens at which reading one more sequence takes longer than computing it.

    `cache` gives the cache bytes of one sequence of so many tokens. None when there is no such context.
    """
    reach = _largest(
        lambda n: (2 * active + _attention(arch, n, encoder_tokens)) * machine.bandwidth > cache(n) * machine.peak
    )
    return None if reach >= FARTHEST else reach + 1


def _attention(arch: Architecture, context: int, encoder_tokens: int) -> int:
    """FLOPs of scores and values for one decoded token. The projections are counted with the parameters."""
    work = arch.decode_flops(context, encoder_tokens=encoder_tokens)
    return work.scores + work.values


def _largest(holds: Callable[[int], bool]) -> int:
    """The largest number up to FARTHEST for which `holds` is True, 0 if there is none.

    Searches by bisection, so `holds` must be True for all smaller numbers; where a cache grows by whole blocks it is
    so up to the size of a block.
    """
    if not holds(1):
        return 0
    low, high = 1, 2
    while high <= FARTHEST and holds(high):
        low, high = high, high * 2
    if high > FARTHEST:
        return FARTHEST
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
