"""Bytes and FLOPs of attention, against a memory that counts what is loaded from it and stored in it."""

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attnviz.core import costs, traffic
from attnviz.core.attention import attend
from attnviz.core.heads import HeadLayout
from attnviz.core.masks import causal as causal_mask


class SlowMemory:
    """Tensors by name; what is loaded and stored is counted in bytes, and products of matrices in FLOPs."""

    def __init__(self, **tensors):
        self.tensors, self.moved, self.flops, self.most = tensors, {}, 0, 0

    def load(self, name, *place):
        part = self.tensors[name][place]
        self.moved[name] = self.moved.get(name, 0) + part.nbytes
        return part

    def store(self, name, part, *place):
        self.tensors[name][place] = part
        self.moved[name] = self.moved.get(name, 0) + np.asarray(part).nbytes

    def product(self, a, b):
        self.flops += 2 * a.shape[0] * a.shape[1] * b.shape[1]
        return a @ b


def filled(layout, tokens):
    rng = np.random.default_rng(0)
    h, g, d, dv = layout.n_heads, layout.kv_heads, layout.qk_width, layout.v_width
    shapes = {"q": (h, tokens, d), "k": (g, tokens, d), "v": (g, tokens, dv), "output": (h, tokens, dv)}
    held = {name: rng.standard_normal(shape, dtype=np.float32) for name, shape in shapes.items()}
    square = {name: np.zeros((h, tokens, tokens), np.float32) for name in ("scores", "weights")}
    return SlowMemory(**held, **square, log_sum=np.zeros((h, tokens), np.float32))


def run_whole(layout, tokens, causal):
    """Three steps; heads that share keys load them once."""
    slow, shared = filled(layout, tokens), layout.heads_per_kv
    for g in range(layout.kv_heads):
        k = slow.load("k", g)
        for h in range(g * shared, g * shared + shared):
            slow.store("scores", slow.product(slow.load("q", h), k.T) / np.float32(np.sqrt(layout.qk_width)), h)
    for h in range(layout.n_heads):
        seen = np.tri(tokens, dtype=bool) if causal else np.ones((tokens, tokens), bool)
        scores = np.where(seen, slow.load("scores", h), -np.inf)
        raised = np.exp(scores - scores.max(-1, keepdims=True))
        slow.store("weights", (raised / raised.sum(-1, keepdims=True)).astype(np.float32), h)
    for g in range(layout.kv_heads):
        v = slow.load("v", g)
        for h in range(g * shared, g * shared + shared):
            slow.store("output", slow.product(slow.load("weights", h), v), h)
    return slow


def run_tiled(layout, tokens, block, keys, causal):
    """Tile by tile, and the most bytes that were at work at once."""
    slow = filled(layout, tokens)
    for h in range(layout.n_heads):
        for start in range(0, tokens, block):
            rows = slice(start, min(start + block, tokens))
            q = slow.load("q", h, rows)
            highest = np.full(len(q), -np.inf, np.float32)
            total, output = np.zeros(len(q), np.float32), np.zeros((len(q), layout.v_width), np.float32)
            for first in range(0, rows.stop if causal else tokens, keys):
                cols = slice(first, min(first + keys, tokens))
                k, v = (slow.load(name, h // layout.heads_per_kv, cols) for name in "kv")
                tile = slow.product(q, k.T) / np.float32(np.sqrt(layout.qk_width))
                if causal:
                    tile[np.arange(cols.start, cols.stop) > np.arange(rows.start, rows.stop)[:, None]] = -np.inf
                new = np.maximum(highest, tile.max(-1))
                tile, keep = np.exp(tile - new[:, None]), np.exp(highest - new)
                highest, total = new, total * keep + tile.sum(-1)
                output = output * keep[:, None] + slow.product(tile, v)
                slow.most = max(slow.most, sum(each.nbytes for each in (q, k, v, tile, output, highest, total)))
            slow.store("output", output / total[:, None], h, rows)
            slow.store("log_sum", highest + np.log(total), h, rows)
    return slow


sizes = st.builds(
    lambda g, r, d, dv: HeadLayout(8, g * r, g, d, dv), *[st.integers(1, 3)] * 2, *[st.integers(1, 9)] * 2
)


@given(sizes, st.integers(1, 23), st.integers(1, 5), st.integers(1, 3), st.booleans())
@settings(max_examples=40, deadline=None)
def test_bytes_and_flops_are_those_of_a_memory_that_counts(layout, tokens, keys, times, causal):
    block = keys * times
    by_whole, by_tiles = run_whole(layout, tokens, causal), run_tiled(layout, tokens, block, keys, causal)
    q, k, v = (torch.from_numpy(by_whole.tensors[name]) for name in "qkv")
    expected = attend(q, k, v, causal_mask(tokens) if causal else None).output.numpy()
    for slow in (by_whole, by_tiles):
        np.testing.assert_allclose(slow.tensors["output"], expected, rtol=1e-4, atol=1e-5)
    counted = traffic.bytes_of_whole_matrix(layout, tokens, "float32")
    assert {name: n for name, n in vars(counted).items() if n} == by_whole.moved
    tiled = traffic.bytes_in_tiles(layout, tokens, block, causal, "float32")
    assert {name: n for name, n in vars(tiled).items() if n} == by_tiles.moved
    assert costs.count_flops(layout, 0, tokens * tokens).total == by_whole.flops
    assert costs.count_flops(layout, 0, traffic.pairs_in_tiles(tokens, block, causal)).total == by_tiles.flops
    if block <= tokens:
        assert traffic.fast_memory_bytes(layout, block, keys, "float32") == by_tiles.most
