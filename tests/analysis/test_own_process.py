"""Work in another process: the same results as here, and an end to it when nobody listens any more."""

import sys

import psutil
import pytest

from attnviz.analysis import own_process
from attnviz.base.message import Problem
from attnviz.pages.scaling.maths import retrieval_training


@pytest.mark.slow
def test_a_training_comes_after_everybody_else_and_ends_when_nobody_listens():
    here, config = psutil.Process(), retrieval_training.Config(d_k=256, steps=2000, seeds=8)
    before = set(here.children())
    results = own_process.results(retrieval_training, "train", config, 1, own_process.NICE)
    next(results)
    (child,) = set(here.children()) - before
    assert child.nice() == min(here.nice() + own_process.NICE, 19)
    results.close()
    assert not child.is_running()


@pytest.mark.slow
def test_a_process_that_fails_is_a_sentence(monkeypatch):
    monkeypatch.setattr(sys, "executable", "false")
    with pytest.raises(Problem, match="ended early, with exit code 1"):
        list(own_process.results(retrieval_training, "train", retrieval_training.Config(steps=1, seeds=1), 1))
