"""The glossary as a visitor uses it, and a term that explains itself elsewhere."""

from streamlit.testing.v1 import AppTest

from attnviz.app.glossary_terms import TERMS
from attnviz.app.text import plain
from tests.pages.conftest import said


def offered(page):
    """The names of the terms that have a button to the page that shows them."""
    return [name for group in page.get("button_group") if group.key.startswith("see-") for name in group.options]


def test_all_terms_are_there_with_a_button_each(visit):
    page = visit("glossary")
    assert len(offered(page)) == len(set(offered(page))) == len(TERMS)
    assert "Llama-3.1-8B keeps 128 KiB for each token" in said(page)
    assert "become 9%, 24% and 67%" in said(page)


def test_see_it_opens_the_page_at_the_place_that_shows_it(visit):
    page = visit("glossary")
    name = plain(TERMS["multi_head"].name)
    group = next(group for group in page.get("button_group") if name in group.options)
    group.select("multi_head").run()
    assert not page.exception
    assert page.segmented_control(key="b_ask").value == "heads"


def script() -> None:
    from attnviz.app import glossary_terms
    from attnviz.serve import page_table  # noqa: F401

    glossary_terms.words_menu("softmax", "kv_cache")


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
