"""Several things in one sentence, and what a Problem holds."""

import math

import pytest

from attnviz.base import words
from attnviz.base.message import Message, MessageList, Problem, require_between

LISTING = Message("one of {known}", {"known": MessageList(("a", 8, Message("wider"), Message("{n} heads", {"n": 2})))})


def test_several_things_are_listed_as_in_english_without_another_language():
    assert str(LISTING) == words.translate_message(LISTING) == "one of a, 8, wider, 2 heads"
    assert str(Problem("one of {known}", known=MessageList(["a"]))) == "one of a"
    assert str(MessageList(())) == ""


def test_in_english_they_are_joined_by_comma_semicolon_and_space():
    assert words.join_list(str(n) for n in range(3)) == "0, 1, 2"
    assert words.join_clauses(["a: 1", "b: 2"]) == "a: 1; b: 2"
    assert words.join_sentences("One.", "", "Two.") == "One. Two."
    assert words.join_sentences("", "") == words.join_list([]) == ""
    assert words.end_sentence("One") == "One."


def test_a_problem_is_a_value_error_with_its_values_apart():
    problem = Problem("n={n} must be positive", n=-1)
    assert isinstance(problem, ValueError)
    assert str(problem) == "n=-1 must be positive"
    assert problem.message == Message("n={n} must be positive", {"n": -1})


@pytest.mark.parametrize("value", [2, 2.5, 5])
def test_both_limits_belong_to_the_range(value):
    require_between("k", value, 2, 5)


@pytest.mark.parametrize("value", [1, 5.01, math.inf, math.nan])
def test_what_lies_outside_is_named_with_its_limits(value):
    with pytest.raises(Problem, match=f"k={value} must lie between 2 and 5"):
        require_between("k", value, 2, 5)
