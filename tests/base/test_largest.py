"""The largest of several numbers, and whether it alone is."""

import numpy as np
import pytest

from attnviz.base.largest import find_largest


@pytest.mark.parametrize(
    "values, at, alone",
    [
        ([1, 3, 2], (1,), True),
        ([1, 3, 3], (1,), False),
        ([5], (0,), False),
        ([float("nan"), -2, -1], (2,), True),
        ([float("nan"), -2], (1,), False),
        ([[0, 1], [2, -5]], (1, 0), True),
        (np.float32([0.1 + 0.2, 0.3]), (0,), False),
        ([-1.0, -1.0 + 1e-8], (1,), False),
    ],
)
def test_the_largest_is_alone_where_all_others_are_smaller(values, at, alone):
    found = find_largest(values)
    assert (found.at, found.alone) == (at, alone)
    assert found.value == np.asarray(values, float)[at]
