"""Every sentence a visitor reads is marked for translation, and the check that says so can fail."""

import ast
import re
from pathlib import Path

import pytest

from attnviz.base import words
from attnviz.base.message import Message, Problem, Several
from scripts import words as script
from tests.app_words import texts


@pytest.mark.parametrize(
    "line",
    [
        'st.title("Hello there")', 'st.button(f"Run {n} times")', 'st.slider("x", help="What it does")',
        'fig.update_xaxes(title="Head number")', 'st.markdown("One" if a else _("Two"))',
        'st.tabs(["First tab", _("Second")])', 'go.Bar(name="Every head")',
        'choice(_("Which"), {"a": _("One"), "b": "Two of them"}, "key")',
    ],
)  # fmt: skip
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


ALL_KINDS = """
class Odd(Problem): ...
class Odder(Odd): ...
say(_("a title")); ROWS = [N_("a row")]
raise Problem("a problem {n}", n=1)
raise Odd("an odd problem")
raise Odder("an odder problem")
Message("a message"); words.Message("far away")
ngettext("{n} head", "{n} heads", n)
_("one line "
  "and the next")
"""
SENTENCES = {
    "a title", "a row", "a problem {n}", "an odd problem", "an odder problem", "a message", "far away",
    "{n} head", "{n} heads", "one line and the next",
}  # fmt: skip


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small app of one file."""
    folder = tmp_path / "attnviz"
    folder.mkdir()
    monkeypatch.setattr(script, "ROOT", tmp_path)
    return folder / "page.py"


def test_every_kind_of_sentence_is_collected(app: Path):
    app.write_text(ALL_KINDS)
    ids = (each.id if isinstance(each.id, tuple) else (each.id,) for each in script.collected() if each.id)
    assert {text for each in ids for text in each} == SENTENCES
    assert script.not_collected(app, script.MARKS | {"Odd", "Odder"}) == []


@pytest.mark.parametrize(
    "line",
    ['_(f"{n} heads")', '_("heads" if many else f"{one} head")', '_("Many heads" + more)', 'Message(template=f"{n}")'],
)
def test_a_sentence_put_together_before_it_is_looked_up_is_found(app: Path, line: str):
    app.write_text(line)
    assert len(script.not_collected(app, script.MARKS)) == 1


def test_sentences_of_the_app_itself_are_collected():
    assert {
        "Explore attention",
        "n_heads={n_heads} must be a multiple of n_kv_heads={n_kv_heads}",
        "layer type {name} is not supported",
        "Move with the arrow keys; Enter shows the chosen head large.",  # of a canvas
    } <= texts()


LISTING = Message("one of {known}", {"known": Several(("a", 8, Message("wider"), Message("{n} heads", {"n": 2})))})


def test_several_things_are_listed_as_in_english_without_another_language():
    assert str(LISTING) == words.say(LISTING) == "one of a, 8, wider, 2 heads"
    assert str(Problem("one of {known}", known=Several(["a"]))) == "one of a"
    assert str(Several(())) == ""


def test_in_english_they_are_joined_by_comma_semicolon_and_space():
    assert words.listed(str(n) for n in range(3)) == "0, 1, 2"
    assert words.clauses(["a: 1", "b: 2"]) == "a: 1; b: 2"
    assert words.sentences("One.", "", "Two.") == "One. Two."
    assert words.sentences("", "") == words.listed([]) == ""
    assert words.ended("One") == "One."


def test_a_problem_is_a_value_error_with_its_values_apart():
    problem = Problem("n={n} must be positive", n=-1)
    assert isinstance(problem, ValueError)
    assert str(problem) == "n=-1 must be positive"
    assert problem.message == Message("n={n} must be positive", {"n": -1})


def test_the_sentence_of_a_message_stands_where_it_is_made():
    """A sentence that comes by a variable, as it stands, is found by nobody who collects sentences."""
    package = Path(words.__file__).parents[1]
    unseen = []
    for path in sorted(package.rglob("*.py")):
        text = path.read_text("utf-8")
        nodes = list(ast.walk(ast.parse(text))) if re.search(r"(Message|Problem)\([a-zA-Z]", text) else []
        plain = {
            target.id
            for node in nodes
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and " " in str(node.value.value)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in nodes:
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("Message", "Problem") and node.args:
                first = node.args[0]
                if isinstance(first, ast.Name) and first.id in plain:
                    unseen.append(f"{path.relative_to(package)}:{node.lineno}")
    assert unseen == []
