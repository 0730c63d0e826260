"""Choices are declared once; widgets, links, coming back, saved views and answers to nonsense follow from that."""

import json
from html import unescape
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from attnviz.app.links import link_reading
from attnviz.app.workarounds import streamlit_adapter
from attnviz.base.message import Problem
from tests.pages.conftest import link_of


def script() -> None:
    import streamlit as st

    from attnviz.app import widget_values, widgets
    from attnviz.app.links import link_state
    from attnviz.app.links.choices import PageChoices

    one, two = PageChoices("t_one"), PageChoices("t_two")
    sentence = one.sentence("t_text", "the cat", longest=20, label="the text")
    kind = one.one_of("t_kind", ("a", "b", "c"), label="the kind")
    layer = one.one_of("t_layer", label="the layer")
    width = one.integer("t_width", 64, low=1, high=4096, label="the width")
    rate = one.real("t_rate", 0.5, low=0.0, high=2.0, label="the rate")
    on = one.flag("t_on", label="the on")
    some = one.several("t_some", label="the some")
    pins = one.on_canvas(
        "t_pins", (), lambda raw: tuple(map(int, raw)), list, (1, 2), inside="t_c", short="p", label="the pins"
    )
    spot = one.on_canvas("t_spot", 0, int, int, 7, inside="t_c", short="s", label="the spot")
    other_sentence = two.sentence("t_text2", "le chat", longest=2000, label="the text2")
    page = st.session_state.get("page", "t_one")
    widget_values.note_returned_widgets()
    if link_state.sync_from_url(page):
        link_state.push_url()
    if page == "t_one":
        st.session_state["shown"] = {
            "text": widgets.text_box(sentence, "text"),
            "kind": widgets.select_one(kind, "kind", {"a": "A", "b": "B", "c": "C"}, style="select"),
            "layer": widgets.select_one(layer, "layer", {"0": "0", "1": "1"}, usual="1", style="select"),
            "width": widgets.number_box(width, "width"),
            "rate": widgets.slider(rate, "rate"),
            "on": widgets.toggle(on, "on"),
            "some": widgets.select_several(some, "some", {"x": "X", "y": "Y"}, usual=["x"]),
            "pins": link_state.value(pins),
            "spot": link_state.value(spot),
        }
        st.button("pin", key="pin", on_click=lambda: link_state.set_many({pins: (3, 4), spot: 2}))
    else:
        st.session_state["shown"] = {"text": widgets.text_box(other_sentence, "text")}
    widget_values.apply_returned_values()


DEFAULTS = {
    "text": "the cat", "kind": "a", "layer": "1", "width": 64, "rate": 0.5, "on": False, "some": ("x",),
    "pins": (), "spot": 0,
}  # fmt: skip


def opened(**link: str) -> Any:
    app = AppTest.from_function(script, default_timeout=120)
    for name, text in link.items():
        app.query_params[name] = text
    return app.run()


def shown(app: Any) -> dict[str, Any]:
    assert not app.exception
    return dict(app.session_state["shown"])


def changed() -> Any:
    """Every widget with another value."""
    app = opened()
    app.text_input(key="t_text").set_value("a dog").run()
    app.selectbox(key="t_kind").set_value("c").run()
    app.selectbox(key="t_layer").set_value("0").run()
    app.number_input(key="t_width").set_value(128).run()
    app.slider(key="t_rate").set_value(1.25).run()
    app.toggle(key="t_on").set_value(True).run()
    app.multiselect(key="t_some").set_value(["y"]).run()
    return app.button(key="pin").click().run()


CHANGED = {
    "text": "a dog", "kind": "c", "layer": "0", "width": 128, "rate": 1.25, "on": True, "some": ("y",), "pins": (3, 4),
    "spot": 2,
}  # fmt: skip


def test_what_was_changed_is_in_the_link_opens_the_same_elsewhere_and_stays_until_back_is_pressed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = changed()
    assert shown(app) == CHANGED
    before = link_of(app)
    assert link_reading.unpack(before["t_c"]) == {"p": [3, 4], "s": 2}
    assert (before["t_text"], before["t_rate"], before["t_on"], before["t_some"]) == ("a dog", "1.25", "true", "y")
    assert shown(opened(**before)) == CHANGED, "by the link"
    turned(app, "t_two")
    assert shown(app) == {"text": "a dog"}, "the sentence travels"
    assert link_of(app) == {"t_text2": "a dog"}
    turned(app, "t_one")
    assert (shown(app), link_of(app)) == (CHANGED, before), "by the menu"
    turned(app, "t_one", t_width="7")
    assert (shown(app), link_of(app)) == (CHANGED, before), "a link that comes late with a gesture is put right"
    with monkeypatch.context() as patched:
        patched.setattr(streamlit_adapter, "is_history_navigation", lambda: True)
        turned(app, "t_one", t_width="7", t_kind="c", t_layer="0")
        assert shown(app) == DEFAULTS | {"width": 7, "kind": "c", "layer": "0"}, (
            "after Back the link is the whole truth"
        )
    app.selectbox(key="t_kind").set_value("a").run()
    app.selectbox(key="t_layer").set_value("1").run()
    assert link_of(app) == {"t_width": "7"}, "a default is not in the link"


def turned(app: Any, page: str, **link: str) -> None:
    """The page asked for, with another link in the browser."""
    app.session_state["page"] = page
    app.query_params.clear()
    for name, text in link.items():
        app.query_params[name] = text
    app.run()


def test_a_text_that_is_too_long_is_cut_and_the_page_says_so() -> None:
    app = opened(t_text="n" * 21)
    assert shown(app) == DEFAULTS | {"text": "n" * 20}
    assert "21 characters" in unescape(app.caption[0].value)


NO_VIEWS = [
    "", "[]", "[" * 100_000, '{"format": "attnviz-view-2"}', "x" * 1_000_001,
    json.dumps({"format": "attnviz-view-2", "page": "nowhere", "choices": {}}),
    json.dumps({"format": "attnviz-view-1", "link": 3, "canvas": {}}),
]  # fmt: skip


@pytest.mark.parametrize("text", NO_VIEWS, ids=range(len(NO_VIEWS)))
def test_a_file_that_is_not_a_saved_view_is_refused_with_a_sentence(text: str) -> None:
    from attnviz.app.links.link_state import open_view

    with pytest.raises(Problem, match="saved view"):
        open_view(text)
