import importlib.metadata

from attnviz.base.reliance import Reliance, gone


def reliance(holds, library="torch"):
    return Reliance(library, "a thing", "here.py", "a purpose", holds)


def raising():
    raise AttributeError("moved")


def test_what_holds_is_not_mentioned():
    assert gone([reliance(lambda: True)]) == []


def test_what_answers_no_or_raises_is_said_with_the_installed_version():
    sentence = f"torch {importlib.metadata.version('torch')} no longer has a thing: used by here.py for a purpose"
    assert [str(each) for each in gone([reliance(lambda: False), reliance(raising)])] == [sentence, sentence]


def test_a_library_that_is_not_installed_has_no_version():
    assert "no_such_library ? no longer" in str(gone([reliance(raising, "no_such_library")])[0])
