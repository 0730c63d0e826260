"""The glossary as a visitor uses it, and a term that explains itself elsewhere."""

import pytest
from streamlit.testing.v1 import AppTest

from attnviz.app.glossary_terms import TERMS, numbers
from attnviz.canvas.glossary_wall import WallFigure, WallTerm
from attnviz.live.scene_figure import SceneFigure
from tests.pages.conftest import drawn


def wall(page):
    return drawn(page, "glossary_wall")[0]


def test_words_are_found_by_what_is_said_of_them_and_stand_from_a_to_z_in_either_language(visit):
    opened = wall(visit("glossary"))
    assert [term["id"] for term in opened["terms"]] == list(TERMS), "in the order in which one learns"
    page = visit("glossary", w_find="cache", w_order="alphabet")
    names, found = [term["name"] for term in wall(page)["terms"]], wall(page)["found"]
    assert {"KV cache", "GQA"} < set(names[:found])
    for part in (names[:found], names[found:]):  # who was not found comes after
        assert part == sorted(part, key=str.casefold)
    assert f"{found} of {len(TERMS)}" in wall(page)["sentence"]
    assert wall(visit("glossary", w_find="no such word"))["found"] == 0
    first = {term["id"]: term["first"] for term in opened["terms"]}
    assert first["scaling"].endswith("by 0.125 at d_k = 64."), "no number is cut at its point"


def draw_tile(word: str) -> str:
    """The SVG file of a wall with a tile that has no name, so with nothing on it but its picture."""
    wall = WallFigure([WallTerm(word, "", "", "")], numbers())
    return SceneFigure((wall,)).to_svg(brings_font=False)


@pytest.mark.parametrize("word", TERMS)
def test_every_word_has_a_picture(word):
    assert len(draw_tile(word)) > len(draw_tile("no such word"))


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
