"""A request whose head does not end is dropped, by its size and by the clock.

uvicorn 0.54 gathers the address and each line of a head for as long as they come, copies all of it for every piece that
arrives, and waits for ever for who says nothing; nginx does not, and few have it before the app. Words for a report:
"httptools: no limit of the request line and headers, no timeout of the first request; h11 has both".
"""

import asyncio
from typing import Any

LONGEST = (
    400_000  #: bytes: a piece that arrives at once may have a quarter of a million, the body's first ones included
)
SECONDS = 30.0


def bound_request_heads() -> None:
    """Let every connection of this process end its head in time. Where uvicorn has another parser nothing is done."""
    try:
        from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol as Protocol
    except ImportError:
        return
    original_connection_made, original_message_begin, original_headers_complete, original_data_received = (
        Protocol.connection_made,
        Protocol.on_message_begin,
        Protocol.on_headers_complete,
        Protocol.data_received,
    )

    def wait(connection: Any) -> None:
        """Count from here to the end of the head."""
        stop_waiting(connection)
        late = asyncio.get_running_loop().call_later(SECONDS, lambda: connection.transport.abort())
        connection.head, connection.late = 0, late

    def stop_waiting(connection: Any) -> None:
        connection.head = None
        if late := getattr(connection, "late", None):
            late.cancel()

    def connection_made(self: Any, transport: Any) -> None:
        original_connection_made(self, transport)
        wait(self)

    def on_message_begin(self: Any) -> None:
        original_message_begin(self)
        wait(self)

    def on_headers_complete(self: Any) -> None:
        stop_waiting(self)
        original_headers_complete(self)

    def data_received(self: Any, data: bytes) -> None:
        original_data_received(self, data)
        if self.head is not None:
            self.head += len(data)
            if self.head > LONGEST:
                stop_waiting(self)
                self.transport.abort()

    for method in (connection_made, on_message_begin, on_headers_complete, data_received):
        setattr(Protocol, method.__name__, method)
