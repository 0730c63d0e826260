"""Charts have a name for those who do not see them: what is drawn, and the sentence that stands below."""

import pytest

WITH_CHARTS = [
    ("decoding", {"d_view": "policies"}),
    ("compare", {}),
    ("compare", {"c_section": "shared"}),
    ("positions", {"p_section": "scores"}),
    ("sharing", {"h_view": "count"}),
    ("scaling", {}),
]


@pytest.mark.parametrize("name, link", WITH_CHARTS)
def test_every_chart_of_a_page_is_called_by_what_it_shows_and_no_two_alike(visit, name, link):
    page = visit(name, **link)
    charts = [each.proto for each in page.get("plotly_chart")]
    assert charts
    called = [chart.alt for chart in charts]
    assert all(len(each) > 10 for each in called)
    assert len(set(called)) == len(called)
    assert not any(sign in each for each in called for sign in ("**", "&#", "<b>", "$"))
