"""Debian's own Firefox, driven over WebDriver BiDi: a standard of a few JSON messages, which needs no driver."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

FIREFOX = os.environ.get("ATTNVIZ_FIREFOX") or shutil.which("firefox-esr") or shutil.which("firefox")
#: no request but to this machine finds a way out
ALONE = {"network.proxy.type": 1, "network.proxy.http": "127.0.0.1", "network.proxy.http_port": 9}
ALONE |= {"network.proxy.ssl": "127.0.0.1", "network.proxy.ssl_port": 9}


class Tab:
    """The one tab of a browser."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.numbers = count(1)
        self.ask("session.new", capabilities={})
        self.context = self.ask("browsingContext.getTree")["contexts"][0]["context"]

    def ask(self, method: str, **params: Any) -> Any:
        """What the browser answers to a command; RuntimeError where it refuses it."""
        number = next(self.numbers)
        self.socket.send(json.dumps({"id": number, "method": method, "params": params}))
        while True:
            said = json.loads(self.socket.recv(timeout=60))
            if said.get("id") == number:
                if said["type"] == "error":
                    raise RuntimeError(said["message"])
                return said["result"]

    def goto(self, address: str) -> None:
        """Open a page; a fragment alone opens none, so there is an empty one in between."""
        for each in ("about:blank", address):
            self.ask("browsingContext.navigate", context=self.context, url=each, wait="complete")

    def evaluate(self, script: str) -> Any:
        """What a script comes to, as JSON has it."""
        told = f"JSON.stringify({script}) ?? 'null'"
        said = self.ask("script.evaluate", expression=told, target={"context": self.context}, awaitPromise=False)
        if said["type"] == "exception":
            raise RuntimeError(said["exceptionDetails"]["text"])
        return json.loads(said["result"]["value"])


@contextmanager
def opened(folder: Path) -> Iterator[Tab]:
    """A browser with a new profile in this folder, without a window."""
    prefs = "".join(f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in ALONE.items())
    (folder / "user.js").write_text(prefs, encoding="utf-8")
    command = [str(FIREFOX), "--headless", "--no-remote", "--profile", str(folder), "--remote-debugging-port=0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, encoding="utf-8") as browser:
        try:
            assert browser.stderr is not None
            found = (re.search(r"WebDriver BiDi listening on (ws://\S+)", line) for line in browser.stderr)
            where = next(each[1] for each in found if each)
            with connect(f"{where}/session", max_size=None) as socket:
                yield Tab(socket)
        finally:
            browser.kill()
