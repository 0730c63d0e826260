"""A long computation in steps: whether it waits for its turn, and what follows an error."""

from __future__ import annotations

import numpy as np
import pytest

from attnviz.core.message import Problem
from attnviz.ui.shared import live_run, model_cache


@pytest.fixture
def line(monkeypatch):
    """Of a process in which one visitor is at work."""
    fresh = model_cache.Shared()
    monkeypatch.setattr(model_cache, "shared", lambda: fresh)
    monkeypatch.setattr(live_run.st, "session_state", {})
    live_run.finished.clear()
    yield fresh.line
    live_run.finished.clear()


@pytest.mark.parametrize("elsewhere, taken", [(False, 1), (True, 0)])
def test_a_step_waits_for_its_turn_unless_other_processes_compute_it(line, elsewhere, taken):
    seen = []

    def steps():
        seen.append(line.taken)
        yield np.zeros(1)

    live = live_run.advance("section", "key", steps, lambda _result: True, elsewhere=elsewhere)
    assert not live.running
    assert seen == [taken]
    assert line.taken == 0


def test_after_an_error_the_next_run_of_the_page_begins_anew(line):
    lost = [True]

    def steps():
        if lost.pop() if lost else False:
            raise Problem("The connection was lost")
        yield np.ones(1)

    with pytest.raises(Problem, match="lost"):
        live_run.advance("section", "key", steps, lambda _result: True)
    assert live_run.advance("section", "key", steps, lambda _result: True).result == 1
