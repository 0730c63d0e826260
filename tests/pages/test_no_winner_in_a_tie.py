"""Where all words are alike, or there is only one, no page says that one of them is, has or does most."""

import re
from html import unescape

import pytest

FOUR, ONE = "the the the the", "cat"
SUPERLATIVE = re.compile(
    r"(?<!at )\bmost\b|\bmore than (to )?any\b|\b(largest|longest|smallest|strongest|nearest)\b|\bbest match\b|"
    r"(?<!at )\bleast\b"
)
NAMED = re.compile(r"\*(the|cat)\*|“(the|cat)( \(\d\))?”")
NUMBER = re.compile(r"-?\d+\.?\d*(?:e[+-]\d+)?")
#: pages whose words are random vectors without positions, so that equal words are exactly alike
LINKS = [
    *[
        ("build", {"b_text": text, "b_pos": "none", "b_step": step})
        for text in (FOUR, ONE)
        for step in ("scores", "softmax", "sum")
    ],
    ("positions", {"p_text": FOUR, "p_section": "order", "p_kind": "none"}),
    ("fast", {"fast_section": "traps", "fast_trap": "skipped", "fast_text": ONE}),
    ("masks", {"m_text": ONE}),
    ("scaling", {"s_section": "alternatives", "s_dk": "1"}),
]


def false_claims(sentence: str) -> list[str]:
    """What a sentence says of a winner among equal ones: a word that is most, or a largest that is the smallest."""
    found = [match[0] for match in SUPERLATIVE.finditer(sentence) if NAMED.search(sentence)]
    _before, _largest, rest = sentence.partition("largest value is ")
    ends = [number[0] for half in rest.split("smallest", 1) if (number := NUMBER.search(half))]
    return found + ([rest] if len(ends) == 2 and ends[0] == ends[1] else [])


@pytest.mark.parametrize(
    "name, link", LINKS, ids=lambda each: "&".join(each.values()) if isinstance(each, dict) else each
)
def test_no_word_of_equal_ones_is_said_to_be_most(visit, name, link):
    page = visit(name, **link)
    said = [unescape(str(part.value)) for kind in (page.markdown, page.caption, page.info) for part in kind]
    assert any(NAMED.search(text) for text in said) or name == "scaling", "the page names none of its words"
    assert {text: claims for text in said if (claims := false_claims(text))} == {}


@pytest.mark.parametrize(
    "sentence",
    [
        "“the” gives 25% to “the”, more than to any other.",
        "The best match in head 1: *the* with *the*, 0.20.",
        "*the* looks most at *the*, with 25% of its weight.",
        "At d_k = 1 the largest value is 1 (raw), the smallest 1 (raw).",
    ],
)
def test_a_winner_among_equal_ones_is_found(sentence):
    assert false_claims(sentence)


def test_a_limit_or_another_thing_is_no_winner():
    assert false_claims("*the* gives 25% to *the*; rows are at most 1 and at least 0.") == []
    assert false_claims("The largest value is 2 (raw), the smallest 1 (1/d_k).") == []
