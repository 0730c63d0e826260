"""Who waits, who is let in, and that whoever leaves makes room."""

import threading

import pytest

from attnviz.app.cache import bounded_cache, waiting_line
from attnviz.app.cache.bounded_cache import trim_memory
from attnviz.app.cache.waiting_line import PAGES, TRAININGS, WaitingLine
from attnviz.base.message import Problem


class Visitor:
    """A thread in the line: it works until it is told to end, and keeps what it was told while it waited."""

    def __init__(self, line, leaves=False, name=None):
        self.told, self.waits, self.works, self.may_end = [], threading.Event(), threading.Event(), threading.Event()
        self.leaves = leaves
        self.thread = threading.Thread(target=self.come, args=(line,), name=name, daemon=True)
        self.thread.start()

    def come(self, line):
        try:
            with line.turn(self.hears):
                self.works.set()
                self.may_end.wait(10)
        except KeyboardInterrupt:
            return

    def hears(self, before):
        self.told.append(before)
        self.waits.set()
        if self.leaves and self.may_end.is_set():
            raise KeyboardInterrupt  # as Streamlit ends a run: no Exception

    def end(self):
        self.may_end.set()
        self.thread.join(10)


@pytest.mark.parametrize("at_once", [1, 2])
def test_as_many_work_as_may_and_the_others_come_in_order_and_hear_how_many_are_before(at_once):
    line = WaitingLine(at_once, 3)
    first, *others = [Visitor(line) for _ in range(at_once)]
    assert all(each.works.wait(10) for each in (first, *others))
    second = Visitor(line)
    assert second.waits.wait(10)
    third = Visitor(line)
    assert third.waits.wait(10)
    assert not second.works.is_set()
    assert (second.told[0], third.told[0]) == (1, 2)
    assert (line.n_working, line.n_waiting) == (at_once, 2)
    first.end()
    assert second.works.wait(10)
    assert not third.works.is_set()
    second.end()
    assert third.works.wait(10)
    assert third.told == sorted(third.told, reverse=True)
    for each in (third, *others):
        each.end()
    assert first.told == []
    assert (line.n_working, line.n_waiting) == (0, 0)


def test_who_leaves_while_waiting_makes_room():
    line = WaitingLine(1, 1)
    first = Visitor(line)
    assert first.works.wait(10)
    gone = Visitor(line, leaves=True)
    assert gone.waits.wait(10)
    gone.end()
    assert not gone.works.is_set()
    third = Visitor(line)
    assert third.waits.wait(10)
    first.end()
    assert third.works.wait(10)
    third.end()


def test_a_line_that_is_full_says_so_and_one_that_failed_lets_the_next_in():
    line = WaitingLine(1, 0)
    with line.turn(lambda _before: None), pytest.raises(Problem, match="0 visitors are waiting"), line.turn(print):
        pass
    with pytest.raises(ZeroDivisionError), line.turn(print):
        raise ZeroDivisionError
    with line.turn(print):
        pass


def test_whose_turn_lasts_longer_than_the_lease_holds_up_nobody_and_keeps_it():
    line = WaitingLine(1, 3, lease=0.2)
    long, second, third = (Visitor(line) for _ in range(3))
    assert long.works.wait(10)
    assert second.works.wait(10), "let in beside the long one"
    assert third.works.wait(10)
    long.end()
    second.end()
    fourth = Visitor(line)
    assert fourth.works.wait(10)
    for each in (third, fourth):
        each.end()
    assert (line.n_working, line.n_waiting) == (0, 0)


def test_where_memory_is_short_work_is_refused_in_a_sentence_and_pages_are_drawn(monkeypatch):
    trim_memory()  # of what tests before this one have freed
    grown = bounded_cache.own_memory() // 10**6 + 50
    monkeypatch.setenv("ATTNVIZ_PROCESS_MB", str(grown))
    for line in (TRAININGS, PAGES):
        with line.turn(print):
            pass
    held = bytearray(100 * 10**6)
    with pytest.raises(Problem, match="short of memory just now"), TRAININGS.turn(print):
        pass
    with PAGES.turn(print):
        assert TRAININGS.n_working == TRAININGS.n_waiting == 0
    del held
    with TRAININGS.turn(print):
        pass


def test_who_comes_from_one_address_ten_times_is_before_himself_alone_and_takes_not_the_last_places(monkeypatch):
    monkeypatch.setattr(waiting_line, "visitor_address", lambda: threading.current_thread().name)
    line, many = WaitingLine(1, 4), []
    for _ in range(3):
        many.append(Visitor(line, name="1.2.3.4"))
        assert (many[-1].waits if len(many) > 1 else many[-1].works).wait(10)
    monkeypatch.setattr(threading.current_thread(), "name", "1.2.3.4")
    with pytest.raises(Problem, match="3 visitors from your address"), line.turn(print):
        pass
    other = Visitor(line, name="5.6.7.8")
    assert other.waits.wait(10)
    assert other.told[0] == 1, "he comes next"
    many[0].end()
    assert other.works.wait(10)
    assert not many[1].works.is_set()
    other.end()
    for each in many[1:]:
        assert each.works.wait(10), "in the order in which they came"
        each.end()
