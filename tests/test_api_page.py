"""docs/library/api.md says what the docstrings say, of every name that `import attnviz as av` offers."""

from scripts import api_page

PAGE = api_page.PAGE.read_text(encoding="utf-8")


def test_the_page_is_current():
    assert api_page.page() == PAGE, "python -m scripts.api_page writes it anew"
