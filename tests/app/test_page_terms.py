"""The terms that a page names under its heading are in the glossary."""

from __future__ import annotations

import pytest

from attnviz.app.glossary_terms import TERMS
from attnviz.app.page_entry import Page
from attnviz.serve.page_table import PAGES


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_names_terms_that_are_explained(page: Page) -> None:
    assert set(page.terms) <= set(TERMS)


def test_pages_do_name_terms() -> None:
    assert sum(len(page.terms) for page in PAGES) > 40
