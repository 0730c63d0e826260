"""What a widget's value does when runs of a page are ended half-way."""

import pytest
from streamlit.testing.v1 import AppTest


def page(is_panel: bool) -> None:
    import streamlit as st

    from attnviz.app import widget_values
    from attnviz.app.panel import fragment

    def drawn() -> None:
        widget_values.set_before_drawn("tokens", st.session_state.get("wanted", 8192), lambda: None)
        st.number_input("Tokens", 1, 99999, key="tokens")
        if st.session_state.get("ended"):
            st.stop()

    if is_panel:
        fragment(drawn)()
    else:
        with widget_values.set_when_complete():
            drawn()


@pytest.mark.parametrize("is_panel", [False, True])
def test_a_value_is_sent_again_until_a_run_has_come_to_its_end(is_panel):
    visit = AppTest.from_function(page, args=(is_panel,))
    visit.session_state["ended"] = True
    sent = [visit.run().number_input[0].proto.set_value for _run in range(2)]
    visit.session_state["ended"] = False
    sent += [visit.run().number_input[0].proto.set_value for _run in range(2)]
    visit.session_state["wanted"] = 64
    sent += [visit.run().number_input[0].proto.set_value for _run in range(2)]
    assert sent == [True, True, True, False, True, False]
    assert visit.number_input[0].value == 64
