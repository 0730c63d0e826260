"""The table as quoted: each printed formula, worked out, is the number printed beside it."""

import pytest

from attnviz.pages.compare.maths import layer_costs
from tests.pages.conftest import said, table_of


@pytest.mark.parametrize("sizes", [{}, {"n": 96, "d": 640, "k": 7, "window": 16, "heads": 5}])
def test_as_quoted_each_printed_formula_gives_the_number_beside_it(visit, sizes):
    link = {f"c_{name}": str(value) for name, value in sizes.items()}
    page = visit("compare", c_count="table", **link)
    shape = vars(layer_costs.Config(**sizes))
    letters = {"r": shape["window"], "h": shape["heads"]} | {each: shape[each] for each in "ndk"}
    table = table_of(page)
    assert len(table) == 6
    for formula, number in zip(table["grows as"], table["operations here"], strict=True):
        python = formula.removeprefix("O").replace("²", "**2").replace("·", "*")
        assert f"{eval(python, {}, letters):,.0f}" == number
    assert "Vaswani et al. 2017, table 1" in said(page)
    assert "Linear attention came later and is not in that table: Katharopoulos et al. 2020" in said(page)
