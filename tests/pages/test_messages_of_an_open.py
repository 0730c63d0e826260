"""What the open of a page sends, and makes, for the visitor after the first.

A class that opens at once waits for every message of it. Streamlit's own about the session and the end of the run, four
or five, come on top.
"""

from typing import Any

import pytest
from plotly.basedatatypes import BaseFigure
from streamlit.testing.v1.local_script_runner import LocalScriptRunner

from attnviz.serve.page_table import PAGES
from tests.pages import conftest
from tests.pages.conftest import charts, open_page

MOST = 60
#: pages that open with charts, which are built for the first visitor alone
WITH_CHARTS = {"build", "masks", "scaling", "sharing", "compare"}


@pytest.mark.parametrize("page", [row.name for row in PAGES])
def test_the_next_visitor_is_sent_few_messages_and_no_chart_is_built_again(
    page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[int] = []
    built: list[Any] = []
    run, begin = LocalScriptRunner.run, BaseFigure.__init__

    def counting(runner: Any, *args: Any, **named: Any) -> Any:
        tree = run(runner, *args, **named)
        sent.append(len(runner.forward_msgs()))
        return tree

    def noticed(figure: Any, *args: Any, **named: Any) -> None:
        built.append(type(figure))
        begin(figure, *args, **named)

    monkeypatch.setattr(conftest, "MENUS", ())  # a visitor finds them closed
    first = open_page(page)
    monkeypatch.setattr(LocalScriptRunner, "run", counting)
    monkeypatch.setattr(BaseFigure, "__init__", noticed)
    second = open_page(page)
    assert sent[-1] <= MOST
    if page in WITH_CHARTS:
        assert charts(first) == charts(second) != []
        assert built == []


def test_what_the_menu_sends_is_streamlits_own_until_a_link_of_it_carries_something() -> None:
    links = [len(open_page("scaling", **link).get("page_link")) for link in ({}, {"s_dk": "128"})]
    assert links == [0, len(PAGES)]
