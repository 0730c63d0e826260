"""The line that the server logs when it starts: the address at which it is reached."""

from __future__ import annotations

import ipaddress
import socket

SHARE = "--server.address 0.0.0.0"


def announcement(listens_on: str | None, port: int, hosted: bool) -> str:
    """Where to open the app, and who can; for a server that only answers this machine, how to open it to others."""
    if not is_local(listens_on):
        return f"attnviz is at http://{own_address()}:{port} for everyone who can reach this machine"
    here = f"attnviz is at http://localhost:{port}, for this machine only"
    if hosted:
        return f"{here}, though ATTNVIZ_HOSTED is set: for visitors without a proxy in front, start it with {SHARE}"
    return f"{here}; to share it in a room, start it with {SHARE}: http://{own_address()}:{port}"


def is_local(address: str | None) -> bool:
    """Whether a server on this address answers this machine only. None is Streamlit's default: every address."""
    if address == "localhost":
        return True
    try:
        return address is not None and ipaddress.ip_address(address).is_loopback
    except ValueError:  # a host name, not an IP address
        return False


def own_address() -> str:
    """This machine's address on its network, or "localhost" without one. Nothing is sent to find it out."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(
                ("192.0.2.1", 9)
            )  # an address reserved for documentation; connecting a datagram socket only chooses the network interface
        except OSError:
            return "localhost"
        return str(probe.getsockname()[0])
