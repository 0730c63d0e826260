"""A typed sentence passes through the ten functions that ARCHITECTURE.md lists, in that order."""

from __future__ import annotations

import re
import threading
from pathlib import Path

from attnviz.ui.shared import model_cache

ROOT = Path(__file__).parents[2]


def documented_stops():
    """(file, function) of each stop in ARCHITECTURE.md; the function is empty for a stop that is a whole file."""
    section = re.split(r"(?m)^## ", (ROOT / "ARCHITECTURE.md").read_text("utf-8"))
    way = next(part for part in section if part.startswith("The way of a sentence to a pixel"))
    stops = re.findall(r"(?m)^\d+\. (?:`([\w/]+\.py)`(?:, `(\w+)`)?)?", way)
    assert len(stops) == 10
    return [(str(ROOT / "attnviz" / file), name) for file, name in stops if file]


def test_a_sentence_passes_the_stops_in_the_order_of_the_document(visit):
    stops, met = documented_stops(), []
    model_cache.preload("smollm2-135m")

    def watch(frame, event, _argument):
        if event == "call":
            file, name = frame.f_code.co_filename, frame.f_code.co_name
            stop = next((s for s in stops if s in ((file, name), (file, ""))), None)
            if stop is not None and stop not in met:
                met.append(stop)

    threading.setprofile(watch)
    try:
        page = visit("explore", text="A sentence that nobody has typed before")
    finally:
        threading.setprofile(None)
    assert not page.exception
    assert met == stops
