"""What a frame costs while a hand moves something on Start and Explore, in a real browser.

python -m benchmarks.hand                  both pages at 13 and at 60 tokens, in about a minute
python -m benchmarks.hand --lengths 13     one length

A frame's cost is the processor time of the main thread since the frame before, drawing and layout included, in
every frame in which the page drew by itself. Frames in which Streamlit takes in an answer of the server are not the
hand's. Needs Chromium.
"""

import argparse
import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any
from urllib.parse import urlencode

from attnviz.pages.home.choices import EXAMPLE
from benchmarks.driving import FRAME, Tab, traced, worked
from benchmarks.explorer import sentence
from benchmarks.harness import Row, chromium, late, machine, row, served, table

DREW, ANSWERED = "FireAnimationFrame", "WebSocketReceive"
BUDGET = 16.0  #: ms of a frame at the 95th percentile
STEPS = 60  #: of a hand to and fro
GLIDE = 400  #: ms until what was pressed has come to rest


def slide(page: Any, test_id: str, swing: float = 0.35) -> None:
    """Press the middle of something and move to and fro across it, a step in each frame."""
    box = page.get_by_test_id(test_id).first.bounding_box()
    middle = box["y"] + min(box["height"], 24) / 2
    page.mouse.move(box["x"] + box["width"] / 2, middle)
    page.mouse.down()
    for step in range(STEPS):
        page.mouse.move(box["x"] + box["width"] * (0.5 + swing * math.sin(step / 6)), middle)
        page.wait_for_timeout(FRAME)
    page.mouse.up()


def press(page: Any, test_id: str, times: int = 6) -> None:
    """Press something to and fro, and let it come to rest each time."""
    for _ in range(times):
        page.get_by_test_id(test_id).first.click()
        page.wait_for_timeout(GLIDE)


def cross(page: Any, test_id: str) -> None:
    """Move a pointer slantwise across a picture."""
    box = page.get_by_test_id(test_id).first.bounding_box()
    high = min(box["height"], 600)
    for step in range(STEPS):
        page.mouse.move(
            box["x"] + box["width"] * (0.1 + 0.8 * step / STEPS), box["y"] + high * (0.1 + 0.8 * step / STEPS)
        )
        page.wait_for_timeout(FRAME)


#: what a hand does, by the page's address, the name of its sentence in the link, and what it waits for
GESTURES: dict[tuple[str, str, str], dict[str, Callable[[Any], None]]] = {
    ("", "sentence", "ribbons"): {
        "slide the strip of heads": lambda page: slide(page, "heads-strip", 0.45),
        "drag the scale": lambda page: slide(page, "scale"),
        "press the mask": lambda page: press(page, "mask"),
        "unfold and fold": lambda page: press(page, "unfold"),
        "point at ribbons": lambda page: cross(page, "ribbons"),
    },
    ("explore", "text", "heatmap"): {
        "drag the scale": lambda page: slide(page, "scale"),
        "draw in the window": lambda page: slide(page, "earlier", 4),
        "press the mask": lambda page: press(page, "later"),
    },
}


def measure(tab: Tab, url: str, tokens: int) -> Iterator[Row]:
    """What each gesture of both pages costs at one length."""
    text = EXAMPLE if tokens == 13 else sentence(tokens, 1)
    for (path, name, drawn), gestures in GESTURES.items():
        tab.page.goto(f"{url}/{path}?{urlencode({name: text})}")
        tab.page.get_by_test_id(drawn).first.wait_for()
        tab.settle()
        tab.page.wait_for_timeout(3000)  # all heads come by themselves
        for what, gesture in gestures.items():
            spent = worked(traced(tab.page, partial(gesture, tab.page)), DREW, without=ANSWERED)
            reached = f"{late(spent):.1f} ms ({len(spent)} frames, at most {max(spent):.0f})"
            yield row(
                f"{path or 'start'}, {tokens} tokens: {what}", f"{BUDGET:g} ms at 95%", reached, late(spent) <= BUDGET
            )
            tab.settle()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--lengths", type=int, nargs="+", default=(13, 60), help="lengths of the sentences in tokens")
    asked = parser.parse_args()
    print(machine(), flush=True)
    with served() as server, chromium() as browser:
        tab = Tab(browser)
        print(table([each for tokens in asked.lengths for each in measure(tab, server.url, tokens)]))
    print(f"at the end: {machine()}")


if __name__ == "__main__":
    main()
