"""Freed memory leaves the process, and a system without glibc is no reason to fail."""

from __future__ import annotations

import ctypes
import sys

import psutil
import pytest

from attnviz.app.cache.bounded_cache import give_back


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc's allocator")
def test_what_is_free_goes_back_to_the_system():
    process = psutil.Process()
    give_back()
    before = process.memory_info().rss
    many = [bytearray(60_000) for _ in range(2_000)]  # below the size that is always returned at once
    for each in many:
        each[::4096] = b"x" * len(each[::4096])
    pin = bytearray(60_000)  # on top of them all, so that the end of the heap cannot simply move down
    del many, each
    give_back()
    assert process.memory_info().rss - before < 40e6, "of 120 MB"
    assert len(pin) == 60_000


def test_an_allocator_without_that_call_is_left_alone(monkeypatch):
    monkeypatch.setattr(ctypes, "CDLL", lambda name: object())
    give_back()
