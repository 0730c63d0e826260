"""What the tests are told of the repository's files is the same with git and without."""

from tests.tracked import tracked


def test_without_git_the_files_that_are_there_are_told(monkeypatch):
    asked = ("attnviz/locale", "pages", "pyproject.toml")
    known = tracked(*asked)
    assert {"attnviz/locale/zh.mo", "pages/explore.py", "pyproject.toml"} <= set(known)
    monkeypatch.setenv("PATH", "")
    assert set(tracked(*asked)) >= set(known)
