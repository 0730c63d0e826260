"""What ATTNVIZ_ENGINE may be, what the app does around Ray's calls, and what follows a lost connection.

With a stand-in for Ray, or as where Ray is not installed; a real one is asked in test_ray_engine.py.
"""

import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import attnviz.engine
from attnviz.app.cache import model_cache
from attnviz.base.message import Problem
from attnviz.models.loading import load
from attnviz.models.settings import EngineAddress, engine_address
from tests.models.tiny_tokenizers import gpt2_folder

SENTENCES = [f"the {animal} sat on the {animal}" for animal in ("cat", "dog", "hen", "owl", "fox")]
ADDRESS = EngineAddress("local", timeout=7)
PACKAGE = "attnviz.engine.on_ray"
ERRORS = ("RayError", "RayActorError", "RayTaskError", "WorkerCrashedError", "OutOfMemoryError", "RaySystemError")
REFUSALS = ("BackPressureError", "ReplicaUnavailableError")


@dataclass
class Answer:
    """What a task has made, and how often it was looked for."""

    value: Any
    looks: int = 0


class StandIn(ModuleType):
    """The module `ray`, which makes each task in this process as soon as it is given one.

    `fails` names a call that ends as it does without a cluster; `ends_with` an error of Ray's that ends each answer.
    """

    def __init__(self) -> None:
        super().__init__("ray")
        self.fails = self.ends_with = ""
        self.exceptions = with_errors("ray.exceptions", ERRORS)
        self.serve = with_errors("ray.serve", ())
        self.serve.exceptions = with_errors("ray.serve.exceptions", REFUSALS)
        self.serve.multiplexed = lambda **_limits: lambda method: method

    def remote(self, work: Any) -> Any:
        def made(*told: Any) -> Answer:
            self.may_fail("remote")
            return Answer(work(*told))

        task = SimpleNamespace(remote=made)
        task.options = lambda **_where: task
        return task

    def put(self, value: Any) -> Any:
        self.may_fail("put")
        return value

    def wait(self, answers: list[Answer], timeout: float) -> tuple[list[Answer], list[Answer]]:
        """Nothing at the first look at an answer."""
        self.may_fail("wait")
        (answer,) = answers
        answer.looks += 1
        return (answers, []) if answer.looks > 1 else ([], answers)

    def get(self, answer: Answer, timeout: float) -> Any:
        if self.ends_with:
            raise getattr(self.exceptions, self.ends_with)("of Ray's")
        return answer.value

    def cancel(self, answer: Answer, force: bool) -> None:
        pass

    def may_fail(self, name: str) -> None:
        if name == self.fails:
            raise ConnectionError("the cluster is gone")


def with_errors(name: str, errors: tuple[str, ...]) -> Any:
    """A module that has these exceptions."""
    made = ModuleType(name)
    vars(made).update({each: type(each, (Exception,), {}) for each in errors})
    return made


@pytest.fixture
def ray(monkeypatch):
    """The stand-in in Ray's place; whatever was imported with it is forgotten at the end."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "ray" or name.startswith(PACKAGE)]:
        monkeypatch.delitem(sys.modules, name)
    found = StandIn()
    for each in (found, found.exceptions, found.serve, found.serve.exceptions):
        monkeypatch.setitem(sys.modules, each.__name__, each)
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


@pytest.mark.parametrize("value", ["", "here"])
def test_without_an_address_models_run_in_this_process(value):
    assert engine_address(value) is None


def test_an_engine_elsewhere_bounds_its_own_line(monkeypatch):
    monkeypatch.setenv("ATTNVIZ_ENGINE", "ray://local?replicas=1-3&queue=5")
    assert attnviz.engine.passes_at_once() == (6, 5)
    monkeypatch.setenv("ATTNVIZ_ENGINE", "nonsense")
    assert attnviz.engine.passes_at_once() == (attnviz.engine.HERE_AT_ONCE, attnviz.engine.HERE_WAITING)


@pytest.fixture
def no_ray(monkeypatch):
    """As on a machine where Ray is not installed."""
    for name in [name for name in sys.modules if name.startswith(PACKAGE)]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "ray", None)


@pytest.mark.usefixtures("no_ray")
def test_without_ray_the_setting_is_answered_in_a_sentence_that_says_what_brings_it(monkeypatch):
    monkeypatch.setenv("ATTNVIZ_ENGINE", "ray://local?queue=7")
    with pytest.raises(Problem, match=r"attnviz\[cluster\]"):
        attnviz.engine.remote_engine()


@pytest.mark.usefixtures("no_ray")
def test_the_default_engine_of_the_app_loads_models_here_and_imports_no_ray(monkeypatch):
    monkeypatch.delenv("ATTNVIZ_ENGINE", raising=False)
    assert attnviz.engine.remote_engine() is None
    assert model_cache.ProcessCaches().engine.loads_here
