"""Components: what the manifest, the bundles and the sources say must agree; addresses, and what an answer says."""

import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
import streamlit as st

import attnviz
from attnviz.base.head_edit import HeadEdit
from attnviz.base.head_record import HeadData, HeadView
from attnviz.base.record_json import to_json
from attnviz.canvas import softmax_slider
from attnviz.canvas.head import attention_view
from attnviz.canvas.shared import component
from attnviz.canvas.shared.component import BUNDLES, NAMES, last_sent
from attnviz.live.head_header import name_tokens

PACKAGE = Path(attnviz.__file__).parent
MANIFEST = tomllib.loads((PACKAGE / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture
def session(monkeypatch):
    monkeypatch.setattr(st, "session_state", {})


def test_the_manifest_declares_every_component_and_where_its_files_are():
    declared = MANIFEST["tool"]["streamlit"]["component"]["components"]
    assert sorted(entry["name"] for entry in declared) == sorted((*NAMES, "shared"))
    assert all(PACKAGE / entry["asset_dir"] == BUNDLES for entry in declared)
    assert MANIFEST["project"]["name"] == "attnviz", "Streamlit drops a manifest of another name"


@pytest.mark.parametrize("name", NAMES)
def test_a_bundle_fetches_nothing_but_what_all_share(name):
    """Streamlit takes a style of one line for the name of a file."""
    script, style = ((BUNDLES / f"{name}.{suffix}").read_text(encoding="utf-8").strip() for suffix in ("js", "css"))
    assert "\n" in style
    assert re.search(r"as default[,}]", script)
    assert set(re.findall(r'import\{[^}]*\}from"([^"]*)"', script)) <= {"../attnviz.shared/shared.js"}
    fetches = ("save_picture", "phone")  #: the menu of films, when somebody asks for one; a room's pictures
    assert script.count("import(") == (name in fetches)


@pytest.mark.parametrize(
    "value, place, of, read",
    [
        ({"step": "scores"}, ("step",), str, "scores"),
        ({"step": ["scores"]}, ("step",), str, None),
        ({"selection": {"rows": [3]}}, ("selection", "rows", 0), int, 3),
        ({"selection": {"rows": {"0": 3}}}, ("selection", "rows", 0), int, None),
        ({"rows": [True]}, ("rows", 0), int, None),
        ({"rows": [float("nan")]}, ("rows", 0), int, None),
        (None, ("step",), str, None),
    ],
)
def test_what_a_component_a_chart_or_a_table_sends_is_read_by_its_type_or_counts_as_not_sent(
    monkeypatch, value, place, of, read
):
    monkeypatch.setattr(st, "session_state", {"key": value})
    assert last_sent(of, "key", *place) == read


EDIT = to_json(HeadEdit(factor=2.0))
PINS = {"doc": name_tokens(("a", "b"), None), "tokens": [], "cell": None}


@pytest.mark.parametrize(
    "kind, told",
    [
        ("edit", EDIT | {"mask": ["causal"]}),
        *(("edit", EDIT | {"factor": factor}) for factor in (float("nan"), float("inf"), 10**400)),
        ("pins", PINS | {"tokens": [[["q"], 0]]}),
        ("stood", {"value": 10**400}),
    ],
)
def test_a_gesture_that_makes_no_sense_counts_as_not_made(session, monkeypatch, kind, told):
    callbacks, heard = {}, []
    mounted = lambda **given: callbacks.update(given)  # noqa: E731
    monkeypatch.setattr(attention_view, "get_component", lambda _name: mounted)
    monkeypatch.setattr(component, "get_component", lambda _name: mounted)
    data = HeadData.of_values(np.eye(2), ("a", "b"))

    def draw():
        attention_view.head_view("key", data, HeadView(), on_pins=heard.append, on_edit=heard.append)
        softmax_slider.softmax_slider("key", np.array([1]), np.zeros((1, 2)), (), at=1, about="x", on_pick=heard.append)

    draw()
    for report, made in ((told, 0), ({"pins": PINS, "edit": EDIT, "stood": {"value": 2}}[kind], 1)):
        st.session_state["key"] = {kind: {"at": 0, "about": "x"} | report}
        callbacks[f"on_{kind}_change"]()
        draw()
        assert len(heard) == made
