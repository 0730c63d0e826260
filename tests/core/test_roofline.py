import pytest

from attnviz.core.costs import Machine, decode_step
from attnviz.core.heads import HeadLayout

A100 = Machine(peak=312 * 10**12, bandwidth=2_039 * 10**9, memory=80 * 10**9)
LLAMA_8B = HeadLayout(4096, 32, 8)
N = 8_030_261_248


def test_a_step_takes_as_long_as_the_slower_of_the_two():
    step = decode_step(A100, parameters=N, weight_bytes=2 * N, attention_flops=0, cache_bytes=0, batch=1)
    assert step.bound == "memory"
    assert step.seconds == 2 * N / 2_039e9


def test_a_machine_without_memory_is_refused_in_one_sentence():
    with pytest.raises(ValueError, match="memory=0 must be at least 1"):
        Machine(1, 1, 0)
