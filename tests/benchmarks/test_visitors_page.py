"""The page of measured visitors says what was kept, whether it keeps the budgets, and nothing else."""

from __future__ import annotations

import json

import pytest

from benchmarks.load import visitors_page
from benchmarks.load.habits import ACTIONS, OWN, SHARES

ROW = {"visitors": 300, "errors": 0, "clients": 0.1, "opens": [0.5, 1.9], "answers": [0.1, 0.9], "painted": []}


def drawn(**changed):
    held = {"one": {"machine": "m", "load": 0.2, "day": "d", "rows": [ROW | changed]}}
    return visitors_page.page(held).splitlines()[-1]


def test_the_page_in_the_repository_is_written_from_what_was_kept():
    if not visitors_page.KEPT.exists():
        assert not visitors_page.PAGE.exists()
        return
    held = json.loads(visitors_page.KEPT.read_text("utf-8"))
    assert visitors_page.PAGE.read_text("utf-8") == visitors_page.page(held)


@pytest.mark.parametrize(
    "changed, verdict",
    [
        ({}, "yes"),
        ({"opens": [0.5, 2.1]}, "no"),
        ({"answers": [0.1, 1.1]}, "no"),
        ({"errors": 1}, "no"),
        ({"clients": 0.31}, "does not count"),
    ],
)
def test_a_budget_is_kept_by_its_95th_percentiles_without_an_error_and_with_idle_clients(changed, verdict):
    assert drawn(**changed).endswith(f"| {verdict} |")


def test_an_answer_costs_what_its_kinds_do_as_often_as_they_are_asked_for():
    means = dict.fromkeys(ACTIONS, 10.0) | {"turn to home": 10.0, "a control of home": 10.0}
    assert visitors_page.an_answer(means) == pytest.approx(10.0)
    dear = means | {"a sentence of one's own": 1010.0}
    assert visitors_page.an_answer(dear) - 10.0 == pytest.approx(
        1000 * OWN * SHARES["the class's sentence"] / sum(SHARES.values())
    )
    assert visitors_page.an_answer(means | {"turn to home": 110.0}) == pytest.approx(
        10 + 100 * SHARES["another page"] / 100
    )
