"""What pages compute and draw is made once for the same numbers, and all of it together is bounded in bytes."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from attnviz.app.cache import shared_results
from attnviz.app.cache.bounded_cache import BoundedCache, count_bytes
from attnviz.app.cache.shared_results import LEAST, LIMIT, cached_chart, shared


@pytest.fixture(autouse=True)
def own(monkeypatch: pytest.MonkeyPatch) -> BoundedCache:
    mine = BoundedCache(LIMIT, lambda result: max(count_bytes(result), LEAST))
    monkeypatch.setattr(shared_results, "RESULTS", mine)
    monkeypatch.setattr(shared_results, "CHARTS", BoundedCache(10_000, lambda fig: 1000))
    MADE.clear()
    return mine


def test_equal_calls_are_computed_once_however_they_are_written_and_others_anew():
    made = []

    @shared
    def total(n: int, m: int = 2, *, _of: object = None) -> int:
        made.append((n, m))
        return n + m

    assert [total(1, 2, _of=object()), total(n=1, m=2, _of=object()), total(2), total(1, 2)] == [3, 3, 4, 3]
    assert made == [(1, 2), (2, 2)]
    assert shared(lambda n: -n)(1) == -1, "another function of the same value"


def test_calls_that_leave_out_other_parameters_are_told_apart_and_a_key_tells_apart_what_values_do_not():
    difference = shared(lambda of=0, less=0: of - less)
    assert [difference(of=5), difference(less=5), difference(5, 0)] == [5, -5, 5]
    text_of = shared(lambda given: str(given), lambda given: str(given))
    assert [text_of([1]), text_of([2]), text_of([1])] == ["[1]", "[2]", "[1]"]


def test_the_largest_results_of_many_visitors_take_no_more_than_all_may(own: BoundedCache):
    noise = shared(lambda seed: np.zeros(10_000_000, np.uint8) + seed)
    for seed in range(40):
        assert noise(seed)[0] == seed
    assert LIMIT // 2 < own.weight <= LIMIT
    small = shared(lambda seed: f"{seed}")
    for seed in range(2 * LIMIT // LEAST):
        small(seed)
    assert own.weight <= LIMIT, "what has no arrays counts too"


MADE: list[Any] = []


@dataclass(frozen=True)
class Place:
    row: int
    name: str


def bars(*args: Any, **kwargs: Any) -> go.Figure:
    MADE.append((args, kwargs))
    return go.Figure(go.Bar(y=[1, 2]), {"template": {"data": {"bar": [{}], "pie": [{}]}}})


def formatted(value: float) -> str:
    return str(value)


SAME = [
    (np.arange(4.0), ["a", "b"], {"x": (1, 2)}, None, Place(1, "b"), formatted),
    (np.arange(8.0)[::2] / 2, ["a", "b"], {"x": (1, 2)}, None, Place(1, "b"), formatted),
]


def test_the_same_numbers_give_the_same_chart() -> None:
    first, second = (cached_chart(bars, *args, height=3) for args in SAME)
    assert first is second
    assert list(first.to_dict()["layout"]["template"]["data"]) == ["bar"], "of its template what its own traces need"
    assert len(MADE) == 1


@pytest.mark.parametrize(
    "other",
    [
        (np.nextafter(np.arange(4.0), 9),), (np.arange(4.0, dtype=np.float32),), (np.arange(4.0).reshape(2, 2),),
        ([0.0, 1.0, 2.0, 3.0],), (np.arange(4.0), None), ("a", "b"), ("ab",), (["a"], ["b"]), ([["a"], "b"],), (1,),
        (1.0,), (True,), (Place(1, "a"),), (formatted,), (np.array(["a", "b"], dtype=object),),
    ],
)  # fmt: skip
def test_other_values_of_any_kind_give_another_one(other: tuple[Any, ...]) -> None:
    kept = [cached_chart(bars, np.arange(4.0)), cached_chart(bars, "a b"), cached_chart(bars, Place(2, "a"))]
    found = cached_chart(bars, *other)
    assert all(found is not each for each in kept)
    assert cached_chart(bars, *other) is found
