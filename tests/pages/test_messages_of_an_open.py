"""What the open of a page sends: a class that opens at once waits for every message of it.

Streamlit's own about the session and the end of the run, four or five, come on top.
"""

import pytest
from streamlit.testing.v1.local_script_runner import LocalScriptRunner

from attnviz.serve.page_table import PAGES
from tests.pages import conftest
from tests.pages.conftest import open_page

MOST = 60


@pytest.mark.parametrize("page", [row.name for row in PAGES])
def test_the_open_of_a_page_sends_few_messages(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sent, run = [], LocalScriptRunner.run

    def counting(runner, *args, **named):
        tree = run(runner, *args, **named)
        sent.append(len(runner.forward_msgs()))
        return tree

    monkeypatch.setattr(conftest, "MENUS", ())  # a visitor finds them closed
    open_page(page)  # what is computed once is there for the next visitor
    monkeypatch.setattr(LocalScriptRunner, "run", counting)
    assert not open_page(page).exception
    assert sent[-1] <= MOST


def test_what_the_menu_sends_is_streamlits_own_until_a_link_of_it_carries_something() -> None:
    links = [len(open_page("scaling", **link).get("page_link")) for link in ({}, {"s_dk": "128"})]
    assert links == [0, len(PAGES)]
