"""Many visitors, few at a time, small caches: everyone is served, with the same numbers as a single visitor."""

import shutil
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
import streamlit as st
import torch
from torch.testing import assert_close

from attnviz.analysis import head_sharing
from attnviz.analysis.head_sharing import Config as SharingConfig
from attnviz.analysis.model_run import Request, run_model
from attnviz.app.cache import model_cache
from attnviz.app.cache.bounded_cache import BoundedCache
from attnviz.app.cache.waiting_line import WaitingLine
from attnviz.base.head_edit import HeadEdit
from attnviz.base.message import Message, Problem
from attnviz.engine import Rerun
from attnviz.models.loading import load
from attnviz.pages.explore.panels import what_if as what_if_panel
from tests.models.tiny_tokenizers import gpt2_folder
from tests.waiting import until

TEXTS = ("the cat sat", "don't you think the cat's hat is nice?")
CHANGES = (HeadEdit(mask="none"), HeadEdit(silenced=((0, 1),)))
SHARED = (SharingConfig(0, 1), SharingConfig(1, 2))


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Folders of two tiny models that a visitor could have."""
    return [gpt2_folder(tmp_path_factory.mktemp(f"model{seed}"), seed) for seed in (0, 1)]


@pytest.fixture
def shared(monkeypatch):
    """Fresh caches, as in a process that has just started."""
    fresh = model_cache.ProcessCaches()
    monkeypatch.setattr(model_cache, "process_caches", lambda: fresh)
    return fresh


def finish(threads, seconds):
    """Start all threads; returns the names of those that have not ended in time."""
    for thread in threads:
        thread.start()
    end = time.monotonic() + seconds
    for thread in threads:
        thread.join(max(0.0, end - time.monotonic()))
    return [thread.name for thread in threads if thread.is_alive()]


def shown(run, layer=0, head=0):
    return SimpleNamespace(run=run, stack=run.stacks[0], layer=layer, head=head)


class Meeting(WaitingLine):
    """Two at a time; the explorer's visitor waits to ask until both visitors of Share heads have their turns."""

    def __init__(self):
        super().__init__(2, 9)
        self.explorer_asks, self.both_have = threading.Event(), threading.Semaphore(0)

    @contextmanager
    def turn(self, waiting):
        if threading.current_thread().name == "explore":
            self.explorer_asks.set()
            for _ in range(2):
                assert self.both_have.acquire(timeout=10)
            with super().turn(waiting):
                yield
            return
        assert self.explorer_asks.wait(10)
        with super().turn(waiting):
            self.both_have.release()
            yield


def test_two_visitors_of_share_heads_and_one_of_explore_do_not_wait_for_each_other(folders, shared):
    run = model_cache.get_run(Request(folders[0], TEXTS[0]))
    shared.line = Meeting()
    jobs = {
        "explore": lambda: what_if_panel._rerun_model(shown(run), CHANGES[0]),
        "share 1": lambda: shared_further(run, SHARED[0]),
        "share 2": lambda: shared_further(run, SHARED[1]),
    }
    threads = [threading.Thread(target=job, name=name, daemon=True) for name, job in jobs.items()]
    assert finish(threads, 20) == []
    assert len(shared.reruns._values) == 3


def test_only_visitors_whose_result_is_being_computed_have_a_turn(folders, shared):
    run = model_cache.get_run(Request(folders[0], TEXTS[0]))
    began, may_end = threading.Event(), threading.Event()

    def make():
        began.set()
        assert may_end.wait(10)
        return 7

    same, other = Rerun(lambda _run, _loaded: make()), Rerun(lambda _run, _loaded: 8)
    threads = [threading.Thread(target=model_cache.rerun_cached, args=(run, same), daemon=True) for _ in range(6)]
    for thread in threads:
        thread.start()
    assert began.wait(10)
    until(lambda: shared.reruns.hits == 5)  # the others have met the one that computes
    assert shared.line.n_working == 1, "six visitors want the same, it is the turn of one of them"
    assert model_cache.rerun_cached(run, other) == 8
    may_end.set()
    for thread in threads:
        thread.join(10)
    assert shared.line.n_working == 0


def shared_further(run, config):
    """What the page about sharing shows of the model under shared heads."""
    return model_cache.rerun_cached(run, Rerun(head_sharing.rerun_with_sharing, (config, "layer")))


class Left(BaseException):
    """The kind of exception by which Streamlit ends the run of a visitor who has clicked elsewhere."""


def test_a_visitor_who_leaves_does_not_stop_the_loading(folders, shared, monkeypatch):
    said, may_load = [], threading.Event()

    def slow(name, progress):
        progress(0.5, Message("Halfway"))
        assert may_load.wait(10)
        return load(name)

    def leave(share, words):
        said.append((share, words))
        if share:
            raise Left

    monkeypatch.setattr(model_cache, "load", slow)
    monkeypatch.setattr(st, "empty", lambda: SimpleNamespace(progress=leave, empty=lambda: said.append("empty")))
    with pytest.raises(Left):
        model_cache.get_model(folders[0])
    assert set(said[:-2]) <= {(0.0, "Loading the model…")}
    assert said[-2:] == [(0.5, "Halfway"), "empty"]
    may_load.set()
    loading = model_cache.load_in_background(folders[0])
    assert loading.result(10) is model_cache.get_model(folders[0])
    assert not shared.steps


def test_a_checkpoint_that_was_overwritten_is_read_anew_and_the_run_before_it_stays_as_it_was(
    folders, shared, tmp_path
):
    mine = tmp_path / "mine"
    shutil.copytree(folders[0], mine)
    request = Request(str(mine), TEXTS[0])
    before = model_cache.get_run(request)
    logits = before.trace.logits.clone()
    assert model_cache.get_run(request) is before
    (mine / "model.safetensors").write_bytes((Path(folders[1]) / "model.safetensors").read_bytes())
    after = model_cache.get_run(request)
    assert_close(after.trace.logits, run_model(request, load(folders[1])).trace.logits, atol=0, rtol=0)
    assert_close(before.trace.logits, logits, atol=0, rtol=0)
    assert not torch.equal(after.trace.logits, logits)
    assert model_cache.model_of_run(before) is not model_cache.model_of_run(after)
    shared.models = BoundedCache(1, lambda _: 1)
    with pytest.raises(Problem, match="The files of mine changed while they were being read"):
        model_cache.model_of_run(before)
    assert model_cache.model_of_run(after).version == after.request.version
