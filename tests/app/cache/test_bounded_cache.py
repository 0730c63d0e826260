import threading

import pytest

from attnviz.app.cache.bounded_cache import BoundedCache


def test_a_value_that_is_requested_twice_is_made_once():
    made = []
    cache: BoundedCache[str] = BoundedCache(100, len)
    for _ in range(2):
        assert cache.get("a", lambda: made.append(1) or "x") == "x"
    assert cache.begin("a", lambda: made.append(1) or "y").result() == "x"
    assert made == [1]


@pytest.mark.parametrize("use, counts", [("get", True), ("begin", True), ("find", True), ("in", False)])
def test_the_least_recently_used_leaves_first_when_the_limit_is_reached(use, counts):
    cache: BoundedCache[str] = BoundedCache(10, len)
    cache.get("a", lambda: "xxxx")
    cache.get("b", lambda: "xxxx")
    assert {
        "get": lambda: cache.get("a", lambda: "never made"),
        "begin": lambda: cache.begin("a", lambda: "never made").result(),
        "find": lambda: cache.find("a"),
        "in": lambda: "xxxx" if "a" in cache else None,
    }[use]() == "xxxx"
    cache.get("c", lambda: "xxxx")
    assert ("a" in cache, "b" in cache, "c" in cache) == (counts, not counts, True)
    assert cache.weight == 8


@pytest.mark.parametrize("make", [lambda: str(1 / 0), lambda: ""], ids=["made", "weighed"])
def test_an_exception_of_what_cannot_be_made_or_weighed_is_raised_and_not_kept(make):
    cache: BoundedCache[str] = BoundedCache(10, lambda value: 1 // len(value))
    with pytest.raises(ZeroDivisionError):
        cache.get("a", make)
    assert not cache._making, "nothing is left of the attempt"
    assert cache.get("a", lambda: "fine") == "fine"


class Making:
    """A `make` that does not return before the test allows it, so that others come to wait for it."""

    def __init__(self, ending):
        self.began, self.may_end, self.calls, self.ending = threading.Event(), threading.Event(), [], ending

    def __call__(self):
        self.calls.append(1)
        self.began.set()
        assert self.may_end.wait(10)
        return self.ending()


def test_a_value_begun_in_the_background_is_made_in_another_thread_and_shared():
    make = Making(threading.get_ident)
    cache: BoundedCache[int] = BoundedCache(100, lambda _: 1)
    begun = cache.begin("a", make)
    assert make.began.wait(10)
    assert not begun.done()
    assert cache.get("b", lambda: 7) == 7, "other keys do not wait"
    make.may_end.set()
    assert cache.get("a", make) == begun.result() != threading.get_ident()
