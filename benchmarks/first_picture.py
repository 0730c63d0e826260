"""When a page can be read, and when its first picture stands: with an empty cache, and turned to by the menu.

python -m benchmarks.first_picture                     every page, three times
python -m benchmarks.first_picture --pages build heads --times 2

Turned to by the menu is what most visitors meet: the browser has read Streamlit's scripts and is connected. The page
before is one of words alone, so that Plotly's script, where a page needs it, is read in that time as well.

Playwright does not know of the tabs: a debugger that follows a page, as Playwright's does, has Chromium read a script
again for each error in it that is caught, which where Plotly's script begins is 0.4 s of processor time that no visitor
has.
"""

import argparse
import json
import os
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any, Self

from attnviz.app.page_entry import Page
from attnviz.serve import page_table
from benchmarks.driving import WINDOW_READY
from benchmarks.harness import chromium, machine, ms, served, table

PARTS = {"words": "heading", "picture": "first picture", "all": "all of it", "turned": "turned to by the menu"}
WORDS_ALONE = "glossary"  #: a page without any picture
UNASKED = 2  #: seconds in which a page opens and is not asked how far it is: each question takes processor time from it
PICTURE_WAIT = 3_000  #: milliseconds after the whole page at which a page counts as one without a picture

# When Streamlit has put a page's heading there, and when its first picture and everything after its script has finished
# are painted. A picture is a chart in which something is plotted, or a canvas or drawing of ours; what is smaller is an
# icon.
FIRST = """
window.first = {};
let [began, place] = [0, ''];  // of a page that is turned to by the menu
const roots = [];  // of components: to walk the page for them in every frame would slow down what is measured
const attach = Element.prototype.attachShadow;
Element.prototype.attachShadow = function (how) {
  const root = attach.call(this, how);
  roots.push(root);
  return root;
};
const big = (node) => {
  const box = node.getBoundingClientRect();
  return box.width >= 120 && box.height >= 40;
};
const pictured = () => {
  for (const chart of document.querySelectorAll('[data-testid=stPlotlyChart] .main-svg'))
    if (chart.querySelector('.cartesianlayer :is(path, image, text)') && big(chart)) return true;
  for (const root of roots)
    for (const drawn of root.querySelectorAll('canvas, svg'))
      if (root.host.closest('[data-testid=stMain]') && big(drawn)) return true;
  return false;
};
const look = () => {
  const app = document.querySelector('[data-testid=stApp]');
  const after = (name) => requestAnimationFrame(() => { first[name] ??= performance.now() - began; });
  if (!location.pathname.endsWith(place)) return requestAnimationFrame(look);
  if (!first.words && document.querySelector('[data-testid=stMain] h1, [data-testid=stMain] h2')) after('words');
  if (!first.picture && pictured()) after('picture');
  if (!first.all && first.words && app?.dataset.testScriptState === 'notRunning') after('all');
  if (!first.all || !first.picture) requestAnimationFrame(look);
};
requestAnimationFrame(look);
window.turn = (name) => {  // on a page of words, where no picture has come and `look` still looks
  [window.first, began, place] = [{}, performance.now(), `/${name}`];
  document.querySelector(`[data-testid=stSidebar] a[href*="${name}"]`).click();
};
"""


def one_paint(browser: Any, url: str) -> dict[str, float]:
    """Milliseconds from navigation to the heading, a picture if there is one, and the whole page; an empty cache."""
    with Unwatched(browser) as tab:
        tab.visit(url)
        tab.until("window.first.picture", PICTURE_WAIT)
        seen: dict[str, float] = tab.evaluate("window.first")
    return seen


def turned_to(browser: Any, url: str, name: str) -> float | None:
    """Milliseconds from a click on the menu of a page of words until the first picture of page `name`, if it has one.

    In a browser that has opened nothing else.
    """
    with Unwatched(browser) as tab:
        tab.visit(f"{url}/{WORDS_ALONE}")
        time.sleep(1)  # a visitor reads
        tab.evaluate(f"turn('{name}')")
        time.sleep(UNASKED)
        tab.until("window.first.picture", 2 * PICTURE_WAIT)
        turned: float | None = tab.evaluate("window.first.picture")
    return turned


class Unwatched:
    """A tab with an empty cache, to which commands are sent one by one and of which no event is asked for."""

    def __init__(self, browser: Any) -> None:
        self.cdp = browser.new_browser_cdp_session()
        self.answers: dict[int, dict[str, Any]] = {}
        self.cdp.on("Target.receivedMessageFromTarget", self._take)

    def __enter__(self) -> Self:
        self.context = self.cdp.send("Target.createBrowserContext")["browserContextId"]
        made = self.cdp.send("Target.createTarget", {"url": "about:blank", "browserContextId": self.context})
        attached = self.cdp.send("Target.attachToTarget", {"targetId": made["targetId"], "flatten": False})
        self.session = attached["sessionId"]
        return self

    def __exit__(self, *_: object) -> None:
        self.cdp.send("Target.disposeBrowserContext", {"browserContextId": self.context})
        self.cdp.detach()

    def visit(self, url: str) -> None:
        """Open an address in this tab, whose window has come to rest, until all of the page is there."""
        self.send("Emulation.setDeviceMetricsOverride", width=1440, height=900, deviceScaleFactor=1, mobile=False)
        self.send("Page.enable")
        self.send("Page.addScriptToEvaluateOnNewDocument", source=FIRST)
        time.sleep(WINDOW_READY)
        self.send("Page.navigate", url=url)
        time.sleep(UNASKED)
        self.until("window.first?.all", 60_000)

    def send(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a command and wait for its answer."""
        number = len(self.answers) + 1
        message = json.dumps({"id": number, "method": method, "params": params})
        self.cdp.send("Target.sendMessageToTarget", {"sessionId": self.session, "message": message})
        while number not in self.answers:
            self.cdp.send("Browser.getVersion")  # Playwright hears of answers while it waits for one
        return self.answers[number]

    def evaluate(self, expression: str) -> Any:
        """The value of an expression in the page."""
        answer = self.send("Runtime.evaluate", expression=expression, returnByValue=True)
        return answer.get("result", {}).get("result", {}).get("value")

    def until(self, expression: str, patience: int) -> None:
        """Wait until an expression is true in the page, for at most `patience` milliseconds."""
        end = time.monotonic() + patience / 1000
        while not self.evaluate(expression) and time.monotonic() < end:
            time.sleep(0.1)

    def _take(self, event: dict[str, Any]) -> None:
        answer = json.loads(event["message"])
        if event["sessionId"] == self.session and "id" in answer:
            self.answers[answer["id"]] = answer


def seen(browser: Any, url: str, page: Page) -> dict[str, float]:
    """What one page takes, once."""
    taken = one_paint(browser, url if page.is_home else f"{url}/{page.name}")
    turned = None if page.is_home or page.name == WORDS_ALONE else turned_to(browser, url, page.name)
    return taken if turned is None else taken | {"turned": turned}


def bare(browser: Any, times: int) -> dict[str, str]:
    """The row of a Streamlit script of one heading, on a server of its own: below that no page can come."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "bare.py")
        script.write_text('import streamlit as st\nst.title("Attention")\n')
        with served(script) as server:
            return row("a heading alone, without this app", [one_paint(browser, server.url) for _ in range(times + 1)])


def row(name: str, seen: list[dict[str, float]]) -> dict[str, str]:
    """The medians of what was seen each time but the first; a page without a picture has none."""
    _, *counted = seen
    said = {"page": name}
    for part, heading in PARTS.items():
        said[heading] = ms(median(each[part] for each in counted)) if all(part in each for each in counted) else ""
    return said | {"load": f"{os.getloadavg()[0]:.1f}"}


def main() -> None:
    names = [page.name for page in page_table.PAGES]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--times", type=int, default=3, help="how often each page is opened")
    parser.add_argument("--pages", nargs="+", default=names, help="names in addresses")
    asked = parser.parse_args()
    print(machine(), flush=True)
    with served() as server, chromium() as browser:
        rows = [bare(browser, asked.times)]
        for page in (page for page in page_table.PAGES if page.name in asked.pages):
            rows.append(row(page.name, [seen(browser, server.url, page) for _ in range(asked.times + 1)]))
            print("\t".join(rows[-1].values()), flush=True)
    print("\n" + table(rows))


if __name__ == "__main__":
    main()
