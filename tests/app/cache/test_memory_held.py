"""Whatever is typed, the process holds no more than the setting says."""

import random
import sys

import psutil
import pytest

from attnviz.analysis import what_if
from attnviz.analysis.model_run import Request
from attnviz.app.cache import model_cache
from attnviz.app.cache.bounded_cache import trim_memory
from attnviz.base.head_edit import HeadEdit
from attnviz.engine import Rerun
from attnviz.pages.explore.panels import overview
from tests.models.conftest import minilm  # noqa: F401

MODEL = "minilm-l6"
SENTENCES, TOKENS = 20, 256
WORDS = ["river", "stone", "cloud", "teacher", "window", "garden", "letter", "winter", "music", "lamp", "bridge"]
MB = 10**6


def sentence(number: int) -> str:
    """More words than a hosted server reads of one sentence, in another order each time."""
    return " ".join(random.Random(number).choices(WORDS, k=TOKENS + 20))


@pytest.mark.slow
@pytest.mark.usefixtures("minilm")
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="resident memory is compared with glibc's allocator")
def test_twenty_long_sentences_take_no_more_than_the_setting(monkeypatch):
    """With each sentence all that the explorer computes of it: pictures and measures of all heads, a changed pass."""
    monkeypatch.setenv("ATTNVIZ_HOSTED", "1")
    monkeypatch.setenv("ATTNVIZ_RUNS_MB", "90")
    fresh = model_cache.ProcessCaches()
    monkeypatch.setattr(model_cache, "_SHARED", fresh)
    process, resident = psutil.Process(), []
    for number in range(SENTENCES):
        run = model_cache.get_run(Request(MODEL, sentence(number)))
        assert len(run.source) == TOKENS, "as many as a hosted server reads"
        overview._get_tiles(run, run.stacks[0])
        overview._get_measures(run, run.stacks[0])
        if number % 4 == 0:
            model_cache.rerun_cached(run, Rerun(what_if.run_again, (run.stacks[0].id, 0, 0, HeadEdit(mask="none"))))
        assert fresh.runs.weight + fresh.reruns.weight + fresh.results.weight <= 90 * MB
        del run
        if number in (9, SENTENCES - 1):
            trim_memory()
            resident.append(process.memory_info().rss)
    assert fresh.runs.misses == SENTENCES
    assert len(fresh.runs._values) < SENTENCES / 2, "most had to go"
    assert resident[1] - resident[0] < 30 * MB, "what is held is full after 10, and grows no more"
