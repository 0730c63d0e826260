"""What the explorer's benchmark counts with, without a browser."""

from attnviz.models.tokens import encode
from benchmarks import harness
from benchmarks.driving import EDIT, carried, worked
from benchmarks.explorer import WORDS, sentence
from benchmarks.harness import ms, size, table, times
from tests.models.conftest import smollm2

__all__ = ["smollm2"]


def test_texts_have_exactly_the_tokens_asked_for(smollm2):
    assert [len(encode(smollm2, sentence(n, seed)).labels) for seed, n in enumerate((1, 20, 201))] == [1, 20, 201]
    assert sentence(5, 1) == sentence(5, 1) != sentence(5, 2)
    assert all(len(encode(smollm2, word).labels) == 1 for word in WORDS.split())


def test_sizes_and_ratios_are_short():
    assert [size(n) for n in (900, 94_500, 3_000_000, 1.1e9)] == ["1 KB", "94 KB", "3.0 MB", "1.1 GB"]
    assert [times(2.0, 3.0), times(1.0, 1828.0)] == ["1.5x", "1,828x"]
    assert table([{"a": "1", "b": "2"}]) == "| a | b |\n| --- | ---: |\n| 1 | 2 |"


def test_what_is_no_message_carries_no_component():
    assert carried(b"\xff\xff not a message") == ""


def test_a_budget_holds_only_up_to_its_limit():
    missed = harness.at_most("a pass", 91, 90, ms)
    met = [harness.above("a click", 30, 22, 8), harness.at_most("a pass", 90, 90, ms)]
    met.append(harness.spread("a drag", [5.0] * 20, 8, 16))
    not_met = [harness.above("a click", 30.1, 22, 8), missed]
    drags = ([5.0] * 17 + [40.0] * 3, [8.1] * 20, [])
    not_met += [harness.spread("a drag", drag, 8, 16) for drag in drags]
    assert [row[""] for row in met + not_met] == ["met"] * len(met) + ["not met"] * len(not_met)
    assert table([missed]).endswith("| a pass | 90 ms | 91 ms | not met |")


def event(name, ts, **more):
    return {"name": name, "ts": ts, "pid": 1, "tid": 2, "args": {}, **more}


def test_a_frame_is_charged_with_all_work_since_the_one_before_and_counts_only_if_the_edit_moved():
    trace = [event("thread_name", 0, args={"name": "CrRendererMain"})]
    for number in range(3):
        start = 16_000 * number
        trace += [
            event("RunTask", start + 100, dur=2000, tdur=1000),  # the mouse
            event("RunTask", start + 9000, dur=5000, tdur=4000),  # two callbacks of one frame
            event("FireAnimationFrame", start + 9100),
            event("FireAnimationFrame", start + 9800),
        ]
    trace.append(event(EDIT, 16_000 + 9900))
    assert worked(trace) == [5.0]
    assert worked(trace[:-1]) == []
