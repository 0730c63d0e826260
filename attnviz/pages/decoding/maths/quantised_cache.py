"""A cache in int8, int4 and int2: bytes stored, and what the rounding does to the logits."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from attnviz.base.message import Message, Problem
from attnviz.core.attention import attend
from attnviz.core.precision import Quantised, dequantise, quantise
from attnviz.models.capture import RecordedLayer
from attnviz.pages.decoding.maths.decoders import CachedReading, Decoder, PredictionShift, compare_predictions, read

GroupAxis = Literal["token", "channel"]
#: (bits, which numbers of the keys share a scale); values always share along their token
FORMATS: tuple[tuple[int, GroupAxis], ...] = ((8, "token"), (4, "token"), (4, "channel"), (2, "token"), (2, "channel"))
MOST_SHARING = 64
CHANNEL_TOKENS = 32  #: neighbouring tokens whose keys share a scale in one channel, once there are as many


@dataclass(frozen=True, eq=False)
class RoundedCache:
    """One format: change of the predictions, bytes stored for the text, errors of keys and values.

    Errors (L,) are the root mean square of the difference over that of the numbers themselves.
    """

    bits: int
    axis: GroupAxis
    group: int  #: numbers that share a scale
    shift: PredictionShift
    nbytes: int
    k_error: np.ndarray
    v_error: np.ndarray


@dataclass(frozen=True, eq=False)
class Result:
    """The formats computed so far."""

    labels: tuple[str, ...]
    formats: tuple[RoundedCache, ...]
    half_bytes: int  #: of the same cache at 16 bits
    logits: tuple[float, float]  #: the lowest and the highest of all predictions
    channel_spread: float  #: of a head's keys, averaged: the largest channel's root mean square over the median one's
    notices: tuple[Message, ...]

    @property
    def done(self) -> bool:
        return len(self.formats) == len(FORMATS)


def run(decoder: Decoder, text: str) -> Iterator[Result]:
    """Yield the result after each format."""
    reading = read(decoder, text)
    kv_pairs = [layer.qkv[1:] for layer in reading.layers]
    numbers = (
        sum(tensor.numel() for pair in kv_pairs for tensor in pair) // reading.prompt * reading.total
    )  # in the whole text
    spread = float(np.mean([channel_spread(k[0]) for k, _v in kv_pairs]))
    caches: list[RoundedCache] = []
    for bits, axis in FORMATS:
        caches.append(read_with_rounding(reading, bits, axis))
        yield Result(
            reading.labels,
            tuple(caches),
            2 * numbers,
            (float(reading.logits.min()), float(reading.logits.max())),
            spread,
            reading.notices,
        )


def read_with_rounding(reading: CachedReading, bits: int, axis: GroupAxis) -> RoundedCache:
    """Read the rest of the text from a cache rounded to `bits`.

    Each token's own key and value are exact. By channel, keys are exact until their group of tokens is full.
    """
    stored, errors, groups = list[int](), list[tuple[float, float]](), list[int]()

    def answer(layer: RecordedLayer) -> Tensor:
        _q, exact_k, exact_v = layer.qkv
        v = round_by_token(exact_v[0], bits)
        rough_v = dequantise(v)
        if axis == "token":
            k, waiting = round_by_token(exact_k[0], bits), exact_k[0, :, :0]
            rough_k = dequantise(k)
            groups.append(exact_k.shape[3] // k.scale.shape[-2])
        else:  # keys of a group that is not full yet wait as they are
            full, waiting = exact_k[0].tensor_split([exact_k.shape[2] // CHANNEL_TOKENS * CHANNEL_TOKENS], 1)
            k = quantise(full.mT.contiguous(), bits, CHANNEL_TOKENS)
            rough_k = torch.cat([dequantise(k).mT, waiting.float()], 1)
            groups.append(CHANNEL_TOKENS)
        stored.append(k.nbytes + v.nbytes + 2 * waiting.numel())
        errors.append((_relative_error(rough_k, exact_k[0]), _relative_error(rough_v, exact_v[0])))
        return _attend_rounded(layer, rough_k, rough_v, axis)

    logits, _layers = reading.process_rest(answer)
    k_error, v_error = (np.array(values) for values in zip(*errors, strict=True))
    return RoundedCache(bits, axis, groups[0], compare_predictions(reading, logits), sum(stored), k_error, v_error)


def _attend_rounded(layer: RecordedLayer, rough_k: Tensor, rough_v: Tensor, axis: GroupAxis) -> Tensor:
    """Attention over stored and exact keys: three blocks of keys, side by side.

    Keys may still be exact where values are rounded already, so each block has one kind of both.
    """
    if layer.bias is not None:
        raise Problem("layer {index} adds a bias to its scores; its cache is not rounded here", index=layer.index)
    new, total = layer.shape[2:]
    query, key = torch.arange(total - new, total)[:, None], torch.arange(total)[None]
    diagonal = (key == query).to(layer.device)
    full = query // CHANNEL_TOKENS * CHANNEL_TOKENS if axis == "channel" else query
    rounded_key = (key < full).to(layer.device)
    q, exact_k, exact_v = (tensor.float() for tensor in layer.qkv)
    k = torch.cat([rough_k[None], exact_k, exact_k], 2)
    v = torch.cat([rough_v[None], rough_v[None], exact_v], 2)
    mask = torch.cat(
        [layer.mask & seen for seen in (rounded_key, ~rounded_key & ~diagonal, diagonal)], -1
    )  # (..., Q, 3 K)
    return attend(q, k, v, mask, layer.scale, None, layer.softcap, layer.sinks).output


def round_by_token(x: Tensor, bits: int) -> Quantised:
    """Round (G, T, D) with scales along each token's vector; at most MOST_SHARING numbers share one."""
    width = x.shape[-1]
    return quantise(x, bits, next(n for n in range(min(width, MOST_SHARING), 0, -1) if width % n == 0))


def channel_spread(k: Tensor) -> float:
    """Size of the largest channel of keys (G, T, D) over that of the median one, mean over G heads."""
    size = k.float().pow(2).mean(1).sqrt()  # (G, D)
    return float((size.amax(-1) / size.median(-1).values).mean())


def _relative_error(rough: Tensor, exact: Tensor) -> float:
    return float((rough - exact).pow(2).mean().sqrt() / exact.float().pow(2).mean().sqrt())
