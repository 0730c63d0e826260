"""A chart is built once for the same numbers, and never for others."""

import ast
import copy
import gettext
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from attnviz.app.cache import kept_charts
from attnviz.app.cache.bounded_cache import BoundedCache
from attnviz.app.cache.kept_charts import chart_of
from attnviz.base import words
from attnviz.base.words import speaking
from attnviz.figures import heatmap
from attnviz.figures.export import prepared
from attnviz.figures.label_room import for_a_room, keep_room

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
    monkeypatch.setattr(kept_charts, "CHARTS", BoundedCache(10_000, lambda fig: 1000))


SAME = [
    (np.arange(4.0), ["a", "b"], {"x": (1, 2)}, None, Place(1, "b"), formatted),
    (np.arange(8.0)[::2] / 2, ["a", "b"], {"x": (1, 2)}, None, Place(1, "b"), formatted),
]


def test_the_same_numbers_give_the_same_chart() -> None:
    first, second = (chart_of(bars, *args, height=3) for args in SAME)
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
    kept = [chart_of(bars, np.arange(4.0)), chart_of(bars, "a b"), chart_of(bars, Place(2, "a"))]
    found = chart_of(bars, *other)
    assert all(found is not each for each in kept)
    assert chart_of(bars, *other) is found


def test_another_function_another_name_and_another_language_give_another_one() -> None:
    first = chart_of(bars, 1)
    assert chart_of(lines, 1) is not first
    assert chart_of(bars, height=1) is not first
    with speaking("zh"):
        other = chart_of(bars, 1)
        assert other is not first
        assert chart_of(bars, 1) is other


def test_a_chart_is_kept_for_the_language_that_it_was_drawn_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked for zh, said in en: a test's own sentences, or those looked for before a language was there."""
    given = np.eye(2), list("ab"), list("ab")
    with speaking("zh"):
        with monkeypatch.context() as patched:
            patched.setattr(words, "_translations", lambda _language: gettext.NullTranslations())
            english = chart_of(heatmap.matrix, *given, masked=np.eye(2) > 0)
        assert "hidden by the mask" in english.to_json()
        assert "hidden by the mask" not in chart_of(heatmap.matrix, *given, masked=np.eye(2) > 0).to_json()


def test_what_nobody_can_compare_is_built_each_time() -> None:
    for value in (lambda x: x, (each for each in [1])):
        assert chart_of(bars, value) is not chart_of(bars, value)


def test_those_not_looked_at_for_long_are_let_go() -> None:
    first = chart_of(bars, 0)
    for n in range(1, 12):
        chart_of(bars, n)
    assert len(kept_charts.CHARTS._values) == 10
    assert chart_of(bars, 0) is not first


def test_drawing_it_for_a_room_and_saving_it_leave_it_as_it_is() -> None:
    chart = chart_of(heatmap.matrix, np.eye(3), ["a", "b", "c"], ["a", "b", "c"])
    before = chart.to_json()
    for_a_room(chart)
    prepared(chart, background="dark", colorbar=False)
    assert chart_of(heatmap.matrix, np.eye(3), ["a", "b", "c"], ["a", "b", "c"]).to_json() == before


def test_a_kept_chart_tells_what_it_told_before_and_is_asked_by_plotly_once(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[int] = []
    tell = go.Figure.to_dict

    def counting(fig: go.Figure) -> Any:
        told.append(1)
        return tell(fig)

    monkeypatch.setattr(go.Figure, "to_dict", counting)
    plain = keep_room(heatmap.matrix(np.eye(3), list("abc"), list("abc")))
    fig = chart_of(heatmap.matrix, np.eye(3), list("abc"), list("abc"))
    assert len(told) == 1
    whole = plain.to_dict()
    looks = whole["layout"]["template"]["data"]
    assert len(looks) > 1
    whole["layout"]["template"]["data"] = {"heatmap": looks["heatmap"]}  # of the other kinds it has no trace
    assert fig.to_dict() == whole
    assert json.loads(fig.to_json())["layout"]["template"]["data"] == {"heatmap": looks["heatmap"]}
    assert len(told) == 2  # by the plain one, never by the kept one


def test_what_is_made_of_a_kept_chart_tells_of_itself() -> None:
    fig = chart_of(heatmap.matrix, np.eye(2), list("ab"), list("ab"))
    before = fig.to_json()
    big = for_a_room(fig)
    assert big.to_dict()["layout"]["font"]["size"] > fig.to_dict()["layout"]["font"]["size"]
    told = fig.to_dict()
    told["layout"] = {}  # what a reader does to the answer stays with him
    assert fig.to_json() == before
    assert go.Figure(fig).update_layout(title="another").to_json() != before
    assert copy.deepcopy(fig).layout.font == fig.layout.font
    assert fig.to_json() == before


def changed_after_it_was_kept(source: str) -> list[str]:
    """Lines that change what `chart_of` gave: a kept chart shows nothing of it, since nobody may change it any more."""
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
