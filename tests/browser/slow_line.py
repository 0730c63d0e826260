"""The line between a browser and the server, where a test decides when the server is heard."""

import re
from typing import Any


class Line:
    """The line between a browser and the server; what the server says can be held back, as a slow line does."""

    def __init__(self, page: Any) -> None:
        self.held: list[Any] | None = None
        self.said = 0
        page.route_web_socket(re.compile("_stcore/stream"), self._join)

    def _join(self, browser: Any) -> None:
        server = browser.connect_to_server()
        self.browser = browser
        server.on_message(self._from_server)

    def _from_server(self, message: Any) -> None:
        self.said += 1
        if self.held is None:
            self.browser.send(message)
        else:
            self.held.append(message)

    def hold(self) -> None:
        self.held = []

    def let_go(self) -> None:
        held, self.held = self.held or [], None
        for message in held:
            self.browser.send(message)
