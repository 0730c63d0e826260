"""Charts have a name for those who do not see them: what is drawn, and the sentence that stands below."""

import numpy as np
import pytest

from attnviz.app import show
from attnviz.pages.compare import figures
from attnviz.pages.compare.figures import KindCurve

WITH_CHARTS = [
    ("decoding", {"d_model": "core", "d_steps": "2"}),
    ("compare", {}),
    ("compare", {"c_section": "shared"}),
    ("positions", {}),
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


def test_a_chart_is_called_by_its_title_else_by_its_axes_and_then_by_its_sentence():
    curve = KindCurve("attention", "Attention", np.array([1, 2, 3]), np.array([1, 4, 9]))
    titled = figures.over([curve], "FLOPs of one layer", "tokens n")
    said = show.alternative_text(titled, "At n = 2 it is **4** &#40;more&#41;.")
    assert said.startswith("FLOPs of one layer")
    assert said.endswith("At n = 2 it is 4 (more).")
    assert show.alternative_text(titled, None) in said
