"""Pins stay on their words when tokens are joined or hidden, the sentence is edited, or another model reads it."""

import pytest

from attnviz.analysis.head_matrix import DisplayOptions, head_matrix
from attnviz.app.links import link_state
from attnviz.base.head_record import Pin, Pins
from attnviz.pages.explore import choices
from attnviz.pages.explore.panels import shown_head


@pytest.fixture
def held(monkeypatch):
    """What is kept of the choices, in place of a session."""
    kept = {choices.PINS: None}
    monkeypatch.setattr(link_state, "value", kept.__getitem__)
    monkeypatch.setattr(link_state, "set_many", kept.update)
    return kept


def places(run, **look):
    stack = run.stacks[0]
    matrix = head_matrix(stack, 0, 0, DisplayOptions(**look))
    return shown_head.picture_axes(stack, matrix), matrix


def places_of(*tokens):
    """The places of a picture of whole tokens."""
    axis = shown_head.PictureAxis(tuple((i,) for i in range(len(tokens))), tokens)
    return {"q": axis, "k": axis}


def labels_of(pins, matrix):
    return [(matrix.rows if pin.axis == "q" else matrix.cols)[pin.position] for pin in pins.tokens]


@pytest.mark.parametrize("look", [{"special": False}, {"units": "words"}, {"units": "words", "special": False}])
def test_a_pin_stays_on_its_word_when_tokens_are_joined_or_hidden(paired, held, look):
    here, matrix = places(paired)
    row, col = matrix.rows.index("guitar"), matrix.cols.index("daily")
    shown_head.store_pins(here, Pins((Pin("q", row), Pin("k", col)), (row, col)))
    there, other = places(paired, **look)
    found = shown_head.current_pins(there)
    assert labels_of(found, other) == ["guitar", "daily"]
    assert (other.rows[found.cell[0]], other.cols[found.cell[1]]) == ("guitar", "daily")
    assert shown_head.current_pins(here) == Pins((Pin("q", row), Pin("k", col)), (row, col)), "and back"


def test_a_pin_follows_its_word_into_an_edited_sentence(held):
    old = places_of("The", "cat", "sat")
    after = places_of("Once", "the", "old", "cat", "sat")
    shown_head.store_pins(old, Pins((Pin("q", 1), Pin("k", 0)), (2, 1)))
    found = shown_head.current_pins(after)
    assert found.tokens == (Pin("q", 3),), "cat is pinned, The is gone"
    assert found.cell == (4, 3)
