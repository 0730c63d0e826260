from __future__ import annotations

import threading
import time

import pytest

from attnviz.ui.shared.bounded_cache import Memory


def test_what_is_asked_for_twice_is_made_once():
    made = []
    memory: Memory[str] = Memory(100, len)
    for _ in range(2):
        assert memory.get("a", lambda: made.append(1) or "x") == "x"
    assert made == [1]


def test_the_least_recently_used_goes_first_when_the_limit_is_reached():
    memory: Memory[str] = Memory(10, len)
    memory.get("a", lambda: "xxxx")
    memory.get("b", lambda: "xxxx")
    memory.get("a", lambda: "never made")
    memory.get("c", lambda: "xxxx")
    assert ("a" in memory, "b" in memory, "c" in memory) == (True, False, True)


def test_the_newest_value_stays_however_heavy():
    memory: Memory[str] = Memory(1, len)
    memory.get("a", lambda: "xxxx")
    assert "a" in memory


def test_a_failure_is_raised_and_not_kept():
    memory: Memory[str] = Memory(10, len)
    with pytest.raises(ZeroDivisionError):
        memory.get("a", lambda: str(1 / 0))
    assert memory.get("a", lambda: "fine") == "fine"


def test_eight_threads_that_ask_at_once_wait_for_one_of_them():
    made = []
    memory: Memory[str] = Memory(100, len)

    def make() -> str:
        made.append(1)
        time.sleep(0.05)
        return "x"

    threads = [threading.Thread(target=memory.get, args=("a", make)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == [1]
