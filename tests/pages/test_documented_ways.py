"""A typed sentence and a moved slider pass through what ARCHITECTURE.md lists, in that order."""

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from attnviz.app.cache import model_cache

ROOT = Path(__file__).parents[2]
Stop = tuple[str, str]


def section(title: str) -> str:
    parts = re.split(r"(?m)^## ", (ROOT / "ARCHITECTURE.md").read_text("utf-8"))
    return next(part for part in parts if part.startswith(title))


def documented_stops() -> list[Stop]:
    """(file, function) of each stop of a sentence; the function is empty for a stop that is a whole file."""
    stops = re.findall(r"(?m)^\d+\. (?:`([\w/]+\.py)`(?:, `(\w+)`)?)?", section("From a sentence to a pixel"))
    assert len(stops) == 10
    return [(str(ROOT / "attnviz" / file), name) for file, name in stops if file]


@contextmanager
def watched(stops: list[Stop]) -> Iterator[list[Stop]]:
    """Those of `stops` that are passed meanwhile, in order, each when it is passed first."""
    met: list[Stop] = []

    def watch(frame, event, _argument):
        if event == "call":
            file, name = frame.f_code.co_filename, frame.f_code.co_name
            stop = next((s for s in stops if s in ((file, name), (file, ""))), None)
            if stop is not None and stop not in met:
                met.append(stop)

    threading.setprofile(watch)
    try:
        yield met
    finally:
        threading.setprofile(None)


def test_a_sentence_passes_the_stops_in_the_order_of_the_document(visit):
    stops = documented_stops()
    model_cache.load_in_background("smollm2-135m").result()
    with watched(stops) as met:
        page = visit("explore", text="A sentence that nobody has typed before")
    assert not page.exception
    assert met == stops


def test_a_slider_s_value_passes_the_files_in_the_order_of_the_document(visit):
    """From the box beside the slider, whose callback is that of all widgets; the first stop is a declaration."""
    files = re.findall(r"`([\w/]+\.py)`", section("From a slider to a chart"))
    declared, form, widgets, panel, *computed = [(str(ROOT / "attnviz" / file), "") for file in files]
    assert declared[0].endswith("scaling/choices.py")
    assert len(computed) == 3
    assert computed[0][0].endswith("scaling/maths/variance.py")
    computed[0] = (computed[0][0], "_result")  # where a Result is made; the panel asks this file for limits before
    page = visit("scaling")
    with watched([form, widgets, panel, *computed]) as met:
        page.number_input(key="s_dk").set_value(77).run()
    assert not page.exception
    assert met == [widgets, panel, form, *computed], "the panel asks the form for the number, then computes"
    assert page.query_params["s_dk"] == "77"
