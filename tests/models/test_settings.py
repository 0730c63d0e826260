import os
from pathlib import Path

import pytest

from attnviz.base.message import Problem
from attnviz.models import settings


@pytest.fixture(autouse=True)
def bare(monkeypatch):
    for name in [*settings.VARIABLES, "HF_HUB_OFFLINE"]:
        monkeypatch.delenv(name, raising=False)


def test_at_home_everything_may_be_loaded_and_when_hosted_the_catalogue(monkeypatch):
    home = settings.current_settings()
    assert (home.models, home.hub, home.token_limit) == ("all", True, 1024)
    monkeypatch.setenv("ATTNVIZ_HOSTED", "1")
    hosted = settings.current_settings()
    assert (hosted.models, hosted.hub, hosted.token_limit) == ("catalogue", False, 256)


def test_every_variable_that_is_read_is_documented(monkeypatch):
    asked = []

    class Watched(dict):
        def get(self, name, default=None):
            asked.append(name)
            return default

    monkeypatch.setattr(os, "environ", Watched())
    settings.current_settings()
    assert {name for name in asked if name.startswith("ATTNVIZ")} == set(settings.VARIABLES)


def test_the_cache_follows_the_systems_rules_and_the_variable(monkeypatch, tmp_path):
    monkeypatch.setattr(settings.sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert settings.cache_folder() == tmp_path / "attnviz"
    monkeypatch.setattr(settings.sys, "platform", "darwin")
    assert settings.cache_folder() == Path.home() / "Library" / "Caches" / "attnviz"
    monkeypatch.setenv("ATTNVIZ_CACHE", str(tmp_path / "mine"))
    assert settings.current_settings().cache == tmp_path / "mine"


@pytest.mark.parametrize(
    "name, value, sentence",
    [
        ("ATTNVIZ_HOSTED", "maybe", "ATTNVIZ_HOSTED=maybe must be 0 or 1"),
        ("ATTNVIZ_TOKEN_LIMIT", "-3", "ATTNVIZ_TOKEN_LIMIT=-3 must be a whole number above 0"),
        ("ATTNVIZ_TOKEN_LIMIT", "²", "must be a whole number above 0"),
        ("ATTNVIZ_DTYPE", "int8", "ATTNVIZ_DTYPE=int8 must be one of float32, bfloat16, float16"),
        ("ATTNVIZ_LOG", "syslog", "ATTNVIZ_LOG=syslog must be one of text, json"),
    ],
)
def test_an_invalid_value_is_refused_with_the_name_of_its_variable(monkeypatch, name, value, sentence):
    monkeypatch.setenv(name, value)
    with pytest.raises(Problem, match=sentence):
        settings.current_settings()
