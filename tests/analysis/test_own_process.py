"""Work in another process: an end to it when nobody listens any more."""

import psutil
import pytest

from attnviz.analysis import own_process
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
