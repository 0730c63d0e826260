"""Every choice of every page, when changed, survives a link, a file, and leaving and returning to its page."""

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from attnviz.app.links.choices import page_choices, page_parameters
from attnviz.app.presenting import PAGE
from attnviz.app.workarounds.streamlit_adapter import SESSION
from attnviz.serve.navigation import LANG
from attnviz.serve.page_table import NAMES as PAGES


def script() -> None:
    """A page without widgets, as a script: it follows the link, and does what the test has put in the session."""
    import streamlit as st

    from attnviz.app.links import choices, link_state
    from attnviz.serve import page_table  # noqa: F401

    page = st.session_state["test_page"]
    if link_state.sync_from_url(page):
        link_state.push_url()
    mine = [choice for choice in choices.page_choices(page) if not choice.is_momentary]
    if st.session_state.pop("test_change", False):
        link_state.set_many({choice: choice.example for choice in mine})
    if "test_view" in st.session_state:
        st.session_state["test_opened"] = link_state.open_view(st.session_state.pop("test_view"))
    st.session_state["test_values"] = {choice.name: link_state.value(choice) for choice in mine}
    st.session_state["test_saved"] = link_state.save()
    st.session_state["test_refused"] = dict(st.session_state.get("_refused", {}))


def session(page: str, link: dict[str, str] | None = None, **state: Any) -> Any:
    app = AppTest.from_function(script, default_timeout=120)
    app.session_state["test_page"] = page
    for name, text in (link or {}).items():
        app.query_params[name] = text
    for name, value in state.items():
        app.session_state[name] = value
    app.run()
    assert not app.exception
    return app


def link_of(app: Any) -> dict[str, str]:
    return {name: held[-1] if isinstance(held, list) else held for name, held in app.query_params.items()}


@pytest.mark.parametrize("page", PAGES)
def test_every_choice_changed_is_the_same_by_link_by_file_and_on_return(page: str) -> None:
    assert link_of(session(page)) == {}, "all defaults"
    changed = session(page, test_change=True)
    wanted = {choice.name: choice.example for choice in page_choices(page) if not choice.is_momentary}
    assert [choice.name for choice in page_choices(page) if choice.example == choice.default] == []
    assert changed.session_state["test_values"] == wanted, "chosen"

    by_link = session(page, link_of(changed))
    assert by_link.session_state["test_values"] == wanted, "by link"
    assert not by_link.session_state["test_refused"]

    by_file = session(page, test_view=changed.session_state["test_saved"])
    assert by_file.session_state["test_opened"] == page
    assert by_file.session_state["test_values"] == wanted, "by file"
    assert link_of(by_file) == link_of(changed)

    elsewhere = next(name for name in PAGES if name != page)
    changed.session_state["test_page"] = elsewhere
    changed.query_params.clear()
    changed.run()
    changed.session_state["test_page"] = page
    changed.query_params.clear()
    changed.run()
    assert changed.session_state["test_values"] == wanted, "on return"
    assert link_of(changed) == link_of(by_link)


def test_a_link_asks_for_what_holds_for_the_moment_and_the_page_s_own_link_does_not_say_it() -> None:
    presented = session("scaling", {"present": "1", "s_dk": "32"})
    assert link_state_value(presented, "present") == "1"
    assert link_of(presented) == {"s_dk": "32"}


def link_state_value(app: Any, name: str) -> Any:
    return app.session_state[SESSION]["_chosen"].get(name)


@pytest.mark.parametrize("reader, author, then", [("zh", "en", "zh"), ("zh", "", "zh"), ("", "zh", "zh"), ("", "", "")])
def test_a_saved_view_does_not_change_the_language_that_its_reader_has_chosen(reader: str, author: str, then: str):
    def chosen(language: str) -> dict[str, str]:
        return {LANG.name: language} if language else {}

    view = session("masks", {"m_seed": "7"} | chosen(author)).session_state["test_saved"]
    app = session("masks", chosen(reader), test_view=view)
    assert (link_state_value(app, LANG.name) or "") == then
    assert app.session_state["test_values"]["m_seed"] == 7


def test_no_two_pages_share_the_name_of_a_choice() -> None:
    names = [name for page in PAGES for name in set(page_parameters(page)) - {choice.name for choice in PAGE}]
    assert len(names) == len(set(names))
