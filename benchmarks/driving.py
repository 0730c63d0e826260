"""Drive a page of the app in Chromium and measure times and bytes. All times come from the browser's own clock."""

import bisect
import collections
import json
import math
import random
from collections.abc import Callable
from typing import Any

from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

# painted: the second animation frame after a drawing, when the page leaves its mark; start: when the last click or key
# came in. Both in milliseconds of the browser's own clock.
CLOCKS = """
window.clocks = {start: 0, painted: []};
for (const name of ['click', 'keydown']) addEventListener(name, (e) => { clocks.start = e.timeStamp; }, true);
const mark = performance.mark.bind(performance);
performance.mark = (name, options) => {
  if (name.endsWith('-painted')) clocks.painted.push([name, performance.now(), options?.detail]);
  return mark(name, options);
};
"""

# An empty page that draws next to nothing at each click, on the same clock.
EMPTY = """<!doctype html><canvas width="200" height="200" style="border: 1px solid"></canvas><script>
const taken = [];
addEventListener('click', (event) => {
  document.querySelector('canvas').getContext('2d').fillRect(Math.random() * 200, 50, 9, 9);
  requestAnimationFrame(() => requestAnimationFrame(() => taken.push(performance.now() - event.timeStamp)));
});
</script>"""
# What is painted under a name: the mark that it left says so.
LATEST = "(name) => performance.getEntriesByName(name, 'mark').at(-1)?.detail ?? null"
OVERVIEW, HEAD = "attnviz-overview-painted", "attnviz-head-painted"

WINDOW_READY = 3  #: seconds in which Chromium reads the pages of a new window itself: its address bar's are 430 files
POINTED = 250  # milliseconds that a hand rests on a tile before it clicks
CHANCE = random.Random(12)
FRAME = 15  # milliseconds between two moves of a hand, a little less than a frame

TO_THE_MIDDLE = """
(stage, [right, down]) => {  // the overview of a deep model has a window of its own within the page
  const tile = document.createElement("i");
  tile.style.cssText = `position: absolute; left: ${right}px; top: ${down}px; width: 1px; height: 1px`;
  stage.append(tile);
  tile.scrollIntoView({ block: "center", behavior: "instant" });
  const { x, y } = tile.getBoundingClientRect();
  tile.remove();
  return [x, y];
}
"""
CATEGORIES = ["toplevel", "devtools.timeline", "disabled-by-default-devtools.timeline", "blink.user_timing"]
EDIT = "attnviz-edit"  # what the page calls the work of a frame in which the edit moved


def worked(events: list[dict[str, Any]], name: str = EDIT, *, without: str | None = None) -> list[float]:
    """Milliseconds of processor time of a page's main thread for each frame that has an event `name`.

    From Chromium's trace: a frame's share is everything since the frame before, its own drawing and layout included.
    Frames with an event `without`, and the two after each, do not count.
    """
    edits = [event for event in events if event["name"] == name]
    if not edits:
        return []
    pid = collections.Counter(event["pid"] for event in edits).most_common(1)[0][0]
    fired = sorted(event["ts"] for event in events if event["pid"] == pid and event["name"] == "FireAnimationFrame")
    tasks = sorted(
        (event["ts"], event["ts"] + event["dur"], event.get("tdur", event["dur"]))
        for event in events
        if event["pid"] == pid and event["name"] == "RunTask" and "dur" in event
    )
    ends = [end for start, end, _ in tasks if bisect.bisect_left(fired, start) < bisect.bisect_right(fired, end)]
    spent: collections.Counter[int] = collections.Counter()
    for _, end, taken in tasks:
        spent[bisect.bisect_left(ends, end)] += taken
    moved = {bisect.bisect_left(ends, event["ts"]) for event in edits if event["pid"] == pid}
    others = [
        bisect.bisect_left(ends, event["ts"]) for event in events if event["pid"] == pid and event["name"] == without
    ]
    moved -= {number + after for number in others for after in range(3)}
    return [spent[number] / 1000 for number in sorted(moved) if number < len(ends)]


def traced(page: Any, act: Callable[[], None]) -> list[dict[str, Any]]:
    """What Chromium did while `act` ran, of the page's main thread."""
    browser = page.context.browser
    browser.start_tracing(page=page, categories=CATEGORIES)
    act()
    events: list[dict[str, Any]] = json.loads(browser.stop_tracing())["traceEvents"]
    mains = {
        (event["pid"], event["tid"])
        for event in events
        if event["name"] == "thread_name" and event["args"].get("name") == "CrRendererMain"
    }
    return [event for event in events if (event["pid"], event["tid"]) in mains]


def move_scale(page: Any, steps: int) -> None:
    """Drag the scale of the head on show to and fro, a step in each frame."""
    handle = page.get_by_test_id("scale").first
    handle.scroll_into_view_if_needed()
    box = handle.bounding_box()
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] / 2, middle)
    page.mouse.down()
    for step in range(steps):
        page.mouse.move(box["x"] + box["width"] * (0.5 + 0.35 * math.sin(step / 9)), middle)
        page.wait_for_timeout(FRAME)
    page.mouse.up()


def click(page: Any, at: tuple[float, float]) -> None:
    """Click a place, anywhere within a frame.

    A browser answers a moved pointer at its next frame, and a tool that waits for that, or for a still page, always
    clicks just after a frame, from where two frames are the longest. A hand does not.
    """
    page.mouse.move(*at)
    page.wait_for_timeout(CHANCE.uniform(0, 2 * FRAME))
    page.mouse.down()
    page.mouse.up()


def floor(browser: Any, times: int) -> list[float]:
    """What the clock reads on an empty page at a real click, in milliseconds."""
    page = browser.new_page()
    page.set_content(EMPTY)
    page.wait_for_timeout(1000 * WINDOW_READY)
    for number in range(times):
        click(page, (40 + 7 * number % 300, 60))
        page.wait_for_function(f"taken.length === {number + 1}")
    taken = page.evaluate("taken")
    page.close()
    return [float(each) for each in taken]


class Tab:
    """One visitor's browser tab, which records everything that it receives."""

    def __init__(self, browser: Any) -> None:
        self.context = browser.new_context(bypass_csp=True, viewport={"width": 1440, "height": 900})
        self.page = self.context.new_page()
        self.page.set_default_timeout(120_000)
        self.page.add_init_script(CLOCKS)
        self.frames: list[bytes] = []
        self.fetched = 0
        self.page.on("websocket", lambda socket: socket.on("framereceived", self._frame))
        network = self.context.new_cdp_session(self.page)
        network.send("Network.enable")
        network.on("Network.loadingFinished", self._fetch)

    def _frame(self, payload: bytes | str) -> None:
        self.frames.append(payload.encode() if isinstance(payload, str) else payload)

    def _fetch(self, event: dict[str, Any]) -> None:
        self.fetched += int(event["encodedDataLength"])

    @property
    def nbytes(self) -> int:
        """Bytes received since the last `clear`."""
        return sum(map(len, self.frames)) + self.fetched

    def bytes_of(self, component: str) -> int:
        """Bytes of the messages that carry `component`, whole messages included."""
        return sum(len(frame) for frame in self.frames if component in carried(frame))

    def clear(self) -> None:
        """Reset the recorded times and bytes."""
        self.frames.clear()
        self.fetched = 0
        self.page.evaluate("Object.assign(clocks, {start: 0, painted: []})")

    def settle(self) -> None:
        """Wait until the page's script has finished and nothing more is drawn."""
        self.page.wait_for_timeout(150)
        self.page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for()
        self.page.wait_for_timeout(200)

    def open(self, url: str) -> None:
        """Open the explorer and wait until its first head is drawn."""
        self.page.goto(url)
        self.page.get_by_test_id("heatmap").first.wait_for()
        self.settle()

    def read(self, text: str) -> dict[str, float]:
        """Type a sentence; returns milliseconds from the last key until its overview and its head are painted."""
        shown = {name: self.page.evaluate(LATEST, name) for name in (OVERVIEW, HEAD)}
        self.clear()
        area = self.page.get_by_label("Sentence", exact=True)
        area.fill(text)
        area.press("Control+Enter")
        for name, earlier in shown.items():
            self._until(name, earlier)
        self.settle()
        return {name: self._first(name, earlier) for name, earlier in shown.items()}

    def pick(self, number: int, pointed: bool = False) -> float:
        """Click a tile; returns milliseconds from the click until the head is painted.

        With `pointed` the pointer rests on the tile first, as a hand's does; else it lands there with the click.
        """
        stage = self.page.get_by_test_id("overview")
        wide, high, places = json.loads(stage.get_attribute("data-tiles"))
        at = tuple(stage.evaluate(TO_THE_MIDDLE, [places[number][0] + wide / 2, places[number][1] + high / 2]))
        self.page.wait_for_timeout(100)
        self.page.mouse.move(3, 3)
        if pointed:
            self.page.mouse.move(*at)
            self.page.wait_for_timeout(POINTED)
        self.clear()
        click(self.page, at)
        self._until(HEAD)
        painted = self._first(HEAD)
        self.settle()
        return painted

    def drag(self) -> list[float]:
        """Drag the scale of the head on show to and fro; what each frame in which it moved cost."""
        worked_in = worked(traced(self.page, lambda: move_scale(self.page, 90)))
        self.settle()
        return worked_in

    def _until(self, name: str, earlier: str | None = None) -> None:
        """Wait until something of this name is painted that is not what stood there earlier, painted again."""
        self.page.wait_for_function(
            "([name, earlier]) => clocks.painted.some((p) => p[0] === name && p[2] !== earlier)", arg=[name, earlier]
        )

    def _first(self, name: str, earlier: str | None = None) -> float:
        clocks = self.page.evaluate("clocks")
        found = (at for named, at, what in clocks["painted"] if named == name and what != earlier)
        return next(found, float("nan")) - float(clocks["start"])


def carried(frame: bytes) -> str:
    """The name of the component that a message to the browser carries; empty if there is none."""
    message = ForwardMsg()
    try:
        message.ParseFromString(frame)
    except Exception:  # other messages than Streamlit's carry no component
        return ""
    return str(message.delta.new_element.bidi_component.component_name)
