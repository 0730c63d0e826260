"""Addresses of this machine, under which others may reach it. Nothing is sent to find them out."""

import ipaddress
import socket
from contextlib import suppress


def own_address() -> str:
    """This machine's address on its network, or "localhost" without one."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(
                ("192.0.2.1", 9)
            )  # an address reserved for documentation; connecting a datagram socket only chooses the network interface
        except OSError:
            return "localhost"
        return str(probe.getsockname()[0])


def own_addresses() -> list[str]:
    """All of this machine's IPv4 addresses that others can reach, the most likely one first."""
    found = [own_address()]
    with suppress(OSError):
        found += [str(entry[4][0]) for entry in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)]
    return [address for address in dict.fromkeys(found) if not is_local(address)]


def is_local(address: str | None) -> bool:
    """Whether an address is reached from this machine only. None is Streamlit's default: a server on every address."""
    try:
        return address == "localhost" or (address is not None and ipaddress.ip_address(address).is_loopback)
    except ValueError:  # a host name, not an IP address
        return False
