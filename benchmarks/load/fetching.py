"""The files that a browser asks for, fetched the way it does, over one connection that stays open."""

import asyncio
from collections.abc import Iterable
from urllib.parse import urlsplit

ASKED = "GET {path} HTTP/1.1\r\nHost: {host}\r\nAccept-Encoding: gzip\r\nConnection: keep-alive\r\n{cookie}\r\n"


async def fetch_all(base: str, paths: Iterable[str], cookie: str = "") -> None:
    """Fetch all `paths`, one after the other. ConnectionError when one is not answered with 200."""
    place = urlsplit(base)
    reader, writer = await asyncio.open_connection(place.hostname, place.port)
    line = f"Cookie: {cookie}\r\n" if cookie else ""
    try:
        for path in paths:
            writer.write(ASKED.format(path=path, host=place.netloc, cookie=line).encode())
            await _answer(reader, path)
    finally:
        writer.close()


async def _answer(reader: asyncio.StreamReader, path: str) -> None:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
    if " 200 " not in head.split("\r\n", 1)[0]:
        raise ConnectionError(f"{path}: {head.splitlines()[0]}")
    fields = dict(line.split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
    if "content-length" in fields:
        await reader.readexactly(int(fields["content-length"]))
        return
    while size := int((await reader.readline()).strip(), 16):
        await reader.readexactly(size + 2)
    await reader.readexactly(2)
