"""A real server and a real Chromium. Without Chromium these tests are skipped with a reason; in CI they fail.

A browser test takes five to thirty seconds, and `make check` has four minutes: it runs those marked `every_commit`,
which are the app's promise and the main path of each page. All the others count as slow.
"""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, Self
from urllib.parse import urlsplit

import pytest

from tests.browser import longer_words
from tests.waiting import until

__all__ = ["until"]  # for conditions that Playwright cannot wait for

ROOT = Path(__file__).parents[2]
#: without windows of its own, where there is one: it takes a sixth less processor time for each page
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser")
CHROMIUM = os.environ.get("ATTNVIZ_CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--font-render-hinting=none",  # else letters are wider where there are no windows
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # One process for all pages of a context: what it has compiled serves the next page, too.
    "--process-per-site",
    # No request leaves this machine: no other name has an address.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = [item for item in items if Path(item.fspath).is_relative_to(Path(__file__).parent)]
    for item in here:
        item.add_marker(pytest.mark.browser)
        if not item.get_closest_marker("every_commit"):
            item.add_marker(pytest.mark.slow)
    if CHROMIUM or not here:
        return
    if os.environ.get("CI"):
        raise pytest.UsageError("CI needs Chromium: browser tests never skip there")
    warnings.warn(f"NO CHROMIUM: {len(here)} browser tests are skipped, pages are NOT checked", stacklevel=1)
    for item in here:
        item.add_marker(pytest.mark.skip(reason="no Chromium on this machine"))


class Server:
    """One `streamlit run` of a script, on a port of its own.

    `env`: the whole environment, else this one's, in which nothing is asked of the hub. `port`: else a free one.
    """

    def __init__(
        self,
        script: Path,
        log: Path,
        python: Path | str = sys.executable,
        base_path: str = "",
        cwd: Path = ROOT,
        env: dict[str, str] | None = None,
        port: int = 0,
    ) -> None:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", port))
            port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}/{base_path}".rstrip("/")
        self.log = log
        env = os.environ | {"HF_HUB_OFFLINE": "1"} if env is None else env
        options = ["--server.port", str(port)]
        if base_path:
            options += ["--server.baseUrlPath", base_path]
        if cwd == ROOT:
            env |= {"PYTHONPATH": str(ROOT)}
        else:  # where our own configuration does not reach
            options += ["--server.address", "127.0.0.1", "--server.headless", "true"]
            options += ["--server.fileWatcherType", "none", "--browser.gatherUsageStats", "false"]
        self.process = subprocess.Popen(
            [str(python), "-m", "streamlit", "run", str(script), *options],
            cwd=cwd,
            env=env,
            stdout=log.open("w"),
            stderr=subprocess.STDOUT,
        )
        self._wait()

    def _wait(self) -> None:
        for _ in range(300):
            try:
                if urllib.request.urlopen(self.url + "/_stcore/health", timeout=1).status == 200:
                    return
            except OSError:
                time.sleep(0.1)
            if self.process.poll() is not None:
                break
        raise RuntimeError(f"the server did not start:\n{self.log.read_text()}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Server]]:
    """`servers(script)` starts a server for a script, that of the app for none, once.

    The app speaks one language more, whose words are longer (longer_words.py), and keeps its rooms in a folder.
    """
    running: dict[Path | None, Server] = {}

    def start(script: Path | None = None) -> Server:
        if script not in running:
            folder = tmp_path_factory.mktemp("server")
            env = os.environ | {"HF_HUB_OFFLINE": "1", "ATTNVIZ_ROOMS": str(folder / "rooms")}
            running[script] = Server(
                script or longer_words.script(folder, ROOT / "app.py"), folder / "log.txt", env=env
            )
        return running[script]

    yield start
    for server in running.values():
        server.stop()


@pytest.fixture(scope="session")
def server_url(servers: Callable[..., Server]) -> str:
    """The address of the app."""
    return servers().url


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield chromium
        chromium.close()


#: Milliseconds: a page of a machine that does much else may take a quarter of a minute.
PATIENCE = 45_000


#: Marks a page from what it asks Streamlit for until the end of the run that answers it has been seen. Streamlit itself
#: says nothing before the server begins, which takes its time on a busy machine. By the fields of its messages.
#: What is asked of a fragment that has gone meanwhile is never answered: after eight seconds nothing is waited for.
_ASKED = """(() => {
    const [RERUN, BEGUN, ENDED, HASH, METADATA] = [11, 4, 6, 1, 2];
    const UNANSWERED = 8000;
    const asked = (is) => document.documentElement.toggleAttribute("data-asked", is);
    const field = (bytes) => {
        let at = 0;
        while (bytes[at] >> 3 === HASH || bytes[at] >> 3 === METADATA) {
            let [size, shift] = [0, 0];
            do { at += 1; size |= (bytes[at] & 127) << shift; shift += 7; } while (bytes[at] & 128);
            at += 1 + size;
        }
        return bytes[at] >> 3;
    };
    let [begun, giveUp] = [false, 0];
    const hear = ({data}) => {
        const said = data instanceof ArrayBuffer ? field(new Uint8Array(data)) : null;
        if (said === BEGUN) begun = true;
        if (said === ENDED && begun) requestAnimationFrame(() => requestAnimationFrame(() => begun && asked(false)));
    };
    globalThis.WebSocket = class extends WebSocket {
        constructor(...where) {
            super(...where);
            this.addEventListener("message", hear);
        }
        send(data) {
            if (data instanceof Uint8Array && field(data) === RERUN) {
                begun = !asked(true);
                clearTimeout(giveUp);
                giveUp = setTimeout(() => begun || asked(false), UNANSWERED);
            }
            super.send(data);
        }
    };
})()"""


def answered(page: Any) -> None:
    """Wait until no script is running, and what the page has asked for is answered."""
    page.locator("html:not([data-asked]) [data-test-script-state=notRunning]").wait_for(timeout=60_000)


def listening(page: Any) -> None:
    """Wait until the page's keys are heard: what listens to them comes after the first words."""
    page.locator(".st-key-presenter [data-ready=true]").wait_for(state="attached", timeout=60_000)


def at_rest(page: Any, *drawn: str) -> None:
    """Wait until a page that was gone to has its heading, hears keys, and has drawn itself and what these select."""
    page.locator("h1, h2, h3").first.wait_for(state="attached", timeout=60_000)
    listening(page)
    for selector in drawn:
        page.locator(selector).first.wait_for(timeout=120_000)
    answered(page)
    page.locator("[data-testid=stSkeleton]").first.wait_for(state="detached", timeout=60_000)


GROUND = {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 22, 28)"}
QUIET_FOR = 250  #: ms
_STILL = """([ground, quiet]) => new Promise((done, fail) => {
    const app = document.querySelector("[data-testid=stApp]");
    let [changed, began, frames, last] = [performance.now(), performance.now(), 0, () => ""];
    const moved = (what) => [changed, frames, last] = [performance.now(), 0, what];
    const watcher = new MutationObserver(([{target, type, attributeName}]) =>  // told where it is asked for: it is long
        moved(() => `${type} ${attributeName} of ${target.parentElement?.outerHTML.slice(0, 200)}`));
    let frame = requestAnimationFrame(function count() { frames += 1; frame = requestAnimationFrame(count); });
    watcher.observe(document.body, {subtree: true, childList: true, attributes: true, characterData: true});
    const fading = () => document.getAnimations().some((each) => each.playState === "running" &&
        each.effect.getComputedTiming().endTime !== Infinity);
    const gliding = () => [...document.querySelectorAll(".stBidiComponent *")].some(({ shadowRoot }) =>
        shadowRoot?.querySelector("[data-gliding]"));
    let main = document.querySelector("[data-testid=stMain]"), [high, wide, far] = [0, 0, 0];
    const timer = setInterval(() => {
        const now = performance.now();
        const moves = {
            ground: getComputedStyle(app).backgroundColor !== ground,
            running: app.dataset.testScriptState !== "notRunning" || document.querySelector("html[data-asked]"),
            skeleton: document.querySelector("[data-testid=stSkeleton]"), fading: fading(), gliding: gliding(),
            size: main.scrollHeight !== high || main.scrollWidth !== wide, scrolled: main.scrollTop !== far,
        };
        const movers = Object.keys(moves).filter((name) => moves[name]);
        const [was, is] = [[high, wide, far], [main.scrollHeight, main.scrollWidth, main.scrollTop]];
        if (movers.length) moved(() => `${movers} from ${was}`);
        [high, wide, far] = is;
        if ((now - changed < quiet || frames < 3) && now - began < 60_000) return;
        clearInterval(timer);
        cancelAnimationFrame(frame);
        watcher.disconnect();
        if (now - changed < quiet) fail(new Error(`the page never stood still: ${last()}`)); else done();
    }, 25);
})"""


def still(page: Any, theme: str = "light") -> None:
    """Wait until the page wears a theme's ground, all is answered, and nothing fades, grows, scrolls or changes.

    Three frames have been drawn since: a busy machine may draw none for longer than a page is to be quiet.
    """
    page.evaluate(_STILL, [GROUND[theme], QUIET_FOR])


def resized(page: Any, width: int, height: int, theme: str = "light") -> None:
    """Make the window so large, and wait until nothing moves."""
    page.set_viewport_size({"width": width, "height": height})
    still(page, theme)


_ANOTHER = """address => new Promise((done) => {
    const app = document.querySelector("[data-testid=stApp]");
    new MutationObserver((_changes, watcher) => {
        if (app.dataset.testScriptState === "notRunning") return;
        watcher.disconnect();
        done(true);
    }).observe(app, {attributes: true});
    history.pushState({}, "", address);
    dispatchEvent(new PopStateEvent("popstate", {state: {}}));
    setTimeout(() => done(false), 10_000);
})"""


def another_view(page: Any, address: str) -> None:
    """Open another view of the page that is open, as Back does: nothing is loaded again unless it must."""
    if not page.evaluate(_ANOTHER, address):
        page.goto(address)
    answered(page)


def cut_off(page: Any) -> None:
    """Take the network away, when the script of charts has come, which a page without charts reads ahead."""
    page.evaluate(
        """async () => {
            const ahead = document.querySelector("script[data-ahead]")?.dataset.ahead;
            if (ahead) await import(new URL(ahead, document.baseURI).href);  // with all that it imports
        }"""
    )
    page.wait_for_load_state("networkidle")
    page.context.set_offline(True)


def widest(page: Any) -> int:
    """Pixels that the page takes across. Streamlit's main part scrolls by itself: the document never gets wider."""
    pixels: int = page.evaluate(
        """() => Math.max(...[document.documentElement, document.querySelector("[data-testid=stMain]")]
            .map((box) => box?.scrollWidth ?? 0))"""
    )
    return pixels


class Watched:
    """Errors in the browser's console, and requests to other machines, while a test ran."""

    def __init__(self) -> None:
        self.errors: list[str] = []
        self.outside: list[str] = []

    def follow(self, page: Any) -> None:
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", self._console)
        page.on("request", self._request)

    def _console(self, message: Any) -> None:
        # On a page's own address Streamlit first looks for its server under that path, fails, and then finds it.
        looking = message.location.get("url", "").endswith(("/_stcore/health", "/_stcore/host-config"))
        if message.type == "error" and not looking:
            self.errors.append(message.text + " " + str(message.location.get("url")))

    def _request(self, request: Any) -> None:
        local = ("http://127.0.0.1", "http://localhost", "ws://127.0.0.1", "ws://localhost", "data:", "blob:", "file:")
        if not request.url.startswith(local):
            self.outside.append(request.url)


#: What a browser keeps for a visitor from page to page, but for the files that it has read.
KEPT_OF_A_VISITOR = "cookies,local_storage,indexeddb,service_workers"
# wait_for_function evaluates text, which the app's policy refuses; test_served.py obeys the policy.
USUAL: dict[str, Any] = {"accept_downloads": True, "bypass_csp": True}
#: What visitors with the same of these may share; whoever wants anything else has a context of his own.
LIKE = {"locale", "has_touch", "is_mobile", "reduced_motion"}


class Windows:
    """Pages for one test after the other.

    They share one context for each language and kind of device, which has read and compiled the app's scripts, and
    its process, which a page that shows nothing keeps running between two tests: a page opens in a third of the
    processor time. What a visitor's browser keeps is forgotten between them. A stranger, who has read nothing, has a
    context of his own, and so has whoever wants it otherwise.
    """

    _shared: ClassVar[dict[Any, Any]] = {}  #: the context of each browser and what is wanted

    def __init__(self, browser: Any) -> None:
        self.browser = browser
        self.watched = Watched()
        self.own: list[Any] = []  #: contexts
        self.pages: list[Any] = []

    def make(
        self, width: int = 1440, height: int = 900, dark: bool = False, stranger: bool = False, **more: Any
    ) -> Any:
        scheme, size = "dark" if dark else "light", {"width": width, "height": height}
        if stranger or not more.keys() <= LIKE:
            self.own.append(self._context(viewport=size, color_scheme=scheme, **more))
            page = self.own[-1].new_page()
        else:
            page = self._usual(more).new_page()
            page.set_viewport_size(size)
            page.emulate_media(color_scheme=scheme)
            self.pages.append(page)
        page.set_default_timeout(PATIENCE)
        page.add_init_script(_ASKED)
        self.watched.follow(page)
        return page

    def _context(self, **wanted: Any) -> Any:
        return self.browser.new_context(**USUAL | wanted)

    def _usual(self, more: dict[str, Any]) -> Any:
        wanted = (self.browser, *sorted(more.items()))
        context = self._shared.get(wanted)
        if context is None:
            context = self._shared[wanted] = self._context(**more)
            keeps_running = context.new_page()
            keeps_running.route("**/*", lambda route: route.fulfill(body=""))
            keeps_running.goto("http://127.0.0.1/")  # a process is a site's: whatever the port
        context.set_offline(False)
        context.clear_permissions()
        return context

    def close(self) -> None:
        for context in self.own:
            context.close()
        for page in self.pages:
            if not page.is_closed():
                self._forget(page)
                page.close()

    def _forget(self, page: Any) -> None:
        address = urlsplit(page.url)
        if address.scheme.startswith("http"):
            wire = page.context.new_cdp_session(page)
            origin = f"{address.scheme}://{address.netloc}"
            wire.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": KEPT_OF_A_VISITOR})


@contextmanager
def windows(browser: Any) -> Iterator[Callable[..., Any]]:
    """`make(width=, height=, dark=)`: a page for a visitor whom the app has not seen.

    In the end no page may have logged an error or sent a request off this machine.
    """
    opened = Windows(browser)
    try:
        yield opened.make
    finally:
        opened.close()
    assert not opened.watched.errors, f"the browser's console has errors: {opened.watched.errors}"
    assert not opened.watched.outside, f"requests left the machine: {opened.watched.outside}"


@pytest.fixture
def new_page(browser: Any) -> Iterator[Callable[..., Any]]:
    """`new_page(width=, height=, dark=)`: a page for one test, of a visitor whom the app has not seen."""
    with windows(browser) as make:
        yield make


@pytest.fixture
def opened(server_url: str, new_page: Callable[..., Any]) -> Callable[..., Any]:
    """`opened("masks?m_word=3", "[data-testid=mask]", dark=True)`: a page at rest, and what is drawn on it there."""

    def open_it(view: str = "", *drawn: str, **window: Any) -> Any:
        page = new_page(**window)
        page.goto(f"{server_url}/{view}")
        at_rest(page, *drawn)
        return page

    return open_it
