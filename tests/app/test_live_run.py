"""A long computation in steps: whether it waits for its turn, and what follows an error."""

import threading

import numpy as np
import pytest

from attnviz.app import live_run
from attnviz.app.cache import model_cache
from tests.waiting import until


@pytest.fixture
def line(monkeypatch):
    """Of a process in which one visitor is at work."""
    fresh = model_cache.ProcessCaches()
    monkeypatch.setattr(model_cache, "process_caches", lambda: fresh)
    monkeypatch.setattr(live_run.st, "session_state", {})
    live_run.finished_results.cache_clear()
    yield fresh.line
    live_run.finished_results.cache_clear()


@pytest.mark.parametrize("elsewhere, taken", [(False, 1), (True, 0)])
def test_a_step_waits_for_its_turn_unless_other_processes_compute_it(line, elsewhere, taken):
    seen = []

    def steps():
        seen.append(line.n_working)
        yield np.zeros(1)

    live = live_run.advance("section", "key", steps, lambda _result: True, is_remote=elsewhere)
    assert not live.running
    assert seen == [taken]
    assert line.n_working == 0


def test_two_long_computations_leave_a_place_to_who_typed_a_sentence(line, monkeypatch):
    monkeypatch.setattr(live_run, "FIRST_AFTER", 0.0)
    may_end, at_once = threading.Event(), []
    long_line = model_cache.process_caches().long_line

    def parts():
        at_once.append(line.n_working)
        assert may_end.wait(45)
        yield np.int64(1)

    def visit(section):
        live_run.advance(section, "key", parts, lambda number: number == 1)

    both = [threading.Thread(target=visit, args=(section,), daemon=True) for section in ("one", "another")]
    for each in both:
        each.start()
    until(lambda: long_line.n_waiting == 1 and at_once)
    with line.turn(lambda _before: None):  # at once, while both are at work or wait
        assert (line.n_working, line.n_waiting) == (2, 0)
    may_end.set()
    for each in both:
        each.join(45)
    assert at_once == [1, 1]
    assert (line.n_working, long_line.n_working) == (0, 0)


def test_two_long_computations_take_turns_part_by_part(line, monkeypatch):
    monkeypatch.setattr(live_run, "FIRST_AFTER", 60.0)
    long_line, order, begun = model_cache.process_caches().long_line, [], threading.Event()

    def parts(name):
        for number in range(1, 5):
            order.append(name)
            begun.set()
            if number < 4:  # the other one waits by now; of the last part nobody needs to
                until(lambda: long_line.n_waiting == 1)
            yield np.int64(number)

    def visit(name):
        live_run.advance(name, "key", lambda: parts(name), lambda number: number == 4)

    both = [threading.Thread(target=visit, args=(name,), daemon=True) for name in ("one", "another")]
    both[0].start()
    assert begun.wait(45)
    both[1].start()
    for each in both:
        each.join(45)
    assert order == ["one", "another"] * 4
    assert (line.n_working, long_line.n_working) == (0, 0)
