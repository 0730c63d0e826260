"""A lecturer's lesson as a text file: it comes back as it was written, and every mistake names its line."""

from pathlib import Path

import pytest

from attnviz.base import words
from attnviz.base.message import Problem
from attnviz.pages.lessons.panels import lesson_file, open_lesson
from attnviz.serve import page_table  # noqa: F401

ROOT = Path(__file__).parents[3]

GOOD = """title = "Mine"

[[step]]
title = "One row"
idea = "“{token}” has {n} weights."
facts = "mixture_facts.row_sum"
picture = "head"
set = { mask = "causal" }
question = "Which?"
answers = ["this", "that"]
right = 2
minutes = 4
"""


@pytest.mark.parametrize("language", words.languages())
@pytest.mark.parametrize("name", open_lesson.LESSONS)
def test_the_apps_own_lessons_survive_the_way_through_a_file(name, language):
    """Read as a lecturer's, so that its links are checked, too."""
    lesson = open_lesson.lessons_in(language)[name]
    text = open_lesson.lesson_as_text(lesson, "Two birds")
    assert text.count("Two birds") == 1
    back = lesson_file.read(text)
    assert (back.title, back.steps, back.summary, back.page_links, back.sentence) == (
        lesson.title, lesson.steps, lesson.summary, lesson.page_links, "Two birds",
    )  # fmt: skip


MARKDOWN = """# Mine

- sentence: Two birds
- next: [Build it](build?b_step=softmax)

## One row

“{token}” has {n} weights,
which sum to 1.

- facts: row, favourite
- picture: head mask=causal
- question: Which?
  - [ ] this
  - [x] that
- minutes: 4
"""


def test_a_file_is_a_lesson_and_one_in_markdown_the_same():
    (step,) = lesson_file.read(GOOD).steps
    assert (step.title, step.picture.kind, dict(step.picture.settings)) == ("One row", "head", {"mask": "causal"})
    assert (step.question.answers["2"], step.question.right, step.minutes) == ("that", "2", 4)
    lesson = lesson_file.read(MARKDOWN)
    (same,) = lesson.steps
    assert (lesson.title, lesson.sentence) == ("Mine", "Two birds")
    assert lesson.page_links == (("Build it", "build", {"b_step": "softmax"}),)
    assert (same.title, same.picture, same.question) == (step.title, step.picture, step.question)
    assert (same.idea, same.facts) == ("“{token}” has {n} weights, which sum to 1.", ("row", "favourite"))


#: what is changed in a file, the line that is then named, and what is said
IN_TOML = [
    ('mask = "causal"', 'mask = "cusal"', 8, "must be one of: model, none, causal, window"),
    ("mixture_facts.row_sum", "mixture_facts.run", 6, "favourite"),
    ('title = "One row"', "", 3, "title is missing in step 1"),
    ('title = "Mine"', 'titel = "Mine"', 1, "title, sentence, summary, next, [[step]]"),
    ("[[step]]", "sentence = 3\n[[step]]", 3, "a text in quotes, up to 400 characters"),
]
IN_MARKDOWN = [
    ("head mask=causal", "hed", 12, "must be one of: tokens, board, head"),
    ("row,", "os.system,", 11, "“os.system” must be among: "),
    ("- [x]", "- [ ]", 13, "1 to 2; in Markdown that one has [x]"),
    ("- minutes: 4", "- minutes: many", 16, "0 to 120"),
    ("- minutes: 4", "- 图片：head", 16, "“图片” is not known in a step"),
    ("{token}", "{token", 6, "for braces write {{ and }}"),
    ("{token}", "{token.__init__.__globals__}", 6, "the name of a fact"),
    ("{n}", "{n:999999}", 6, "“n:999999” must be the name of a fact"),  # a megabyte each, in a link of 254 characters
    ("# Mine\n", "", 1, "# My lesson"),
    ("- picture: head mask=causal\n", "", 6, "picture is missing in step 1"),
    ("- minutes: 4", "- link: bild?b_step=softmax", 16, "“bild” is no page; pages are: born, build, compare"),
    ("- minutes: 4", "- link: javascript:alert(1)", 16, "is no page"),
    ("- minutes: 4", "- link: build?b_stap=softmax", 16, "“b_stap” is not a parameter of build; it has: b_text"),
    ("- minutes: 4", "- link: build?b_batch=many", 16, "“many” makes no sense as b_batch of build"),
    ("- minutes: 4", "- link: masks?m_paint=x", 16, "Line 16: link: "),
    ("[Build it](build?b_step=softmax)", "build", 4, "[another mask](masks?m_rule1=window)"),
]


@pytest.mark.parametrize(
    "text, old, new, line, says", [(GOOD, *one) for one in IN_TOML] + [(MARKDOWN, *one) for one in IN_MARKDOWN]
)
def test_a_mistake_names_its_line_and_what_is_allowed(text, old, new, line, says):
    assert old in text
    with pytest.raises(Problem) as raised:
        lesson_file.read(text.replace(old, new, 1))
    assert str(raised.value).startswith(f"Line {line}: ")
    assert says in str(raised.value)


def test_the_lesson_of_the_documentation_is_one():
    page = (ROOT / "docs/using/own_lessons.md").read_text("utf-8")
    lesson = lesson_file.read(page.partition("```markdown\n")[2].partition("```")[0])
    assert [step.question is not None for step in lesson.steps] == [False, True, True]


def test_a_file_that_is_too_large_is_refused_before_it_is_read(monkeypatch):
    monkeypatch.setattr(lesson_file.tomllib, "loads", lambda _text: pytest.fail("read"))
    with pytest.raises(Problem, match=r"The file has 50,?000,?000 characters"):
        lesson_file.read("x" * 50_000_000)
