"""The cases that Node holds the JavaScript to are what Python computes now."""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

import pytest

from attnviz.experiments.scaling.alternatives import ALTERNATIVES
from attnviz.ui.canvas import packing
from scripts.browser_cases import CASES, FOLDER, ROWS


def same(kept: Any, made: Any) -> bool:
    """Equal, numbers up to the last bits, which another processor may sum differently."""
    if isinstance(made, dict):
        return kept.keys() == made.keys() and all(same(kept[name], made[name]) for name in made)
    if isinstance(made, list):
        return len(kept) == len(made) and all(map(same, kept, made))
    if isinstance(made, float):
        return kept == pytest.approx(made, rel=1e-7, abs=1e-9)
    return kept == made


def read(name: str) -> Any:
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", CASES)
def test_the_cases_are_what_python_computes(name):
    assert same(read(name), json.loads(json.dumps(CASES[name]()))), "run: python -m scripts.browser_cases"


def test_a_case_that_differs_is_noticed():
    kept = read("softmax")
    kept["cases"][3]["weights"][0] += 1e-5
    assert not same(kept, CASES["softmax"]())


def test_the_cases_hold_every_alternative_width_and_mask():
    kept = read("softmax")
    assert {case["kind"] for case in kept["cases"]} == set(ALTERNATIVES)
    assert {row["d"] for row in kept["rows"]} >= {d for d, *_ in ROWS}
    masked = [row["allowed"] for row in kept["rows"]]
    assert any(all(row) for row in masked)
    assert any(not any(row) for row in masked)
    assert any(any(row) and not all(row) for row in masked)


def test_a_packed_case_is_read_by_python_too():
    case = read("packing")["weights"]
    header, payload = packing.unblob(base64.b64decode(case["blob"]))
    assert header == case["header"]
    assert len(zlib.decompress(payload)) == 2 * len(case["values"])
