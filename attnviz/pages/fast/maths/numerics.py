"""Rounding of an online softmax: sums in 32 and 16 bits, with the maximum subtracted and without, against float64."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

ROWS, WIDTH = 32, 16  #: rows that the error is measured on, and numbers of a value
LENGTHS = tuple(2**power for power in range(6, 15))
#: what a way keeps exponentials in, and sums in, and whether it subtracts the largest score so far
WAYS: Mapping[str, tuple[torch.dtype, torch.dtype, bool]] = {
    "float32": (torch.float32, torch.float32, True),
    "mixed": (torch.bfloat16, torch.float32, True),
    "bfloat16": (torch.bfloat16, torch.bfloat16, True),
    "float16": (torch.float16, torch.float16, True),
    "bfloat16-raw": (torch.bfloat16, torch.bfloat16, False),
    "float16-raw": (torch.float16, torch.float16, False),
}


@dataclass(frozen=True)
class Config:
    """Random scores, and how many keys a tile has."""

    size: float = 2.5  #: the standard deviation of a score
    block: int = 64
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Result:
    """Rounding errors of each way.

    Errors are of the output, relative to its norm: the root of the mean square over rows; NaN from where a sum is
    not finite. `log_sums` are of the first row at the last length.
    """

    config: Config
    whole_row_errors: np.ndarray  #: (lengths,), float32, all keys of a row at once
    errors: Mapping[str, np.ndarray]  #: way -> (lengths,)
    log_sums: Mapping[str, float]
    exact_log_sum: float  #: the same in float64
    largest: np.ndarray  #: (lengths,), the largest score of all rows
    rescaled: int  #: how often a tile after the first raises a row's largest score, in the row where it does so most

    def first_lost_length(self, way: str) -> int | None:
        """First length at which the sums of a way are not finite; None if they always are."""
        lost = np.flatnonzero(np.isnan(self.errors[way]))
        return LENGTHS[lost[0]] if len(lost) else None


def run(config: Config) -> Result:
    """Run all ways on the same scores and values; each length is a prefix of the same rows."""
    generator = torch.Generator().manual_seed(config.seed)
    scores = config.size * torch.randn(ROWS, LENGTHS[-1], generator=generator, dtype=torch.float64)
    values = torch.randn(LENGTHS[-1], WIDTH, generator=generator).bfloat16().double()  # no way has to round them
    exact_outputs = [scores[:, :n].softmax(-1) @ values[:n] for n in LENGTHS]
    whole_row_outputs = [scores[:, :n].float().softmax(-1) @ values[:n].float() for n in LENGTHS]
    errors, log_sums = {}, {}
    for way in WAYS:
        outputs, log_sum = online_softmax(scores, values, config.block, *WAYS[way])
        errors[way] = _relative_errors(outputs, exact_outputs)
        log_sums[way] = float(log_sum[0])
    exact_log_sum = float(scores[0].logsumexp(-1))
    largest = np.array([float(scores[:, :n].max()) for n in LENGTHS])
    highest = scores.unflatten(-1, (-1, config.block)).amax(-1).cummax(-1).values
    rescaled = int((highest.diff(dim=-1) > 0).sum(-1).max())
    return Result(
        config, _relative_errors(whole_row_outputs, exact_outputs), errors, log_sums, exact_log_sum, largest, rescaled
    )


def _relative_errors(outputs: list[Tensor], exact_outputs: list[Tensor]) -> np.ndarray:
    return np.array(
        [
            float((output.double() - exact).norm() / exact.norm()) if output.isfinite().all() else np.nan
            for output, exact in zip(outputs, exact_outputs, strict=True)
        ]
    )


def online_softmax(
    scores: Tensor, values: Tensor, block: int, weights_in: torch.dtype, sums_in: torch.dtype, subtract: bool
) -> tuple[list[Tensor], Tensor]:
    """The output after each of LENGTHS keys, (rows, Dv), and each row's log-sum-exp at the end.

    Exponentials, and what is kept from tile to tile, are rounded to their formats; a product of tiles is summed in 32
    bits and rounded once, as hardware does it. Without `subtract` the exponentials are of the scores as they are.
    """
    scores, values = scores.float(), values.float()
    highest = torch.full(scores.shape[:1], -torch.inf if subtract else 0.0)
    total, output = torch.zeros(len(scores)), torch.zeros(len(scores), values.shape[1])
    outputs = []
    for start in range(0, LENGTHS[-1], block):
        before = highest, total, output
        # a row that ends inside a tile has a smaller one there
        for end in (*(n for n in LENGTHS if start < n < start + block), start + block):
            tile = scores[:, start:end]
            highest = torch.maximum(before[0], tile.amax(-1)) if subtract else before[0]
            rescale = (before[0] - highest).exp()
            weights = (tile - highest[:, None]).exp().to(weights_in).float()
            total = (before[1] * rescale + weights.sum(-1)).to(sums_in).float()
            output = (before[2] * rescale[:, None] + weights @ values[start:end]).to(sums_in).float()
            if end in LENGTHS:
                outputs.append(torch.where(total.isfinite()[:, None], output / total[:, None], torch.nan))
    return outputs, highest + total.log()
