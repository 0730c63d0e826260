"""The cases that Node holds the JavaScript to are what Python computes now."""

import base64
import json
import zlib
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from attnviz.canvas.shared import packing
from attnviz.core.attention import attend
from attnviz.core.rope import frequencies
from attnviz.models.tokens import project
from attnviz.pages.positions.maths import pair_rotation
from attnviz.pages.scaling.maths import alternatives
from attnviz.pages.scaling.maths.alternatives import ALTERNATIVES
from attnviz.runs import what_if
from scripts import attend_cases
from scripts.browser_cases import CASES, FOLDER, ROWS

STAGES, DECODE16 = alternatives.stages, packing.decode16
MASK_OF, SCALE_OF = what_if.mask_of, what_if.scale_of


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


def is_kept(name: str) -> bool:
    """Whether the kept cases are what Python computes."""
    return same(read(name), json.loads(json.dumps(CASES[name]())), APART.get(name, DOUBLE))


def read(name: str) -> Any:
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", CASES)
def test_the_cases_are_what_python_computes(name):
    assert is_kept(name), "run: python -m scripts.browser_cases"


def test_a_case_that_differs_is_noticed():
    kept = read("softmax")
    kept["cases"][3]["weights"][0] += 1e-5
    assert not same(kept, CASES["softmax"]())


def scaled(q, k, v, mask, factor, *more):
    return attend(q, k, v, mask, 1.01 * factor, *more)


def masked(q, k, v, mask, *more):
    return attend(q, k, v, None if mask is None else mask.roll(1, -1), *more)


def larger(change, layer):
    scale = SCALE_OF(change, layer)
    return 1.01 * scale if isinstance(scale, float) else scale


@pytest.mark.parametrize(
    "name, module, what, wrong",
    [
        ("attend", attend_cases, "attend", scaled),
        ("attend", attend_cases, "attend", masked),
        ("edits", what_if, "scale_of", larger),
        ("edits", what_if, "mask_of", lambda change, layer: MASK_OF(replace(change, window=change.window + 1), layer)),
        ("edits", attend_cases, "project", lambda weights, *more, **how: project(1.0001 * weights, *more, **how)),
        ("rotation", pair_rotation, "frequencies", lambda width, base: 1.0001 * frequencies(width, base)),
        ("softmax", alternatives, "stages", lambda q, *more: STAGES(1.0001 * q, *more)),
        ("packing", packing, "decode16", lambda *more: 1.0001 * DECODE16(*more)),
    ],
)
def test_a_wrong_computation_is_noticed(monkeypatch, name, module, what, wrong):
    monkeypatch.setattr(module, what, wrong)
    assert not is_kept(name)


def test_the_last_bits_decide_no_cell_of_a_small_picture():
    """Codes are compared exactly; a root has half its number's error."""
    for layer in read("edits")["layers"]:
        for edit in layer["edits"]:
            code = np.sqrt(np.array(edit["weights"])[np.array(edit["may"]) > 0]) * 254
            assert (np.abs(code % 1 - 0.5) > code * SINGLE / 2).all()


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
