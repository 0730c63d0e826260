"""The memory of a call against sizes that are known, and the words of the machine."""

from dataclasses import replace

import torch

from attnviz.base.words import say
from attnviz.runs import measuring


def test_the_peak_of_allocations_is_what_is_known_to_be_allocated():
    one, two = torch.zeros(1000), torch.zeros(1000)
    assert measuring.peak_bytes(lambda: one + two) == 4000
    assert measuring.peak_bytes(lambda: (one + two) * one) == 8000
    assert measuring.peak_bytes(lambda: [(one + two).sum() for _ in range(5)]) < 4000 + 5 * 64 + 1


def test_the_clock_is_named_with_the_machine():
    one = replace(measuring.this_machine(), threads=1)
    assert say(one.words).endswith("float32, processor time")
    assert say(replace(one, threads=2).words).endswith("wall time")
    assert say(replace(one, device="cuda", dtype="bfloat16").words).endswith("bfloat16, wall time")


def test_the_fastest_round_is_no_longer_than_any_and_as_many_are_made_as_asked():
    made = []
    seconds = measuring.fastest(lambda: made.append(sum(range(10_000))), rounds=3)
    assert len(made) >= 3
    assert 0 < seconds < 0.1
