"""KVCache by itself: its bytes, its error when full, gradients. What it returns: test_modules.py, pages/decoding."""

import pytest
import torch

from attnviz.base.message import Problem
from attnviz.core.cache import KVCache
from attnviz.core.costs import kv_bytes
from attnviz.core.heads import HeadLayout

LAYOUT = HeadLayout(16, 4, 2, d_head=3, d_value=5)


def tokens(count: int, first: int = 0, batch: int = 1) -> tuple[torch.Tensor, torch.Tensor]:
    """Keys and values whose numbers identify their token."""
    number = torch.arange(first, first + count, dtype=torch.float32)[None, None, :, None]
    return number.expand(batch, 2, count, 3), number.expand(batch, 2, count, 5)


def numbers(held: torch.Tensor) -> list[int]:
    return [int(n) for n in held[0, 0, :, 0]]


@pytest.mark.parametrize(
    "dtype, name", [(torch.float32, "float32"), (torch.bfloat16, "bfloat16"), (torch.float16, "float16")]
)
def test_bytes_are_those_of_the_formula(dtype: torch.dtype, name: str) -> None:
    made = {"batch": 3, "dtype": dtype}
    growing, ready = KVCache(LAYOUT, **made), KVCache(LAYOUT, capacity=100, **made)
    for cache in (growing, ready):
        cache.append(*(x.to(dtype) for x in tokens(7, batch=3)))
    assert growing.nbytes == growing.used_nbytes == ready.used_nbytes == kv_bytes(LAYOUT, 7, batch=3, dtype=name)
    assert ready.nbytes == kv_bytes(LAYOUT, 100, batch=3, dtype=name)
    storage = growing.keys.untyped_storage().nbytes() + growing.values.untyped_storage().nbytes()
    assert growing.nbytes == storage


def test_appending_beyond_the_capacity_is_refused_and_changes_nothing() -> None:
    cache = KVCache(LAYOUT, capacity=4)
    cache.append(*tokens(3))
    with pytest.raises(Problem, match="room for 4 tokens and holds 3: 2 more do not fit"):
        cache.append(*tokens(2, 3))
    assert numbers(cache.append(*tokens(1, 3))[0]) == [0, 1, 2, 3]


@pytest.mark.parametrize("room", [{}, {"capacity": 5}])
def test_gradients_flow_through_cached_tokens(room: dict[str, int]) -> None:
    cache, (k, v) = KVCache(LAYOUT, **room), (x.clone().requires_grad_() for x in tokens(2))
    cache.append(k, v)
    read, _ = cache.append(*(x.clone().requires_grad_() for x in tokens(1, 2)))
    read.sum().backward()
    torch.testing.assert_close(k.grad, torch.ones_like(k))
