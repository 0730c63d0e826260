"""A lecturer's lesson as a text file: it comes back as it was written, and every mistake names its line."""

import io
import zipfile

import pytest

from attnviz.base.message import Problem
from attnviz.pages.lessons.panels import all_lessons, open_lesson, own_lesson
from attnviz.serve import page_table  # noqa: F401

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


def test_a_small_file_is_a_lesson():
    lesson = own_lesson.read(GOOD)
    (step,) = lesson.steps
    assert (lesson.title, step.title, step.picture.kind, dict(step.picture.settings)) == (
        "Mine", "One row", "head", {"mask": "causal"},
    )  # fmt: skip
    assert step.question is not None
    assert (step.question.answers["2"], step.question.right) == ("that", "2")


@pytest.mark.parametrize("lesson", all_lessons.LESSONS.values(), ids=lambda lesson: lesson.id)
def test_the_apps_own_lessons_survive_the_way_through_a_file(lesson):
    back = own_lesson.read(open_lesson.lesson_as_text(lesson))
    for mine, theirs in zip(lesson.steps, back.steps, strict=True):
        for name in (
            "title",
            "idea",
            "do",
            "facts",
            "notes",
            "terms",
            "question",
            "picture",
            "after",
            "page",
            "page_choices",
        ):
            assert getattr(theirs, name) == getattr(mine, name), (mine.title, name)


@pytest.mark.parametrize(
    "old, new, line, says",
    [
        ('picture = "head"', 'picture = "hed"', 7, "must be one of: tokens, board, head"),
        ('mask = "causal"', 'mask = "cusal"', 8, "must be one of: model, none, causal, window"),
        ('mask = "causal"', 'colour = "red"', 8, "allowed: mask, scale"),
        ("right = 2", "right = 3", 11, "1 to 2"),
        ("minutes = 4", "minutes = 400", 12, "0 to 120"),
        ("minutes = 4", "minuets = 4", 12, "allowed: title, idea"),
        ("mixture_facts.row_sum", "mixture_facts.run", 6, "mixture_facts.row_sum"),
        ("{token}", "{token.__class__}", 5, "the name of a fact"),
        ("{token}", "{token", 5, "for braces write {{ and }}"),
        ('title = "One row"', "", 3, "title is missing in step 1"),
        ('title = "Mine"', 'titel = "Mine"', 1, "title, sentence, [[step]]"),
        ("[[step]]", "sentence = 3\n[[step]]", 3, "a text in quotes, up to 400 characters"),
        ("minutes = 4", 'link = "bild?b_step=softmax"', 12, "“bild” is no page; pages are: born, build, compare"),
        ("minutes = 4", 'link = "build?b_stap=softmax"', 12, "“b_stap” is not a parameter of build; it has: b_text"),
        ("minutes = 4", 'link = "build?b_batch=many"', 12, "“many” makes no sense as b_batch of build"),
        ("minutes = 4", 'link = "masks?m_paint=x"', 12, "Line 12: link: "),
        ("mixture_facts.row_sum", "../../etc/passwd", 6, "“../../etc/passwd” must be one of: "),
        ("mixture_facts.row_sum", "os.system", 6, "“os.system” must be one of: "),
        ('picture = "head"', 'picture = "../../etc/passwd"', 7, "must be one of: tokens, board, head"),
        ("minutes = 4", 'link = "../../etc/passwd"', 12, "is no page"),
        ("minutes = 4", 'link = "javascript:alert(1)"', 12, "is no page"),
        ("{token}", "{token.__init__.__globals__}", 5, "the name of a fact"),
        (
            "{n}",
            "{n:999999}",
            5,
            "“n:999999” must be the name of a fact",
        ),  # a megabyte each, in a link of 254 characters
        ("{n}", "{n:.99999f}", 5, "the name of a fact"),
        ("{n}", "{n:0999d}", 5, "the name of a fact"),
    ],
)
def test_a_mistake_names_its_line_and_what_is_allowed(old, new, line, says):
    with pytest.raises(Problem) as raised:
        own_lesson.read(GOOD.replace(old, new))
    assert str(raised.value).startswith(f"Line {line}: ")
    assert says in str(raised.value)


def test_a_packed_file_is_no_lesson():
    """Nothing is unpacked: what would be large when it is stays as small as it came."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("../../lesson.toml", GOOD + "#" * 50_000_000)
    with pytest.raises(Problem, match=r"This file is not TOML|The file has [\d,]+ characters"):
        own_lesson.read(packed.getvalue().decode("utf-8", "replace"))


def test_a_file_that_is_too_large_is_refused_before_it_is_read(monkeypatch):
    monkeypatch.setattr(own_lesson.tomllib, "loads", lambda _text: pytest.fail("read"))
    with pytest.raises(Problem, match=r"The file has 50,?000,?000 characters"):
        own_lesson.read("x" * 50_000_000)
