"""A chart that one visitor has seen is not built again for the next one, on any page that opens with charts."""

from typing import Any

import pytest
from plotly.basedatatypes import BaseFigure

from tests.pages.conftest import open_page

PAGES = ("build", "masks", "scaling", "sharing", "positions", "decoding", "compare")
SMALL = {"decoding": {"d_model": "core"}}


@pytest.mark.parametrize("page", PAGES)
def test_the_next_visitor_s_page_builds_no_chart(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    first = open_page(page, **SMALL.get(page, {}))
    assert not first.exception
    built: list[Any] = []
    begin = BaseFigure.__init__

    def counting(figure: Any, *args: Any, **named: Any) -> None:
        built.append(type(figure))
        begin(figure, *args, **named)

    monkeypatch.setattr(BaseFigure, "__init__", counting)
    second = open_page(page, **SMALL.get(page, {}))
    assert not second.exception
    specs = [[chart.proto.spec for chart in each.get("plotly_chart")] for each in (first, second)]
    assert specs[0] == specs[1]
    assert built == []
