"""What attention costs: the page's numbers against the core's, a machine's time by hand, and the section in use."""

from attnviz.core import traffic
from attnviz.core.costs import Machine
from attnviz.models.architecture import gpus
from attnviz.pages.fast.maths import cost
from tests.pages.conftest import charts, read, sound


def test_bytes_of_four_heads_counted_by_hand():
    result = cost.run(cost.Config(tokens=100, heads=4, kv_heads=2, d_head=8, fast_kib=4, dtype="float32"))
    # 16 rows: 16 * 8 queries, 16 keys and values, and per row 16 scores, 8 outputs, 2 numbers, at 4 bytes each
    assert (result.block, result.tile_bytes) == (16, 4 * (16 * 8 + 16 * 16 + 16 * 26))
    assert result.whole_matrix.bytes_moved.total == 4 * (2 * 4 * 100 * 8 + 2 * 2 * 100 * 8 + 4 * 4 * 100 * 100)
    assert result.tiles.bytes_moved.total == 4 * (2 * 4 * 100 * 8 + 2 * 4 * 7 * 100 * 8 + 4 * 100)
    assert result.whole_matrix.flops == result.tiles.flops == 4 * 4 * 100 * 100 * 8


def test_a_step_is_bound_by_what_takes_longer():
    way = cost.WayCost(traffic.BytesMoved(0, 0, 0, 10, 0, 0, 0), 300)
    assert way.intensity == 30
    slow = way.roofline_step(Machine(peak=10, bandwidth=1000, memory=1))
    assert (slow.seconds, slow.bound) == (30.0, "compute")
    starved = way.roofline_step(Machine(peak=1000, bandwidth=10, memory=1))
    assert (starved.seconds, starved.bound) == (1.0, "memory")


def test_the_section_says_what_both_ways_move_and_what_a_gpu_needs(visit):
    page = sound(visit("fast", fast_section="cost"))
    result = cost.run(cost.Config())
    bars = charts(page)[0]["data"]
    assert sum(bar["x"][0] for bar in bars) == result.whole_matrix.bytes_moved.total
    assert sum(bar["x"][1] for bar in bars) == result.tiles.bytes_moved.total
    assert f"with fewer than **{result.break_even_rows}** rows" in read(page)
    gpu = gpus()["a100-80gb"]
    assert gpu.source.split()[0] in read(page)
    times = result.whole_matrix.roofline_step(gpu.machine).seconds / result.tiles.roofline_step(gpu.machine).seconds
    assert f"{times:.1f} times as fast" in read(page)
    roof = charts(page)[-1]["data"]
    assert [trace["x"] for trace in roof[1:]] == [[result.whole_matrix.intensity], [result.tiles.intensity]]
