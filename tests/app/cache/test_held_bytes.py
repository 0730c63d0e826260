from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
import torch

from attnviz.app.cache.bounded_cache import held_bytes


@dataclass
class Record:
    array: np.ndarray
    tensors: tuple[torch.Tensor, ...]
    by_name: dict[str, np.ndarray]


def test_arrays_and_tensors_inside_a_record_are_counted():
    array, tensor, other = np.zeros((3, 5)), torch.zeros(7, dtype=torch.float16), np.zeros(11, np.uint8)
    record = Record(array, (tensor, tensor[:2]), {"a": other})
    assert held_bytes(record) == 3 * 5 * 8 + 7 * 2 + 2 * 2 + 11 + sys.getsizeof("a")


def test_a_run_is_as_heavy_as_its_trace():
    class Run:
        nbytes = 123

    assert held_bytes(Run()) == 123


def test_plain_values_count_too():
    assert held_bytes(["ab", 1]) == sys.getsizeof("ab") + sys.getsizeof(1)
