"""Measuring in another process: the same results as here, and an end to it when nobody listens any more."""

import pytest

from attnviz.base.message import Problem
from attnviz.pages.compare.maths import layer_timing, own_process
from attnviz.pages.compare.maths.layer_timing import Config

pytestmark = pytest.mark.slow  # in `make check-all`

SMALL = Config(d=16, heads=2, longest=128, rounds=1)


def test_it_measures_the_same_memory_as_here_and_every_length(children):
    results = list(own_process.measure(SMALL))
    here = layer_timing.run(SMALL)
    assert [result.complete for result in results] == [False] * (here.of - 1) + [True]
    assert results[-1].machine == here.machine
    assert [(t.kind, t.n, t.nbytes) for t in results[-1].timings] == [(t.kind, t.n, t.nbytes) for t in here.timings]
    assert children[0].poll() == 0


def test_who_stops_listening_stops_the_process(children):
    results = own_process.measure(SMALL)
    next(results)
    assert children[0].poll() is None
    results.close()
    assert children[0].poll() is not None


def test_a_process_that_fails_is_a_sentence(monkeypatch):
    monkeypatch.setattr(own_process.sys, "executable", "false")
    with pytest.raises(Problem, match="ended early, with exit code 1"):
        list(own_process.measure(SMALL))


def test_what_makes_no_sense_starts_no_process(children):
    with pytest.raises(Problem, match="d=65 must be a multiple of heads=4"):
        next(own_process.measure(Config(d=65)))
    assert not children
