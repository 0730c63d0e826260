import math

import pytest

from attnviz.base.message import Problem, require_between


@pytest.mark.parametrize("value", [2, 2.5, 5])
def test_both_limits_belong_to_the_range(value):
    require_between("k", value, 2, 5)


@pytest.mark.parametrize("value", [1, 5.01, math.inf, math.nan])
def test_what_lies_outside_is_named_with_its_limits(value):
    with pytest.raises(Problem, match=f"k={value} must lie between 2 and 5"):
        require_between("k", value, 2, 5)
