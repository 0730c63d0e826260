"""A cache's traps as programs: the page's own vectors, both pieces of code, and what the mistake comes to."""

from __future__ import annotations

from attnviz.pages.decoding.maths.cache_traps import unshifted_positions, wrong_dimension
from attnviz.runs.traps.trap import Trap, source
from attnviz.runs.word_vectors import WIDTH


def program(trap: Trap, words: tuple[str, ...], seed: int) -> str | None:
    """Print the largest difference of a weight; None where the sentence is too short for the mistake."""
    if trap is wrong_dimension.TRAP and len(words) < 2:
        return None
    helpers, compared = _COMPARED[trap.id]
    parts = [_vectors(words, seed), *helpers, trap.wrong_code, trap.right_code]
    code = "\n\n".join(part.rstrip() + "\n" for part in parts)
    return f'{code}\n\n{compared}print(f"largest difference of a weight: {{(bad - good).abs().max():.3f}}")\n'


def _vectors(words: tuple[str, ...], seed: int) -> str:
    return f"""\
import zlib

import torch
import torch.nn.functional as F
from torch import Tensor

words, WIDTH = {list(words)!r}, {WIDTH}


def draw(name, *shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(zlib.crc32(name.encode())))


x = torch.stack([draw(f"{seed}/{{word}}", WIDTH) for word in words])
w_q, w_k = (draw(f"{seed}/projection {{name}}", WIDTH, WIDTH) / WIDTH**0.5 for name in "qk")
q, k = x @ w_q, x @ w_k  # (T, D)
"""


_TOP_LEFT = """\
n = max(1, len(words) // 3)  # new words; the others are in the cache
values = torch.eye(len(words))  # with the identity as values, the output is the weights
bad, good = wrong(q[-n:], k, values), right(q[-n:], k, values)
"""
_UNSHIFTED = """\
n = max(1, len(words) // 3)  # new words; the others are in the cache
cached = rotated(k[:-n], torch.arange(len(words) - n))
bad, good = (weights(q[-n:], k[-n:], cached, way(k[-n:], cached)) for way in (wrong, right))
"""
_DIMENSION = """\
n = len(words) // 2  # words in the cache, and as many new ones
new_q, cached, new = q[-n:], k[None, -2 * n : -n], k[None, -n:]  # one head
print("keys (heads, tokens, width):", *(tuple(way(cached, new).shape) for way in (wrong, right)))
allowed = torch.ones(n, 2 * n, dtype=torch.bool).tril(n)
good = weights(new_q[None], right(cached, new), allowed)[0]
second = weights(new_q[None], wrong(cached, new), allowed[:, n:])[1]  # the head that was not there
bad = torch.cat([torch.zeros(n, n), second], -1)
"""
#: trap -> what both sides call, and the lines that make `bad` and `good`
_COMPARED = {
    "top_left": ((), _TOP_LEFT),
    "unshifted_positions": (
        (source((unshifted_positions.rotated, unshifted_positions.weights)),),
        _UNSHIFTED,
    ),
    "wrong_dimension": ((source((wrong_dimension.weights,)),), _DIMENSION),
}
