import math
from types import SimpleNamespace

import pytest

from attnviz.base.message import Problem, require_between, require_multiple, require_within


@pytest.mark.parametrize("value", [2, 2.5, 5])
def test_both_limits_belong_to_the_range(value):
    require_between("k", value, 2, 5)


@pytest.mark.parametrize("value", [1, 5.01, math.inf, math.nan])
def test_what_lies_outside_is_named_with_its_limits(value):
    with pytest.raises(Problem, match=f"k={value} must lie between 2 and 5"):
        require_between("k", value, 2, 5)


def test_the_first_field_outside_its_limits_is_named():
    config = SimpleNamespace(n=3, d=9, k=9)
    require_within(config, {"n": (1, 3), "d": (9, 9)})
    with pytest.raises(Problem, match="d=9 must lie between 1 and 8"):
        require_within(config, {"n": (1, 3), "d": (1, 8), "k": (1, 8)})


@pytest.mark.parametrize("value, of", [(6, 4), (4, 8), (4, 0)])
def test_what_is_no_multiple_is_refused(value, of):
    require_multiple("d", 12, "heads", 4)
    with pytest.raises(Problem, match=f"d={value} must be a multiple of heads={of}"):
        require_multiple("d", value, "heads", of)
