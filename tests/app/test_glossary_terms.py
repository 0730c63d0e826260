"""Each term: two sentences, numbers that are computed, and a place in the app that exists."""

import re
from string import Formatter

import pytest

from attnviz.app import term_popover
from attnviz.app.glossary_terms import TERMS
from attnviz.app.links.choices import choices_of
from attnviz.app.term_popover import explanation
from attnviz.pages.build.maths import attention_by_hand
from attnviz.serve import page_table

PAGES = {row.name for row in page_table.PAGES}
SENTENCE_END = re.compile(r"[.](?=\s|$)")


def test_there_are_about_forty_terms_with_names_of_their_own():
    assert 40 <= len(TERMS) <= 60
    assert len({term.name for term in TERMS.values()}) == len(TERMS)


@pytest.mark.parametrize("term", TERMS.values(), ids=list(TERMS))
def test_a_term_has_two_sentences_and_no_number_typed_by_hand(term):
    assert len(SENTENCE_END.findall(term.text)) == 2, term.text
    assert len(explanation(term)) < 320
    plain = "".join(literal for literal, *_rest in Formatter().parse(term.text))
    allowed = {"Llama-3.1-8B", "SmolLM2", "DeepSeek-V3", "scores 0, 1 and 2", "At temperature 2", "1/√d_k"}
    allowed |= {"from 0 to 1", "sum to 1", "nearly 1", "nearly 0", "exactly 0", "weight of 1", "above 1", "towards 0"}
    allowed |= {"spread a row of weights is: 0", "at 16 bits", "takes 2·n·d·m"}
    for words in allowed:
        plain = plain.replace(words, "")
    assert not re.search(r"\d", plain), plain


@pytest.mark.parametrize("term", TERMS.values(), ids=list(TERMS))
def test_a_term_can_be_seen_where_it_says(term):
    assert term.page in PAGES
    known = {choice.name: choice for choice in choices_of(term.page)}
    for name, text in term.seen.items():
        assert known[name].read(text) is not None
        assert known[name].write(known[name].read(text)) == text


def test_every_number_that_is_computed_stands_in_a_sentence_or_is_tested_with_one():
    said = {field for term in TERMS.values() for _text, field, *_rest in Formatter().parse(term.text) if field}
    assert said <= set(term_popover.numbers())
    assert set(term_popover.numbers()) - said <= {"llama_group", "small_kv_heads"}


def test_the_steps_of_build_that_terms_name_exist():
    known = attention_by_hand.steps(attention_by_hand.Config())
    for term in TERMS.values():
        assert term.seen.get("b_step", "scores") in known, term.id
