"""What one visitor can make a server do, each thing at its largest: a real server in little memory, which others use.

The limit on its memory is the kernel's: a server that asks for more than half a gigabyte above what it takes
at rest cannot have it. What a message costs is read from the kernel too: the processor's time and the greatest
memory of the server's process while it is answered, so that a busy machine fails nothing.
"""

import asyncio
import base64
import json
import os
import re
import sys
import zlib
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState

from attnviz.app.links import link_reading
from attnviz.app.links.choices import Choice, page_choices
from attnviz.serve import incoming, page_table  # noqa: F401
from attnviz.serve.page_table import NAMES as PAGES
from attnviz.serve.process_limits import MOST_FILES
from benchmarks.load.visitor import Visitor
from tests.browser.conftest import ROOT, Server
from tests.own_thread import in_own_thread
from tests.serve.test_incoming import run, state

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="processes are measured and limited as Linux does it"),
]
MOST_SECONDS = 0.5  #: of the processor, for one message
MOST_BYTES = 64_000_000  #: above the greatest that the server took before
ABOVE_REST = 512_000_000
STACKS = 320_000_000  #: what is asked for and not taken: threads' stacks, and heaps of which pages were given back
#: What whoever serves from so little memory must say: what may be kept, and when long work is refused. By itself
#: a server takes 576 MB for passes; at its limit no script of a page can begin or end any more, and nobody is answered.
SMALL = {"ATTNVIZ_RUNS_MB": "150", "ATTNVIZ_PROCESS_MB": "900"}
MOST_SECONDS_OF_LINK = 12  #: of the processor: a small training, and twenty steps of a model
#: More than of a message: 4,096 keys whose d_k grows to 4,096 are 67 MB of numbers, and what a thread's heap keeps of
#: freed numbers comes on top: the same links rose by 57 to 165 MB beside other work.
MOST_BYTES_OF_LINK = 256_000_000
#: Of a page that patches a model's passes over as many tokens as may be (measured 344 to 402 MB).
OF_PASSES = {"why": 512_000_000}
LONG = 15_000  #: characters: an address has at most 16,000
LEFT_OUT = {"model", "model_b"}  #: another model is loaded in the line, as the owner allows it
SECTIONS = 3  #: of a page that has no choice of its sections: so many ids of each choice are tried
FILES = 256  #: that the server may open as it is started


class Limited(Server):
    """A server that may open few files as it starts, and afterwards have little more memory than it has by then."""

    at_rest = 0  #: bytes of its own that it has kept when it was limited first

    def field(self, name: str) -> int:
        """A number of bytes that Linux says of the process."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition(f"{name}:")[2].split()[0]) * 1024

    def seconds(self) -> float:
        """Of the processor, so far."""
        user, system = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def forget_greatest(self) -> None:
        Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")

    def limit(self) -> None:
        """Let it ask for so much more than it has asked for by now: an allocator gives back nothing it was given."""
        import resource

        self.at_rest = self.at_rest or self.field("RssAnon")
        most = self.field("VmData") + ABOVE_REST + STACKS
        resource.prlimit(self.process.pid, resource.RLIMIT_DATA, (most, resource.RLIM_INFINITY))

    async def rests(self) -> None:
        """Wait until no thread of it wants a processor, at five looks one after the other."""
        quiet = 0
        for _ in range(3_000):
            quiet = 0 if any(map(_runs, Path(f"/proc/{self.process.pid}/task").iterdir())) else quiet + 1
            if quiet == 5:
                return
            await asyncio.sleep(0.02)
        raise AssertionError("the server never comes to rest")


def _runs(thread: Path) -> bool:
    with suppress(OSError):  # it has just ended
        return (thread / "stat").read_text().rpartition(")")[2].split()[0] in "RD"
    return False


@contextmanager
def limited(folder: Path) -> Iterator[Limited]:
    """A hosted server that has shown some pages and is limited from then on."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, hard))
    env = os.environ | {"ATTNVIZ_HOSTED": "1", "HF_HUB_OFFLINE": "1"} | SMALL
    try:
        made = Limited(ROOT / "app.py", folder / "log.txt", env=env)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    with made as server:
        in_own_thread(asyncio.run, opened(server))
        server.limit()
        yield server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Limited]:
    with limited(tmp_path_factory.mktemp("limited")) as made:
        yield made


@pytest.fixture(scope="module")
def server_of_links(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Limited]:
    """One of its own: what messages left behind would have long work refused, which costs nothing."""
    with limited(tmp_path_factory.mktemp("limited")) as made:
        yield made


async def opened(server: Limited) -> None:
    """Let a visitor see pages, so that what is made for a first one is there."""
    for page in ("home", "explore", "pictures", "home"):
        visitor = Visitor(server.url)
        await visitor.enter(page)
        await visitor.leave()
    await server.rests()


def widgets(*states: WidgetState) -> BackMsg:
    message = run()
    message.rerun_script.widget_states.widgets.extend(states)
    return message


def names(count: int) -> BackMsg:
    message = BackMsg()
    message.file_urls_request.file_names.extend([""] * count)
    return message


def with_hashes() -> BackMsg:
    message = run()
    message.rerun_script.cached_message_hashes.extend([""] * 490_000)
    return message


def about_itself() -> BackMsg:
    message = run()
    message.rerun_script.context_info.url = "http://127.0.0.1/" + "x" * 990_000
    return message


KINDS = [field.name for field in BackMsg.DESCRIPTOR.oneofs_by_name["type"].fields]
TYPES = [field.name for field in WidgetState.DESCRIPTOR.oneofs_by_name["value"].fields]
ID = "$$ID-0123456789-x"
#: every kind of message and of a widget's value, as large as a message may be; those of widgets as large as they may be
MESSAGES: dict[str, Callable[[], BackMsg]] = {
    **{kind: partial(BackMsg, **{kind: True}) for kind in KINDS if BackMsg.DESCRIPTOR.fields_by_name[kind].type == 8},
    "names": lambda: names(490_000),
    "names, in a message that is too large": lambda: names(9_000_000),
    "widgets": lambda: widgets(*[WidgetState()] * 490_000),
    "a page's widgets": lambda: widgets(*[WidgetState(id=f"{ID}{n}", bool_value=True) for n in range(1_000)]),
    "hashes": with_hashes,
    "context": about_itself,
    "query": lambda: run(query_string="a=1&" * 240_000),
    "query, as long as it may be": lambda: run(query_string="a=1&" * 15_900),
    **{f"{kind}, too large": lambda kind=kind: widgets(state(kind, 990_000, ID)) for kind in TYPES},
    **{
        f"{kind}, as large as it may be": lambda kind=kind, most=most: widgets(
            *[state(kind, most - 100, f"{ID}{n}") for n in range(900_000 // most)]
        )
        for kind, most in incoming.LARGEST.items()
        if most > 4_000
    },
}


async def cost(server: Limited, do: Callable[[], Awaitable[object]]) -> tuple[float, int]:
    """The seconds of the processor, and the bytes by which the greatest memory rose, while something is done."""
    await server.rests()
    server.forget_greatest()
    seconds, before = server.seconds(), server.field("VmHWM")
    await do()
    await server.rests()
    return server.seconds() - seconds, server.field("VmHWM") - before


async def too_dear(server: Limited) -> dict[str, tuple[float, int]]:
    """What each message costs that costs too much; sent by one visitor, who comes back where he is thrown out."""
    found, visitor = {}, Visitor(server.url)
    heartbeat = BackMsg(app_heartbeat=True).SerializeToString()

    async def told(message: bytes) -> None:
        with suppress(websockets.ConnectionClosed):
            await visitor.socket.send(message)
            while True:  # an answer that a run overtakes is dropped
                await visitor.socket.send(heartbeat)
                with suppress(TimeoutError):
                    async with asyncio.timeout(3):
                        while ForwardMsg.FromString(await visitor.socket.recv()).WhichOneof("type") != "heartbeat_ack":
                            pass
                        return

    for name, make in MESSAGES.items():
        if visitor.socket is None or visitor.socket.close_code is not None:
            await visitor.enter("home")
        message = make().SerializeToString()
        seconds, rose = await cost(server, lambda message=message: asyncio.wait_for(told(message), 60))
        if seconds > MOST_SECONDS or rose > MOST_BYTES:
            found[name] = seconds, rose
    await visitor.leave()
    return found


def test_a_message_costs_little_whatever_is_in_it(server: Limited):
    assert in_own_thread(asyncio.run, too_dear(server)) == {}


def largest(choice: Choice[Any], number: int) -> str:
    """The largest text that a link may hold for a choice and that is read; of several ids the one of this number."""
    if choice.kind in ("whole", "real"):
        return str(choice.write(choice.high))
    if choice.kind in ("text", "several"):
        return ("1," * LONG)[: min(choice.longest or LONG, LONG)]
    if choice.ids:
        return choice.ids[number % len(choice.ids)]
    return str(choice.write(choice.example))


def packed(choices: Iterable[Choice[Any]]) -> str:
    """What a canvas holds as much of as a link may unpack to."""
    one = {each.short: each.write(each.example) for each in choices if each.short}
    for name, value in one.items():
        if isinstance(value, list) and value:
            one[name] = value * (link_reading.LARGEST_UNPACKED // len(one) // (len(json.dumps(value)) + 2))
    raw = json.dumps(one).encode()
    return link_reading.VERSION + base64.urlsafe_b64encode(zlib.compress(raw, 9)).decode().rstrip("=")


def links(page: str) -> Iterator[str]:
    """Links to a page in which every choice of it is at its largest, in each of its sections, and each at 6 KB."""
    mine = [each for each in page_choices(page) if each.page == page and each.name not in LEFT_OUT]
    sections = (len(each.ids) for each in mine if each.name.endswith(("section", "view")) and each.ids)
    for number in range(next(sections, SECTIONS)):
        yield urlencode({each.name: largest(each, number) for each in mine if not each.inside and each.kind != "text"})
    for each in mine:
        if each.kind in ("text", "several", "other"):
            yield urlencode({each.name: largest(each, 0)})
    for name in {each.inside for each in mine} - {""}:
        yield urlencode({name: packed(each for each in mine if each.inside == name)})
        yield urlencode({name: link_reading.VERSION + "A" * link_reading.LONGEST})


async def too_dear_links(server: Limited, page: str) -> dict[str, tuple[float, int]]:
    """What each link costs that costs too much, opened by a visitor of its own; each is answered by a page."""
    found = {}

    async def open_page(link: str) -> None:
        visitor = Visitor(server.url)
        await visitor.enter(page, link)
        await visitor.leave()

    await open_page("")
    server.limit()
    for link in links(page):
        seconds, rose = await cost(server, partial(open_page, link))
        if seconds > MOST_SECONDS_OF_LINK or rose > OF_PASSES.get(page, MOST_BYTES_OF_LINK):
            found[link] = seconds, rose
    return found


def test_a_server_that_was_started_with_few_files_opens_as_many_as_its_system_allows(server: Limited):
    limits = Path(f"/proc/{server.process.pid}/limits").read_text()
    _name, soft, hard, _unit = re.findall(r"(Max open files) +(\d+) +(\d+) +(\w+)", limits)[0]
    assert int(soft) == min(int(hard), MOST_FILES) > FILES


@pytest.mark.parametrize("page", PAGES)
def test_a_link_costs_little_whatever_it_asks_for(server_of_links: Limited, page: str):
    assert in_own_thread(asyncio.run, too_dear_links(server_of_links, page)) == {}
    assert server_of_links.field("RssAnon") < server_of_links.at_rest + ABOVE_REST, "what all pages so far left behind"
