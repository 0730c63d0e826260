"""Every computed sentence is true for one word, for equal words, and at both ends of each control.

Each section of each page is opened as it is, with all numbers at their least and one word, with all numbers at their
largest and four equal words, and once for each option of its boxes; `claims` says what its sentences claim wrongly.
"""

from typing import Any

import pytest

from tests.pages.all_sentences import (
    FOUR,
    ONE,
    Link,
    drawn_on,
    is_alike,
    lesson_links,
    sections,
    sentences_on,
    walk,
)
from tests.pages.claims import false_claims

LESSON_STEPS = {"attention": (1, 2, 3, 5), "row": (2, 6), "masks": (1, 2, 4), "model": (1,), "cache": (2, 4)}
#: ends that no control of a section reaches alone, and that were wrong once
TOGETHER = [
    ("scaling", {"s_keys": "1", "s_dk": "1", "s_more": "true"}),
    ("scaling", {"s_section": "training", "s_steps": "10", "s_seeds": "1", "s_dk": "1"}),
    ("positions", {"p_section": "scores", "p_n": "2", "p_width": "2", "p_heads": "1", "p_shift": "0"}),
    ("positions", {"p_text": FOUR}),
    ("positions", {"p_section": "longer", "p_width": "2", "p_trained": "3"}),
    ("positions", {"p_section": "longer", "p_width": "4", "p_method": "linear"}),
    *[
        ("build", {"b_text": "cat", "b_h": heads, "b_g": "1", "b_m": "2", "b_d": "1", "b_step": step})
        for heads, step in (("1", "project"), ("1", "split"), ("2", "split"), ("1", "merge"), ("1", "output"))
    ],
    *[("build", {"b_text": text, "b_pos": "none", "b_step": "softmax"}) for text in (ONE, FOUR)],
    ("build", {"b_text": ONE, "b_step": "two_sources"}),
    ("home", {"sentence": ONE}),
    ("home", {"sentence": "猫"}),
    ("fast", {"fast_section": "tiles", "fast_n": "1"}),
    ("mistakes", {"mistake": "skipped", "guess": "skipped.0", "mi_text": ONE}),
    ("decoding", {"d_view": "policies", "d_text": "The cat sat on a"}),
    ("sharing", {"h_text": "word", "h_kept": "3"}),
    *[("sharing", {"h_view": view, "h_context": "1"}) for view in ("latent", "count", "size")],
    ("sharing", {"h_view": "count", "h_context": "134217728", "h_batch": "65536"}),
    ("heads", {"hd_model": "minilm-l6", "hd_text": "own", "hd_own": "the cat and the cat"}),
    ("explore", {"text": "word", "open_stages": "1", "open_average": "1", "average": "0.0"}),
    ("compare", {"c_n": "1", "c_heads": "1"}),
    ("decoding", {"d_model": "core", "d_prompt": "a", "d_steps": "1"}),
    *[
        ("lessons", {"lesson": name, "step": str(step), "l_text": ONE, "l_notes": "true"})
        for name, steps in LESSON_STEPS.items()
        for step in steps
    ],
]


def _id(part: Any) -> str:
    return "&".join(part.values()) if isinstance(part, dict) else str(part)


def falsely_claimed(page: Any, name: str, link: Link) -> dict[str, list[str]]:
    """The sentences of a page that claim something wrongly, and what."""
    alike = is_alike(name, link)
    said = {text: false_claims(text, equal=alike) for text in sentences_on(page)}
    said |= {text: false_claims(text, equal=alike, template=True) for text in drawn_on(page)}
    return {text: found for text, found in said.items() if found}


@pytest.mark.slow
@pytest.mark.parametrize("name, section", sections(), ids=_id)
def test_no_sentence_claims_what_is_not_so_at_the_ends_of_any_control(visit, name, section):
    wrong = {_id(link): falsely_claimed(page, name, link) for link, page in walk(visit, name, section)}
    assert {link: found for link, found in wrong.items() if found} == {}


@pytest.mark.slow
@pytest.mark.parametrize("name, link", lesson_links(), ids=_id)
def test_no_sentence_of_a_lesson_does(visit, name, link):
    assert falsely_claimed(visit(name, **link), name, link) == {}


@pytest.mark.parametrize("name, link", TOGETHER, ids=_id)
def test_no_sentence_does_where_several_are_at_their_ends(visit, name, link):
    assert falsely_claimed(visit(name, **link), name, link) == {}


WRONG = {
    "a winner among equal ones": "“the” gives 25% to “the”, more than to any other.",
    "most, by nothing": "Drawn: repeat in head 0, which is off most, by 0.000.",
    "leads by nothing": "X leads Y by 0.00 in logits.",
    "a largest that is the smallest": "At d_k = 1 the largest value is 1 (raw), the smallest 1 (raw).",
    "first, and before it first too": "After the last layer “a” comes first; one layer earlier it is number 1.",
    "first nowhere, and last first": "“a” comes first at no layer: it ends in place 1.",
    "first and last of one": "The first pair turns once in 6.28 positions, the last in 6; pairs that do not: 0 of 1.",
    "only all": "Nothing is hidden from only 4 of 4 words.",
    "all of one or two": "All 2 heads look at it.",
    "both of one": "both together (here 1) give 3.",
    "more than half": "More than half looks at it: 12%.",
    "less than half": "Less than half looks at it: 82%.",
    "more than there are": "It sees 12 of 10 words.",
    "more than everything": "“it” gives 60% to “a” and 50% to “b”.",
    "from X to X": "63 other patches get from 0.9% to 0.9%: the rotations tell them apart.",
    "wrong and right alike": "A weight moves by at most 0.000 (right: 0.000).",
    "X instead of X": "It gives 5% to the future: 3 instead of 3.",
    "fewer that is more": "In tiles it moves 2 GiB: 0.6 times fewer.",
    "so many times that is once": "It costs 1.00 times the absorbed form.",
    "one of a thing as several": "one of 1 keys and another",
    "no number": "The largest is nan.",
    "an empty name": "“it” looks most at “”.",
    "two stops": "It ends..",
    "minus nothing": "It moves by -0.00 at most.",
    "an unfilled place": "With {n} layers it is all.",
}


@pytest.mark.parametrize("name", WRONG)
def test_a_false_claim_is_found(name):
    assert [found.partition(":")[0] for found in false_claims(WRONG[name], equal=True)] == [name]
