"""Threads that seed at the same time draw what each would draw alone, and the generator is as it was before."""

from concurrent.futures import ThreadPoolExecutor

import torch
from torch.testing import assert_close

from attnviz.core.modules import seeded_generator


def drawn(seed: int) -> torch.Tensor:
    with seeded_generator(seed):
        return torch.stack([torch.nn.Linear(8, 8).weight.detach() for _ in range(20)])


def test_threads_that_seed_at_once_draw_as_alone() -> None:
    alone = {seed: drawn(seed) for seed in range(4)}
    with ThreadPoolExecutor(8) as pool:
        for seed, together in zip([0, 1, 2, 3] * 50, pool.map(drawn, [0, 1, 2, 3] * 50), strict=True):
            assert_close(together, alone[seed], rtol=0, atol=0)


def test_the_generator_is_as_it_was() -> None:
    before = torch.random.get_rng_state()
    drawn(7)
    assert torch.equal(torch.random.get_rng_state(), before)
