"""A language is one file and one command; what a translator can break by hand is found."""

import tracemalloc
from pathlib import Path

import pytest

from attnviz.app.text import translate_markdown
from attnviz.base import words
from attnviz.base.message import Message as DataMessage
from attnviz.base.message import MessageList
from scripts import languages
from scripts.words import collected


@pytest.mark.parametrize("path", languages.files(), ids=lambda path: path.stem)
def test_each_language_of_the_app_is_sound_and_compiled(path: Path):
    assert languages.check(path) == []


def test_lists_clauses_and_sentences_are_joined_as_chinese_joins_them():
    several = DataMessage(
        "There is no language {asked}; there are: {known}", {"asked": "x", "known": MessageList(["en", "zh"])}
    )
    cells = "{n} cell typed in by you.", "{n} cells typed in by you."
    with words.use_language("zh"):
        assert words.join_list(["甲", "乙", "丙"]) == "甲、乙、丙"
        assert words.join_clauses(["甲", "乙"]) == "甲；乙"
        assert words.join_sentences("甲。", "", "乙。") == "甲。乙。"
        assert words.end_sentence("甲") == "甲。"
        assert words.ngettext(*cells, 1) == words.ngettext(*cells, 5) != cells[0]
        assert words.translate_message(several).endswith("en、zh")
        assert (
            translate_markdown(
                DataMessage(several.template, {"asked": "x", "known": MessageList(["a*b", several])})
            ).count("、")
            == 2
        )
        assert "a&#42;b、" in translate_markdown(
            DataMessage(several.template, {"asked": "x", "known": MessageList(["a*b", "c"])})
        )
    with words.use_language("xx-YY"):
        assert words._("Glossary") == "Glossary"
        assert words.ngettext(*cells, 2) == cells[1]


@pytest.mark.parametrize(
    "asked, answers",
    [
        ("zh-Hans-SG", "zh"),
        ("zh-TW", "zh"),  # one written language for both: its reader reads it sooner than English
        ("zhx", "en"),
        ("../zh", "en"),
        (None, "en"),
    ],
)
def test_the_nearest_language_answers(asked: str | None, answers: str):
    assert words.supported_language(asked) == answers


def test_a_name_of_any_length_costs_no_more_than_a_short_one():
    tracemalloc.start()
    try:
        assert words.supported_language("-" * 100_000) == "en"
        assert words.supported_language("zh-" * 100_000) == "zh"
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 2_000_000, "every beginning of such a name would be gigabytes"


def test_hardly_a_sentence_is_not_translated_into_chinese():
    """`python -m scripts.languages` names each; a sentence that was just changed is English until it is read."""
    sentences = collected()
    missing = languages.untranslated(languages.read(words.LOCALE_DIR / "zh.po"), sentences)
    assert len(missing) < 0.05 * len(sentences), [each.id for each in missing]
