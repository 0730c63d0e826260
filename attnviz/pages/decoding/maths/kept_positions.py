"""Eviction policies on real attention: visible positions, change of the predictions, bytes saved."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnviz.analysis import prepared_files
from attnviz.base.message import Message
from attnviz.core.attention import attend
from attnviz.core.cache import EVICTION_RULES, Eviction, HeavyHitters, visible_positions
from attnviz.models.capture import RecordedLayer
from attnviz.pages.decoding.maths.decoders import CachedReading, Decoder, PredictionShift, compare_predictions, read

POLICIES = tuple(kind for kind in EVICTION_RULES if kind != "full")  #: that evict
BUDGETS = (16, 64, 4, 32, 8, 128)  #: in the order in which they are computed


@dataclass(frozen=True)
class Config:
    """The text to read, and the seed of the random policy."""

    text: str
    seed: int = 0  #: of the random policy


@dataclass(frozen=True, eq=False)
class PolicyResult:
    """One policy at one budget. `positions` (L, G or 1, rest, total): what each decoded token sees."""

    policy: Eviction
    shift: PredictionShift
    positions: np.ndarray
    cache_bytes: int  #: of all layers, at the end of the text


@dataclass(frozen=True, eq=False)
class Result:
    """The policies computed so far: the full cache first, then each budget with every policy that evicts."""

    config: Config
    labels: tuple[str, ...]
    prompt: int
    budgets: tuple[int, ...]
    policies: tuple[PolicyResult, ...]
    full_loss: float  #: with everything kept
    full_bytes: int
    number_bytes: int  #: of one number in the cache
    notices: tuple[Message, ...]

    @property
    def total(self) -> int:
        return len(self.labels)

    @property
    def total_policies(self) -> int:
        return 1 + len(self.budgets) * len(POLICIES)

    @property
    def done(self) -> bool:
        return len(self.policies) == self.total_policies

    def find_all(self, kind: str) -> tuple[PolicyResult, ...]:
        """Results of one policy at all budgets so far."""
        return tuple(policy_result for policy_result in self.policies if policy_result.policy.kind == kind)

    def find(self, kind: str, budget: int) -> PolicyResult | None:
        """Result of one policy at one budget; None while it is not computed. The full cache matches any budget."""
        return next(
            (
                policy_result
                for policy_result in self.find_all(kind)
                if kind == "full" or policy_result.policy.budget == budget
            ),
            None,
        )


def run(decoder: Decoder, config: Config) -> Iterator[Result]:
    """Yield the result after each policy and budget."""
    reading = read(decoder, config.text)
    budgets = tuple(n for n in BUDGETS if n < reading.total)  # with all of the text kept, nothing moves
    # bytes that one position takes in all layers
    position = sum((k.nbytes + v.nbytes) // k.shape[2] for _q, k, v in (layer.qkv for layer in reading.layers))
    policies = [
        Eviction("full", reading.total),
        *(Eviction(kind, n, config.seed) for n in budgets for kind in POLICIES),
    ]
    full_loss = compare_predictions(reading, reading.logits).loss
    results: list[PolicyResult] = []
    for policy in policies:
        logits, positions = decode(reading, policy)
        results.append(
            PolicyResult(
                policy, compare_predictions(reading, logits), positions, position * min(policy.budget, reading.total)
            )
        )
        yield Result(
            config,
            reading.labels,
            reading.prompt,
            budgets,
            tuple(results),
            full_loss,
            position * reading.total,
            reading.layers[0].qkv[1].element_size(),
            reading.notices,
        )


def decode(reading: CachedReading, policy: Eviction) -> tuple[Tensor, np.ndarray]:
    """Read the rest of the text under a policy: logits (rest, V), visible positions (L, G or 1, rest, total)."""
    positions: list[np.ndarray] = []
    fixed = None if policy.looks else visible_positions(policy, reading.prompt, reading.total)[None]

    def answer(layer: RecordedLayer) -> Tensor:
        visible = _track_heavy_hitters(reading, layer, policy.budget) if fixed is None else fixed.to(layer.device)
        positions.append(visible.cpu().numpy())  # (G or 1, Q, K)
        mask = layer.mask & visible.repeat_interleave(1 if len(visible) == 1 else layer.n_heads // len(visible), 0)
        return layer.stages_of(list(range(layer.n_heads)), mask).output

    logits, _layers = reading.process_rest(answer)
    return logits, np.stack(positions)


def _track_heavy_hitters(reading: CachedReading, layer: RecordedLayer, budget: int) -> Tensor:
    """Positions (G, rest, total) that each decoded token sees under heavy hitters.

    One row after another: the attention of each row decides what the next one evicts.
    """
    groups, total = layer.n_kv_heads, reading.total
    weights = reading.layers[layer.index].weights()[0].sum(1)  # (H, prompt): drawn by each position of the prompt
    hitters = HeavyHitters(budget, weights.unflatten(0, (groups, -1)).sum(1).cpu(), total)
    q, k, v = (tensor.float() for tensor in layer.qkv)
    rows = []
    for row in range(total - reading.prompt):
        visible = hitters.keep(reading.prompt + row)
        mask = layer.mask[..., row : row + 1, :] & visible.repeat_interleave(layer.n_heads // groups, 0)[:, None]
        bias = None if layer.bias is None else layer.bias[..., row : row + 1, :]
        stages = attend(q[:, :, row : row + 1], k, v[..., :0], mask, layer.scale, bias, layer.softcap, layer.sinks)
        hitters.draw(stages.weights[0, :, 0].cpu())
        rows.append(visible)
    return torch.stack(rows, 1)


# The policies' result for the page's own example, computed beforehand: some 20 passes that nobody has to wait for.
#
# `python -m scripts.prepare policies` writes it; it holds for exactly these weights, this text and this seed, and
# tests/pages/decoding/test_kept_positions.py computes it again.
FORMAT = 2
FILE = "prepared_policies.npz"


def find_prepared(model: str, config: Config) -> Result | None:
    """The prepared result for this model and these settings, or None."""
    header, arrays = _read_prepared()
    expected = {
        "format": FORMAT,
        "model": model,
        "weights": prepared_files.packaged_weights(model),
        "text": config.text,
        "seed": config.seed,
    }
    if not expected.items() <= header.items():
        return None
    return Result(
        config,
        tuple(header["labels"]),
        header["prompt"],
        tuple(header["budgets"]),
        tuple(_unpack_policy(n, entry, header, arrays) for n, entry in enumerate(header["policies"])),
        header["full_loss"],
        header["full_bytes"],
        header["number_bytes"],
        (),
    )


def pack_result(model: str, result: Result) -> bytes:
    """File contents of a complete result."""
    arrays: dict[str, np.ndarray] = {}
    for n, policy_result in enumerate(result.policies):
        arrays |= {
            f"kl{n}": policy_result.shift.kl,
            f"largest{n}": policy_result.shift.largest,
            f"same{n}": policy_result.shift.same,
        }
        if policy_result.policy.looks:
            arrays[f"positions{n}"] = np.packbits(policy_result.positions)
    header = {
        "format": FORMAT,
        "model": model,
        "weights": prepared_files.packaged_weights(model),
        "text": result.config.text,
        "seed": result.config.seed,
        "labels": result.labels,
        "prompt": result.prompt,
        "budgets": result.budgets,
        "full_loss": result.full_loss,
        "full_bytes": result.full_bytes,
        "number_bytes": result.number_bytes,
        "policies": [
            {
                "kind": policy_result.policy.kind,
                "budget": policy_result.policy.budget,
                "loss": policy_result.shift.loss,
                "bytes": policy_result.cache_bytes,
                "shape": policy_result.positions.shape,
            }
            for policy_result in result.policies
        ],
    }
    return prepared_files.pack_file(header, arrays)


@lru_cache(maxsize=1)
def _read_prepared() -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    return prepared_files.read(__package__, FILE) or ({}, {})


def _unpack_policy(
    n: int, entry: dict[str, Any], header: dict[str, Any], arrays: dict[str, np.ndarray]
) -> PolicyResult:
    policy = Eviction(entry["kind"], entry["budget"], header["seed"])
    shift = PredictionShift(arrays[f"kl{n}"], arrays[f"largest{n}"], arrays[f"same{n}"], entry["loss"])
    if policy.looks:
        bits = np.unpackbits(arrays[f"positions{n}"], count=int(np.prod(entry["shape"])))
        positions = bits.astype(bool).reshape(entry["shape"])
    else:
        positions = visible_positions(policy, header["prompt"], len(header["labels"])).expand(entry["shape"]).numpy()
    return PolicyResult(policy, shift, positions, entry["bytes"])
