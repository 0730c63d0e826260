"""The glossary as a visitor uses it, and a term that explains itself elsewhere."""

from streamlit.testing.v1 import AppTest

from attnviz.app.glossary_terms import TERMS
from attnviz.app.text import escape_markdown


def test_see_it_opens_the_page_at_the_place_that_shows_it(visit):
    page = visit("glossary")
    name = escape_markdown(TERMS["multi_head"].name)
    group = next(group for group in page.get("button_group") if name in group.options)
    group.select("multi_head").run()
    assert not page.exception
    assert page.segmented_control(key="b_ask").value == "heads"


def script() -> None:
    from attnviz.app import glossary_terms
    from attnviz.serve import page_table  # noqa: F401

    glossary_terms.terms_menu("softmax", "kv_cache")


def test_a_term_explains_itself_on_any_page():
    app = AppTest.from_function(script, default_timeout=60).run()
    assert not app.exception
    assert not app.markdown, "nothing is sent before it is opened"
    app.session_state["words"] = True
    app.run()
    assert not app.exception
    shown = [part.value for part in app.markdown]
    assert any("Turns scores into weights" in text for text in shown)
    assert [button.key for button in app.button] == ["see-softmax", "see-kv_cache"]
