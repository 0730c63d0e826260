"""Every sentence a visitor reads is marked for translation, and the check that says so can fail."""

from __future__ import annotations

import gettext
from pathlib import Path

import pytest

from attnviz import words
from attnviz.core.message import Message, Problem
from scripts import words as script


@pytest.mark.parametrize(
    "line",
    [
        'st.title("Hello there")',
        'st.button(f"Run {n} times")',
        'st.slider("x", help="What it does")',
        'fig.update_xaxes(title="Head number")',
        'st.markdown("One" if a else _("Two"))',
        'st.tabs(["First tab", _("Second")])',
        'go.Bar(name="Every head")',
        'choice(_("Which"), {"a": _("One"), "b": "Two of them"}, "key")',
    ],
)
def test_a_sentence_that_was_missed_is_found(tmp_path: Path, line: str):
    file = tmp_path / "page.py"
    file.write_text(line)
    assert len(script.missed(file)) == 1


@pytest.mark.parametrize(
    "line",
    [
        'st.title(_("Hello there"))',
        'st.markdown(_("{n} heads").format(n=3))',
        'st.text_input("x", key="Some key")',
        'log.warning("Not for visitors")',
        'st.caption("Fixed name")  # untranslated: a name',
    ],
)
def test_what_is_marked_or_is_no_sentence_is_left_alone(tmp_path: Path, line: str):
    file = tmp_path / "page.py"
    file.write_text(line)
    assert script.missed(file) == []


def test_nothing_was_missed_in_the_app(capsys: pytest.CaptureFixture[str]):
    assert script.check() == 0, capsys.readouterr().out


def test_the_template_for_translators_holds_pages_figures_and_problems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(script, "POT", tmp_path / "attnviz.pot")
    assert script.collect() > 200
    text = (tmp_path / "attnviz.pot").read_text()
    for sentence in ("Explore attention", "n_heads={n_heads} must be a multiple of n_kv_heads={n_kv_heads}", "masked"):
        assert sentence in text


def test_a_message_is_said_in_the_language_of_whoever_asks(monkeypatch: pytest.MonkeyPatch):
    class German(gettext.NullTranslations):
        def gettext(self, message: str) -> str:
            return {"{n} heads": "{n} Köpfe"}.get(message, message)

    monkeypatch.setattr(
        words, "_translations", lambda language: German() if language == "de" else words.gettext.NullTranslations()
    )
    monkeypatch.setattr(words, "_language", lambda: "de")
    assert words.say(Message("{n} heads", {"n": 3})) == "3 Köpfe"
    monkeypatch.setattr(words, "_language", lambda: None)
    assert words.say(Message("{n} heads", {"n": 3})) == "3 heads"


def test_a_language_that_is_not_there_falls_back_to_english(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(words, "_language", lambda: "xx-YY")
    assert words._("Explore attention") == "Explore attention"
    assert words.ngettext("{n} head", "{n} heads", 2) == "{n} heads"


def test_a_problem_is_a_value_error_with_its_values_apart():
    problem = Problem("n={n} must be positive", n=-1)
    assert isinstance(problem, ValueError)
    assert str(problem) == "n=-1 must be positive"
    assert problem.message == Message("n={n} must be positive", {"n": -1})
