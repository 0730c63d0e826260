"""Work in another process: the same results as here, and an end to it when nobody listens any more."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from attnviz.analysis import own_process
from attnviz.base.message import Problem
from attnviz.pages.scaling.maths import retrieval_training


@pytest.fixture
def children(monkeypatch):
    """The processes that were started."""
    started = []

    class Watched(subprocess.Popen):
        def __init__(self, *arguments, **keywords):
            super().__init__(*arguments, **keywords)
            started.append(self)

    monkeypatch.setattr(subprocess, "Popen", Watched)
    return started


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="priorities are read from /proc")
def test_a_training_comes_after_everybody_else_and_ends_when_nobody_listens(children):
    results = own_process.results(
        retrieval_training, "train", retrieval_training.Config(d_k=256, steps=2000, seeds=8), 1, own_process.NICE
    )
    next(results)
    assert os.getpriority(os.PRIO_PROCESS, children[0].pid) - os.getpriority(os.PRIO_PROCESS, 0) >= min(
        own_process.NICE, 19 - os.getpriority(os.PRIO_PROCESS, 0)
    )
    results.close()
    assert children[0].poll() is not None


@pytest.mark.slow
def test_a_process_that_fails_is_a_sentence(monkeypatch):
    monkeypatch.setattr(sys, "executable", "false")
    with pytest.raises(Problem, match="ended early, with exit code 1"):
        list(own_process.results(retrieval_training, "train", retrieval_training.Config(steps=1, seeds=1), 1))
