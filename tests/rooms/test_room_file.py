"""A room's file: codes, votes, who may write, and its end; no network."""

import json
import random
import time

import pytest

from attnviz.base.message import Problem
from attnviz.rooms import room_file
from attnviz.rooms.room_file import CODE, LIFE, Counts, RoomFile, Vote, class_row, parse_vote, remove_ended

QUESTION = {"id": 7, "words": ["The", "cat", "sat", "it", "slept"], "query": 3, "most": 3}


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    monkeypatch.setenv("ATTNVIZ_ROOMS", str(tmp_path / "rooms"))
    return tmp_path / "rooms"


@pytest.fixture
def room():
    made, _secret = RoomFile.create()
    yield made
    made.close()


def test_a_room_is_found_by_its_code_in_any_case_and_by_no_other(room):
    assert CODE.fullmatch(room.code)
    with RoomFile.open(f" {room.code.lower()} ") as found:
        assert found.code == room.code
    for other in ("", "BBBBB" if room.code != "BBBBB" else "CCCCC", "../../etc", room.code + "B", "ÄÖÜßé"):
        assert RoomFile.open(other) is None


def test_its_folder_and_its_file_are_the_owners_alone(room, folder):
    assert folder.stat().st_mode & 0o077 == 0
    assert room.path.stat().st_mode & 0o077 == 0


def test_only_the_newest_projector_writes_and_every_writing_has_the_next_number(room):
    first = room.take_over()
    assert room.write(first, "step", b"1")
    second = room.take_over()
    assert not room.write(first, "step", b"of the old one")
    assert room.read("step") == (1, b"1")
    assert room.write(second, "step", b"2")
    assert room.read("step") == (2, b"2")
    assert room.overview()[-1] == {"step": 2}
    assert room.read("question") == (0, None)


def test_of_a_tabs_votes_the_larger_number_stays_however_they_come(room):
    votes = [Vote(7, f"tab{tab}", number, (number % 3,)) for tab in range(40) for number in (1, 2, 3, 4)]
    random.Random(1).shuffle(votes)
    for start in range(0, len(votes), 7):
        room.vote(votes[start : start + 7])
    counts = room.count(7, 3)
    assert (counts.votes, counts.taps) == (40, (0, 40, 0))
    assert room.count(8, 3).votes == 0


def test_a_room_ends_four_hours_after_its_last_sign_of_life_and_nothing_of_it_stays(room, folder, monkeypatch):
    later = time.time() + LIFE - 60
    monkeypatch.setattr(room_file.time, "time", lambda: later)
    room.touch()
    later += LIFE - 60
    RoomFile.open(room.code).close()
    later += 120
    remove_ended(folder)
    assert list(folder.iterdir()) == []
    assert RoomFile.open(room.code) is None


@pytest.mark.parametrize(
    "message",
    [
        {"number": 1, "taps": []},
        {"number": 1, "taps": [0, 1, 2, 4]},
        {"number": 1, "taps": [3]},
        {"number": 1, "taps": [-1]},
        {"number": 1, "taps": [True]},
        {"number": 0, "taps": [0]},
        {"number": 1, "taps": "012"},
        {"number": 2**40, "taps": [0]},
    ],
)
def test_what_no_phone_of_ours_votes_is_no_vote(message):
    assert parse_vote(message, "tab", QUESTION) is None
    assert parse_vote({"number": 2, "taps": [4, 1, 1]}, "tab", QUESTION) == Vote(7, "tab", 2, (1, 4))


@pytest.mark.parametrize(
    "value, counts", [(3, True), (-1e9, True), (2.5, True), (1e10, False), (True, False), ("3", False)]
)
@pytest.mark.parametrize("taps", [lambda value: [value], lambda value: [value, value], lambda value: value])
def test_a_number_is_one_finite_number(value, counts, taps):
    asked = QUESTION | {"words": [], "query": -1, "most": 1}
    message = json.loads(json.dumps({"number": 1, "taps": taps(value)}))
    expected = Vote(7, "tab", 1, (float(value),)) if counts and taps(value) == [value] else None
    assert parse_vote(message, "tab", asked) == expected
    assert parse_vote({"number": 1, "taps": [float("nan")]}, "tab", asked) is None


@pytest.mark.parametrize(
    "numbers", [[], [5], [1, 1, 2], [*range(300)], [*range(300), 1e9, -1e9], [7] * 400 + [*range(20)]]
)
def test_every_number_is_in_one_of_a_few_ranges(room, numbers):
    room.vote([Vote(7, str(tab), 1, (float(number),)) for tab, number in enumerate(numbers)])
    counts = room.count(7, 0)
    assert (counts.votes, sum(counts.taps), len(counts.taps)) == (len(numbers), len(numbers), len(counts.labels))
    assert len(counts.taps) <= room_file.MOST_BARS
    if len(set(numbers)) >= 300:
        assert max(counts.taps) < 100, "an absurd number flattens all others"


def test_words_after_the_query_are_taken_apart_and_the_others_sum_to_one():
    for weights, row in (((1, 6, 0, 0, 5), (1 / 7, 6 / 7, 0, 0, 0)), ((0, 0, 0, 0, 5), (0, 0, 0, 0, 0))):
        assert class_row(Counts(12, weights, weights), 3) == row


def test_one_student_weighs_one_however_many_words_he_taps(room):
    room.vote([Vote(7, "three", 1, (0, 1, 4)), *(Vote(7, f"one{n}", 1, (1,)) for n in range(4))])
    counts = room.count(7, 5)
    assert counts.taps == (1, 5, 0, 0, 1), "so many tapped it"
    assert counts.weights == pytest.approx((1 / 3, 4 + 1 / 3, 0, 0, 1 / 3))
    assert class_row(counts, 3) == pytest.approx((1 / 14, 13 / 14, 0, 0, 0))
    room.vote([Vote(8, str(n), 1, taps) for n, taps in enumerate([(0, 1, 2), (0, 1), (2,), (1, 2, 3)] * 25)])
    assert sum(room.count(8, 4).weights) == pytest.approx(100)


def test_rooms_are_bounded_and_can_be_switched_off(room, monkeypatch):
    monkeypatch.setattr(room_file, "MOST_ROOMS", 1)
    with pytest.raises(Problem, match="no room left"):
        RoomFile.create()
    monkeypatch.setenv("ATTNVIZ_ROOMS", "off")
    assert RoomFile.open(room.code) is None
    with pytest.raises(Problem, match="switched off"):
        RoomFile.create()
