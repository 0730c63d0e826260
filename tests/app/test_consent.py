"""A link never loads a folder or a model outside the catalogue: the visitor of the session says yes first."""

from typing import Any
from unittest.mock import patch

import pytest
from huggingface_hub import HfApi
from streamlit.testing.v1 import AppTest

from attnviz.app.cache import model_cache
from attnviz.models.loading import load
from tests.models.tiny import llama
from tests.models.tiny_tokenizers import saved


def script() -> None:
    import streamlit as st

    from attnviz.app.links import link_state
    from attnviz.app.panel import show_problems
    from attnviz.pages.explore.explore import draw_form

    link_state.sync_from_url("explore")
    st.session_state["asked"] = None
    with show_problems():
        st.session_state["asked"] = draw_form()


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The names that anything loads; the caches of a process that has just started."""
    names: list[str] = []
    fresh = model_cache.ProcessCaches()
    monkeypatch.setattr(model_cache, "process_caches", lambda: fresh)
    monkeypatch.setattr(model_cache, "load", lambda name, progress: names.append(name) or load(name, progress))
    return names


@pytest.fixture
def mine(tmp_path: Any) -> str:
    return str(saved(llama(), tmp_path / "mine"))


def opened(**link: str) -> Any:
    app = AppTest.from_function(script, default_timeout=60)
    for name, text in link.items():
        app.query_params[name] = text
    return app.run()


def buttons(app: Any) -> set[str]:
    return {button.key for button in app.button}


def test_a_link_to_a_folder_asks_with_the_size_and_loads_nothing_before_the_yes(loads: list[str], mine: str) -> None:
    for extra in ({"agree": "1"}, {"_models_agreed_to": mine}, {"agreed": mine}, {"loaded": "true"}, {}):
        app = opened(model="other", hub_id=mine, **extra)
        assert not app.exception
        assert (loads, app.session_state["asked"]) == ([], None)
    (question,) = [text.value for text in app.markdown if "Load the model in" in text.value]
    weights = sum(4 * parameter.numel() for parameter in llama().parameters())
    assert f"{weights / 10**6:,.1f} MB" in question
    app.button(key="agree").click().run()
    assert loads == [mine]
    assert app.session_state["asked"].model == mine
    assert "agree" not in buttons(app)
    assert "agree" not in str(dict(app.query_params))


def test_the_yes_of_one_session_is_not_that_of_another_and_not_that_of_another_model(
    loads: list[str], mine: str, tmp_path: Any
) -> None:
    first = opened(model="other", hub_id=mine)
    first.button(key="agree").click().run()
    assert "agree" in buttons(opened(model="other", hub_id=mine)), "though the model is in memory now"
    llama(seed=1).save_pretrained(tmp_path / "next")
    first.text_input(key="hub_id").set_value(str(tmp_path / "next")).run()
    assert "agree" in buttons(first)
    assert loads == [mine]


def test_a_model_of_the_hub_is_asked_for_and_the_hub_only_when_the_visitor_wants_its_size(
    loads: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setenv("ATTNVIZ_HUB", "1")
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    asked: list[str] = []

    class Facts:
        siblings = (
            type("File", (), {"rfilename": "model.safetensors", "size": 1_234_500_000}),
            type("File", (), {"rfilename": "onnx/model.safetensors", "size": 9}),
        )

    with patch.object(HfApi, "model_info", lambda self, hub, **_: asked.append(hub) or Facts()):
        app = opened(model="other", hub_id="some/model")
        assert (loads, asked) == ([], [])
        app.button(key="ask-size").click().run()
        assert any("1,234.5 MB" in text.value for text in app.markdown)
    assert (loads, asked, app.session_state["asked"]) == ([], ["some/model"], None)


def test_a_model_of_the_catalogue_is_not_asked_for(loads: list[str]) -> None:
    app = opened(model="other", hub_id="sentence-transformers/all-MiniLM-L6-v2")
    assert app.session_state["asked"].model == "sentence-transformers/all-MiniLM-L6-v2"
    assert "agree" not in buttons(app)


def test_where_strangers_come_a_folder_stays_refused(
    loads: list[str], mine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATTNVIZ_HOSTED", "1")
    app = opened(model="other", hub_id=mine)
    assert "agree" not in buttons(app)
    assert mine not in loads
