"""A language is one file and one command; what a translator can break by hand is found."""

import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog, Message

from attnviz.app.text import spoken
from attnviz.base import words
from attnviz.base.message import Message as DataMessage
from attnviz.base.message import Several
from scripts import languages
from scripts.translation_faults import faults
from scripts.words import ROOT
from tests.app_words import collected, texts
from tests.tracked import tracked

ONE, TWO, THREE = "{n} heads look at {word}", "a sentence that stays as it is", "a sentence that will be changed"


def sentences(*texts: str) -> Catalog:
    catalog = Catalog()
    for text in (words.OWN_NAME, *texts):
        catalog.add(text, locations=[("attnviz/page.py", 7)])
    catalog.add(("{n} token", "{n} tokens"), locations=[("attnviz/page.py", 9)])
    return catalog


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An app without languages."""
    with monkeypatch.context() as patched:
        patched.setattr(words, "LOCALE_DIR", tmp_path)
        patched.setattr(languages, "LOCALE_DIR", tmp_path)
        patched.setattr(languages, "ROOT", tmp_path)
        for held in (words.languages, words._translations, words._catalogue):
            held.cache_clear()
        yield tmp_path
    for held in (words.languages, words._translations, words._catalogue):
        held.cache_clear()


def translate(path: Path, said: dict[str, str]) -> None:
    catalog = languages.read(path)
    for english, other in said.items():
        catalog[english].string = other
    path.write_bytes(languages.text_of(catalog))


def test_one_command_begins_a_language_which_the_app_then_speaks(folder: Path):
    assert words.languages() == {"en": "English"}
    with words.speaking("de"):
        assert words._(ONE) == ONE
    path = folder / "de.po"
    languages.update(path, sentences(ONE, TWO))
    translate(path, {ONE: "{n} Köpfe schauen auf {word}"})
    languages.update(path, sentences(ONE, TWO))
    words.languages.cache_clear()
    assert words.languages() == {"en": "English", "de": "Deutsch"}
    with words.speaking("de-AT"):
        assert words._(ONE).format(n=3, word="the") == "3 Köpfe schauen auf the"
        assert words._(TWO) == TWO, "what is not translated yet is English"
        assert words.tongue() == "de"
    with words.speaking("de"):
        assert (words._(ONE), words.tongue()) == (ONE, "en"), "looked for before it was there, and still remembered"


def test_an_update_keeps_what_is_translated_and_marks_what_changed(folder: Path):
    path = folder / "de.po"
    languages.update(path, sentences(TWO, THREE))
    translate(path, {TWO: "ein Satz, der bleibt", THREE: "ein Satz, der sich ändern wird"})
    changed = "a sentence that was changed"
    languages.update(path, sentences(TWO, changed))
    catalog = languages.read(path)
    assert catalog[TWO].string == "ein Satz, der bleibt"
    assert catalog[TWO].fuzzy is False
    assert (catalog[changed].string, catalog[changed].fuzzy) == ("ein Satz, der sich ändern wird", True)
    assert f'#| msgid "{THREE}"' in path.read_text("utf-8"), "the translator sees what it was"
    assert THREE not in catalog
    assert [each.id for each in languages.untranslated(catalog, sentences(TWO, changed))] == [
        changed,
        ("{n} token", "{n} tokens"),
    ]
    with words.speaking("de"):
        assert words._(changed) == changed, "a marked translation is not shown"


def test_a_second_update_changes_nothing_and_what_was_broken_by_hand_is_named(folder: Path):
    path = folder / "de.po"
    languages.update(path, sentences(ONE))
    before = [file.read_bytes() for file in sorted(folder.iterdir())]
    languages.update(path, sentences(ONE))
    assert [file.read_bytes() for file in sorted(folder.iterdir())] == before
    assert languages.check(path) == []
    translate(path, {ONE: "{n} Köpfe schauen auf {word}"})
    assert [line.split(";")[0] for line in languages.check(path)] == ["de.po: not compiled as it is now"]
    translate(path, {ONE: "Köpfe schauen auf {word}"})
    languages.update(path, sentences(ONE))
    (line,) = languages.check(path)
    assert "without {n}" in line
    assert ONE in line


@pytest.mark.parametrize(
    "english, other, fault",
    [
        ("{n} heads", "头", "without {n}"),
        ("{n:,} heads", "{n} 个头", "without {n:,}"),
        ("{n} heads", "{n} 个头{", "another number of lone braces"),
        ("{n} heads", "{n} 个头，{m}", "with {m}, which nobody fills"),
        ("hover %{x:.3g}<br>", "悬停 %{x:.3g}", "other tags"),
        ("[a page](explore?at=1)", "[页面](explore)", "other targets of links"),
        ("**bold**", "粗体", "another number of bold"),
        ("`code`", "代码", "another number of code"),
        (r"$\sqrt{d}$ grows", "√d 增长", "another number of formulas"),
        (" and", "和", "other spaces at its ends"),
        ("one, two", "一,二", "half-width punctuation after a Chinese character"),
        ("It ends.", "完了.", "half-width punctuation after a Chinese character"),
        (("{n} head", "{n} heads"), ("头",), "without {n}"),
    ],
)
def test_what_a_translator_can_break_by_hand_is_found(english: str, other: str, fault: str):
    assert fault in faults(Message(english, other))


@pytest.mark.parametrize(
    "english, other",
    [
        ("{n} heads look at {word!r}.", "有 {n} 个头关注 {word!r}。"),
        ("**{n}** of `K`, $d_k$: see [this](a?b=1).", "`K` 中有 **{n}** 个，$d_k$：见[此处](a?b=1)。"),
        (("{n} head", "{n} heads"), ("{n} 个头",)),
        (("One head", "{n} heads"), ("{n} 个头",)),
        ("{n} by {n}", "{n} 行 {n} 列，共 {n}"),
    ],
)
def test_another_order_and_other_words_are_no_fault(english: str, other: str):
    assert faults(Message(english, other)) == []


@pytest.mark.parametrize("path", languages.files(), ids=lambda path: path.stem)
def test_each_language_of_the_app_is_sound_and_compiled(path: Path):
    assert languages.check(path) == []


def test_lists_clauses_and_sentences_are_joined_as_chinese_joins_them():
    several = DataMessage(
        "There is no language {asked}; there are: {known}", {"asked": "x", "known": Several(["en", "zh"])}
    )
    cells = "{n} cell typed in by you.", "{n} cells typed in by you."
    with words.speaking("zh"):
        assert words.listed(["甲", "乙", "丙"]) == "甲、乙、丙"
        assert words.clauses(["甲", "乙"]) == "甲；乙"
        assert words.sentences("甲。", "", "乙。") == "甲。乙。"
        assert words.ended("甲") == "甲。"
        assert words.ngettext(*cells, 1) == words.ngettext(*cells, 5) != cells[0]
        assert words.say(several).endswith("en、zh")
        assert (
            spoken(DataMessage(several.template, {"asked": "x", "known": Several(["a*b", several])})).count("、") == 2
        )
        assert "a&#42;b、" in spoken(DataMessage(several.template, {"asked": "x", "known": Several(["a*b", "c"])}))
    with words.speaking("xx-YY"):
        assert words._("Glossary") == "Glossary"
        assert words.ngettext(*cells, 2) == cells[1]


def test_both_files_of_a_language_are_in_the_repository_and_the_compiled_one_in_the_wheel():
    assert words.languages()["zh"] == "中文"
    assert languages.read(words.LOCALE_DIR / "zh.po").num_plurals == 1
    assert words.OWN_NAME in texts()
    assert {"attnviz/locale/zh.po", "attnviz/locale/zh.mo"} <= set(tracked("attnviz/locale"))
    assert '"locale/**/*.mo"' in (ROOT / "pyproject.toml").read_text("utf-8")


@pytest.mark.parametrize(
    "asked, answers",
    [
        ("zh", "zh"),
        ("zh-CN", "zh"),
        ("zh_CN.UTF-8", "zh"),
        ("zh-Hans-SG", "zh"),
        ("zh-TW", "zh"),  # one written language for both: its reader reads it sooner than English
        ("en-GB", "en"),
        ("zhx", "en"),
        ("C", "en"),
        ("../zh", "en"),
        ("", "en"),
        (None, "en"),
    ],
)
def test_the_nearest_language_answers(asked: str | None, answers: str):
    assert words.spoken(asked) == answers


def test_a_name_of_any_length_costs_no_more_than_a_short_one():
    tracemalloc.start()
    try:
        assert words.spoken("-" * 100_000) == "en"
        assert words.spoken("zh-" * 100_000) == "zh"
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 2_000_000, "every beginning of such a name would be gigabytes"


def test_hardly_a_sentence_is_not_translated_into_chinese():
    """`python -m scripts.languages` names each; a sentence that was just changed is English until it is read."""
    sentences = collected()
    missing = languages.untranslated(languages.read(words.LOCALE_DIR / "zh.po"), sentences)
    assert len(missing) < 0.05 * len(sentences), [each.id for each in missing]
