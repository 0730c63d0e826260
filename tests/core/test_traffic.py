"""Bytes and FLOPs of attention, against loops over what is loaded and stored; `tests/core/test_tiled.py` runs them."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from attnviz.core import costs, traffic
from attnviz.core.heads import HeadLayout

WIDE = 4  #: bytes of a number in float32


def count_whole(layout, tokens):
    """Bytes by name and FLOPs in three steps; heads that share keys load them once."""
    moved, flops = Counter(), 0
    for _group in range(layout.kv_heads):
        moved.update(k=tokens * layout.qk_width * WIDE, v=tokens * layout.v_width * WIDE)
    for _head in range(layout.n_heads):
        moved.update(q=tokens * layout.qk_width * WIDE, output=tokens * layout.v_width * WIDE)
        moved.update(scores=2 * tokens * tokens * WIDE, weights=2 * tokens * tokens * WIDE)  # stored, and loaded again
        flops += 2 * tokens * tokens * (layout.qk_width + layout.v_width)
    return moved, flops


def count_tiles(layout, tokens, block, keys, causal):
    """The same tile by tile, and the most bytes that are at work at once."""
    moved, flops, most = Counter(), 0, 0
    for _head in range(layout.n_heads):
        for start in range(0, tokens, block):
            rows = len(range(start, min(start + block, tokens)))
            moved.update(q=rows * layout.qk_width * WIDE)
            for first in range(0, start + rows if causal else tokens, keys):
                cols = len(range(first, min(first + keys, tokens)))
                moved.update(k=cols * layout.qk_width * WIDE, v=cols * layout.v_width * WIDE)
                flops += 2 * rows * cols * (layout.qk_width + layout.v_width)
                held = rows * layout.qk_width + cols * (layout.qk_width + layout.v_width)  # q, k, v
                held += rows * cols + rows * layout.v_width + 2 * rows  # scores, output, largest score and sum
                most = max(most, held * WIDE)
            moved.update(output=rows * layout.v_width * WIDE, log_sum=rows * WIDE)
    return moved, flops, most


sizes = st.builds(
    lambda g, r, d, dv: HeadLayout(8, g * r, g, d, dv), *[st.integers(1, 3)] * 2, *[st.integers(1, 9)] * 2
)


@given(sizes, st.integers(1, 23), st.integers(1, 5), st.integers(1, 3), st.booleans())
@settings(max_examples=40, deadline=None)
def test_bytes_and_flops_are_those_that_loops_count(layout, tokens, keys, times, causal):
    block = keys * times
    moved, flops = count_whole(layout, tokens)
    whole = traffic.bytes_of_whole_matrix(layout, tokens, "float32")
    assert {name: n for name, n in vars(whole).items() if n} == moved
    assert costs.count_flops(layout, 0, tokens * tokens).total == flops
    moved, flops, most = count_tiles(layout, tokens, block, keys, causal)
    tiled = traffic.bytes_in_tiles(layout, tokens, block, causal, "float32")
    assert {name: n for name, n in vars(tiled).items() if n} == moved
    assert costs.count_flops(layout, 0, traffic.pairs_in_tiles(tokens, block, causal)).total == flops
    if block <= tokens:
        assert traffic.fast_memory_bytes(layout, block, keys, "float32") == most
