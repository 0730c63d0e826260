"""Views whose layers amplify rounding: what they draw, number by number, and how two processors may differ in it.

Thirty layers without mask and scale turn the last bits into half a percent. Measured with other instructions, other
libraries and one to four threads: 0.3% of the largest weight, and 0.5% of the longest bar, where the likeliest
tokens change their places. Such a view is held to twice that, and to which cells are the largest.
"""

import json
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np

from tests.links import canvases
from tests.links.digest import array_of, brief

APART = 0.01
RANKED = 10
Record = dict[str, Any]


def drawn(page: Any) -> list[list[float]]:
    """The numbers of each large head, 0 where masked, and the bars of each chart."""
    blobs = [bytes(each.proto.bytes) for each in page.get("bidi_component") if each.proto.bytes]
    heads = [blob for blob in blobs if "signed" in canvases.unblob(blob)[0]]
    matrices = [np.nan_to_num(canvases.head_values(*canvases.unblob(blob))) for blob in heads]
    charts = [json.loads(each.proto.spec)["data"] for each in page.get("plotly_chart")]
    bars = [np.concatenate([array_of(bar["x"]) for bar in chart]) for chart in charts]
    return [[brief(value) or 0.0 for value in np.ravel(each)] for each in (*matrices, *bars)]


def without_digests(facts: Any) -> Any:
    """Facts without the sums and cells of what is held number by number."""
    if isinstance(facts, dict):
        if "cells" in facts:
            return {name: facts[name] for name in ("shape", "finite")}
        return {name: each if name == "tiles" else without_digests(each) for name, each in facts.items()}
    return [without_digests(each) for each in facts] if isinstance(facts, list) else facts


def differences(kept: list[list[float]], now: list[list[float]]) -> Iterator[str]:
    """Numbers that differ by more than `APART` of the largest, and the ten largest where their order is another one."""
    if [*map(len, kept)] != [*map(len, now)]:
        yield f"drawn: {[*map(len, now)]} numbers, were {[*map(len, kept)]}"
        return
    for number, (old, new) in enumerate(zip(map(np.abs, kept), map(np.abs, now), strict=True)):
        most = APART * old.max()
        for at in np.flatnonzero(np.abs(np.subtract(kept[number], now[number])) > most):
            yield f"drawn {number}, cell {at}: was {kept[number][at]}, is {now[number][at]}"
        largest = np.argsort(-old, kind="stable")[:RANKED]
        for above, below in combinations(largest, 2):
            if old[above] - old[below] > most and new[above] <= new[below]:
                yield f"drawn {number}: cell {above} was above cell {below}"
