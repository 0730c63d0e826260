"""Numbers in a lesson's sentences."""

from html import unescape

from attnviz.pages.lessons.maths.lesson_parts import Facts
from attnviz.pages.lessons.panels import all_lessons, lesson_page


def test_a_number_below_zero_has_a_minus_and_a_typed_word_stays_as_it_is():
    values = {"before": -14.567, "after": 0.5, "word": "-5"}
    written = lesson_page.filled(all_lessons.LESSONS["order"], "{before:.2f}, {after:.2f}, {word}", Facts(values))
    assert unescape(written) == "−14.57, 0.50, -5"
