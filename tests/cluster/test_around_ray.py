"""What the app does around Ray's calls, with a stand-in for Ray: what it sends, and what follows a lost connection."""

import sys
import threading
import time
from pathlib import Path

import pytest

import attnviz.engine
from attnviz.base.message import Problem
from attnviz.models.loading import load
from attnviz.models.settings import EngineAddress
from tests.cluster.stand_in import StandIn
from tests.models.tiny_tokenizers import gpt2_folder

SENTENCES = [f"the {animal} sat on the {animal}" for animal in ("cat", "dog", "hen", "owl", "fox")]
ADDRESS = EngineAddress("local", timeout=7)
PACKAGE = "attnviz.engine.on_ray"


@pytest.fixture
def ray(monkeypatch):
    """The stand-in in Ray's place; whatever was imported with it is forgotten at the end."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "ray" or name.startswith(PACKAGE)]:
        monkeypatch.delitem(sys.modules, name)
    found = StandIn()
    for name, module in found.modules().items():
        monkeypatch.setitem(sys.modules, name, module)
    yield found
    for name in [name for name in sys.modules if name.startswith(PACKAGE)]:
        del sys.modules[name]


@pytest.fixture
def engine(ray, monkeypatch):
    """An engine whose every connection has a handle of its own."""
    import attnviz.engine.on_ray as ray_engine
    from attnviz.engine.on_ray import RayEngine

    monkeypatch.setattr(ray_engine, "connect", lambda _address: object())
    made = RayEngine(ADDRESS)
    yield made
    made._let_go.set()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A tiny model that a visitor could have."""
    return Path(gpt2_folder(tmp_path_factory.mktemp("around") / "mine", layers=1, heads=2))


@pytest.mark.parametrize("call", ["put", "remote", "wait"])
def test_a_ray_that_is_lost_on_the_way_is_a_sentence_and_the_next_question_connects_anew(ray, engine, folder, call):
    loaded, first = load(str(folder)), engine._connection().result(10)
    for ask in (
        lambda: engine.scan(loaded, SENTENCES, ["previous_token"]),
        lambda: engine.mean_steps(loaded, SENTENCES),
        lambda: engine.cost_steps(loaded, SENTENCES),
    ):
        ray.fails = call
        with pytest.raises(Problem, match="connection to Ray was lost"):
            list(ask())
        ray.fails = ""
        assert [step for step in ask() if step is not None]
    assert engine._connection().result(10) is not first


FAILED = "Part 1 of 2 failed where Ray runs it: "


@pytest.mark.parametrize(
    "kind, sentences, said",
    [
        *((kind, SENTENCES, FAILED + kind) for kind in ("RayTaskError", "WorkerCrashedError", "OutOfMemoryError")),
        ("RaySystemError", SENTENCES, "connection to Ray was lost"),
        ("", [], "no sentence"),
    ],
)
def test_what_fails_is_named_and_only_a_lost_ray_takes_the_connection_with_it(
    ray, engine, folder, kind, sentences, said
):
    first = engine._connection().result(10)
    ray.ends_with = kind
    with pytest.raises(Problem, match=said):
        list(engine.scan(load(str(folder)), sentences, ["previous_token"]))
    assert (engine._connection().result(10) is first) == (kind != "RaySystemError")


def test_two_who_ask_first_have_one_engine(ray, monkeypatch):
    import attnviz.engine.on_ray as on_ray

    made = []

    def slowly(address, _turn):
        time.sleep(0.1)
        made.append(address)
        return object()

    monkeypatch.setenv("ATTNVIZ_ENGINE", "ray://local?queue=9")
    monkeypatch.setattr(on_ray, "RayEngine", slowly)
    found = []
    threads = [threading.Thread(target=lambda: found.append(attnviz.engine.remote_engine())) for _ in range(3)]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
    finally:
        attnviz.engine._on_ray.cache_clear()
    assert len(made) == 1
    assert len(found) == 3
    assert len(set(map(id, found))) == 1
