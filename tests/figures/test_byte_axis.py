"""The axis of bytes: it stands still while they grow, and its ticks and room hold the largest."""

import pytest

from attnviz.figures.cost_charts import byte_axis

MIB = 1 << 20


@pytest.mark.parametrize("few, many", [(1.1, 3.9), (5, 15), (17, 64), (65 * 1024, 255 * 1024)])
def test_bars_grow_and_their_axis_does_not(few: float, many: float) -> None:
    assert byte_axis("bytes", few * MIB) == byte_axis("bytes", many * MIB)
    assert byte_axis("bytes", many * MIB) != byte_axis("bytes", 4 * many * MIB)


@pytest.mark.parametrize("most", [0, 1, 4, 1023, 4**15, 4**15 + 1, 3 * 10**12])
def test_the_largest_bar_ends_on_the_axis_and_takes_a_fourth_of_it_at_least(most: int) -> None:
    low, high = byte_axis("bytes", most)["range"]
    assert (low, most <= high) == (0, True)
    assert most < 1 or most / high >= 0.24
