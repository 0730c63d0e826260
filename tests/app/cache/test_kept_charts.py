"""A chart is built once for the same numbers, and never for others."""

import ast
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from attnviz.app.cache import shared_results
from attnviz.app.cache.bounded_cache import BoundedCache
from attnviz.app.cache.shared_results import cached_chart

ROOT = Path(__file__).parents[3]
MADE: list[Any] = []


@dataclass(frozen=True)
class Place:
    row: int
    name: str


def bars(*args: Any, **kwargs: Any) -> go.Figure:
    MADE.append((args, kwargs))
    return go.Figure(go.Bar(y=[1, 2]))


def lines(*args: Any, **kwargs: Any) -> go.Figure:
    return bars(*args, **kwargs)


def formatted(value: float) -> str:
    return str(value)


@pytest.fixture(autouse=True)
def empty(monkeypatch: pytest.MonkeyPatch) -> None:
    MADE.clear()
    monkeypatch.setattr(shared_results, "CHARTS", BoundedCache(10_000, lambda fig: 1000))


SAME = [
    (np.arange(4.0), ["a", "b"], {"x": (1, 2)}, None, Place(1, "b"), formatted),
    (np.arange(8.0)[::2] / 2, ["a", "b"], {"x": (1, 2)}, None, Place(1, "b"), formatted),
]


def test_the_same_numbers_give_the_same_chart() -> None:
    first, second = (cached_chart(bars, *args, height=3) for args in SAME)
    assert first is second
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


def changed_after_it_was_kept(source: str) -> list[str]:
    """Lines that change what `cached_chart` gave, which nobody may change any more."""
    lines = []
    for function in (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)):
        kept = {
            node.targets[0].id
            for node in ast.walk(function)
            if isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Name)
            and isinstance(node.value, ast.Call)
            and ast.unparse(node.value.func) == "chart_of"
        }
        changes = (ast.unparse(node) for node in ast.walk(function) if isinstance(node, ast.Call))
        lines += [line for line in changes if re.match(rf"({'|'.join(kept) or '$'})\.(update|add)_", line)]
    return lines


def test_no_page_changes_a_chart_after_it_was_kept() -> None:
    planted = "def draw():\n    fig = chart_of(make, 1)\n    fig.update_xaxes(ticktext=[])\n"
    assert changed_after_it_was_kept(planted) == ["fig.update_xaxes(ticktext=[])"]
    texts = [file.read_text("utf-8") for file in (ROOT / "attnviz").rglob("*.py")]
    keeping = [text for text in texts if "chart_of(" in text]
    assert len(keeping) > 10
    assert [line for text in keeping for line in changed_after_it_was_kept(text)] == []
