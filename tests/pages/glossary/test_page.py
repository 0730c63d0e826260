"""The glossary as a visitor uses it."""

import pytest

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
