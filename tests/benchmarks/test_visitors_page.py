"""The page of measured visitors says what was kept, whether it keeps the budgets, and nothing else."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from benchmarks.load import an_hour, visitors_page
from benchmarks.load.habits import ACTIONS, OWN, SHARES, WITH_OWN

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


def test_hours_say_what_was_held_how_long_answers_took_and_which_cache_held_more_than_its_limit():
    found: dict[str, Any] = {"at once": 4, "came": 120, "acts": 5400, "hours": 3.0, "minutes": 25.5, "errors": 0}
    found |= {"median wait": 0.31, "gigabytes": {"first": 0.5, "most of each part": [1.8, 1.9, 1.85, 1.9], "last": 1.7}}
    found |= {"longest waits": [["heads", 41.25], ["decoding", 12.0]]}
    caches = {"runs": [100_000_000, 320_000_000], "charts": [60_000_000, 50_000_000]}
    held = {"hour": {"machine": "m", "load": 0.2, "day": "d", "rows": found | {"caches": caches}}}
    told = visitors_page.page(held)
    assert "what takes 4 of them 3 hours: 5,400 acts in 25.5 minutes" in told
    assert "0.31 s at the median; the longest 41.2 s on heads, 12.0 s on decoding." in told
    assert "at most 1.80, 1.90, 1.85 and 1.90 GB in the quarters of that time, and 1.70 GB at the end" in told
    assert "| runs | 100 MB | 320 MB | yes |" in told
    assert "| charts | 60 MB | 50 MB | no |" in told


@pytest.mark.parametrize("looks", [4, 5, 7, 170])
def test_every_look_belongs_to_one_quarter_and_a_peak_is_found_in_its_own(looks):
    for peak in range(looks):
        seen = [1.0] * looks
        seen[peak] = 2.0
        most = an_hour.most_of_each_part(seen)
        assert sorted(most) == [1.0, 1.0, 1.0, 2.0]
        assert abs((peak + 0.5) * 4 / looks - (most.index(2.0) + 0.5)) <= 0.5 + 2 / looks


def test_the_longest_waits_are_said_once_a_page_the_longest_first():
    waits = [(3.0, "heads"), (41.2, "heads"), (0.1, "home"), (12.0, "decoding"), (2.0, "masks")]
    assert an_hour.Lived(waits=waits).longest() == [["heads", 41.2], ["decoding", 12.0], ["masks", 2.0]]


def test_sentences_of_an_hour_are_all_different_and_some_are_longer_than_is_read():
    typed = [an_hour.sentence(random.Random(number)) for number in range(400)]
    words = [len(each.split()) for each in typed]
    assert min(words) == 0
    assert max(words) == 250
    long = [each for each, count in zip(typed, words, strict=True) if count >= 8]
    assert len(set(long)) == len(long)


@pytest.mark.parametrize("begins, share", [("turn to home", "another page"), ("a control of home", "a control")])
def test_what_a_tenth_of_the_visitors_do_with_their_own_sentence_counts_for_a_tenth(begins, share):
    means = dict.fromkeys(ACTIONS, 10.0) | {"turn to home": 10.0, f"{begins}{WITH_OWN}": 110.0}
    assert visitors_page.an_answer(means) - 10.0 == pytest.approx(100 * OWN * SHARES[share] / sum(SHARES.values()))
