"""The cases that Node holds the JavaScript to are what Python computes now."""

import json
from typing import Any

import pytest

from tests.js.browser_cases import CASES, FOLDER

pytestmark = pytest.mark.numbers

#: How far two processors may be apart, relative to a number. Each rounds in an order of its own: a rounding (2^-53 of a
#: double, 2^-24 of a float32) times the terms of the longest sum, and times the largest exponent, whose error becomes
#: the exponential's relative error.
DOUBLE = 2**-53 * 4096 * 2**17  # 4,096 products; scores of up to 460, at a temperature of 0.005
SINGLE = 2**-24 * (40 + 2 * 100)  # 40 keys; scores that were capped at 100, or lie as close to the largest
APART = {"attend": SINGLE, "edits": SINGLE}


def same(kept: Any, made: Any, apart: float = DOUBLE) -> bool:
    """Equal, numbers up to the last bits, which another processor may sum differently."""
    if isinstance(made, dict):
        return kept.keys() == made.keys() and all(same(kept[name], made[name], apart) for name in made)
    if isinstance(made, list):
        return len(kept) == len(made) and all(same(old, new, apart) for old, new in zip(kept, made, strict=True))
    if isinstance(made, float):
        return kept == pytest.approx(made, rel=apart, abs=1e-9)
    return kept == made


def read(name: str) -> Any:
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", CASES)
def test_the_cases_are_what_python_computes(name):
    made = json.loads(json.dumps(CASES[name]()))
    assert same(read(name), made, APART.get(name, DOUBLE)), "run: python -m tests.js.browser_cases"
