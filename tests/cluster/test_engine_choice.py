"""What ATTNVIZ_ENGINE may be, and what is said where Ray is not installed."""

import sys

import pytest

import attnviz.engine
from attnviz.app.cache import model_cache
from attnviz.base.message import Problem
from attnviz.models.settings import engine_address


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
    for name in [name for name in sys.modules if name.startswith("attnviz.engine.on_ray")]:
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
