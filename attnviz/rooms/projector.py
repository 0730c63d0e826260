"""The lecturer's page as a room sees it: the pictures that its runs mount, as one blob for all phones."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

from attnviz.base.packed import pack_blob, unpack_blob
from attnviz.rooms.room_file import RoomFile

LARGEST = 32_000  #: bytes of a picture that is sent to phones; a larger one is on the wall
#: what the browser could ask the lecturer's own session for: phones compute by themselves, or not at all
ASKED_AHEAD = ("ahead", "every", "edited_tiles", "asked", "why")
NOBODY = {"session": "room", "ack": 0}  #: whom a phone's gestures are told
NO_PICTURES = frozenset({"save_picture", "model_strip", "wall"})  #: components that phones do not show
ON_THE_WALL = frozenset({"score_table"})  #: those whose answers only the lecturer's own session can compute
_NO_RUN = object()


@dataclass(frozen=True)
class StrongestKeys:
    """A row of a head that is too large for phones: what one query gives the keys that it gives most."""

    query: str
    keys: Sequence[tuple[str, float]]


@dataclass
class Picture:
    """What a run mounted: the component's name and bytes, None where phones cannot show it; and whose it is."""

    name: str
    data: bytes | None
    fragment: str | None  #: the fragment that mounted it; None: the page itself


class Projector:
    """A page that shows a room. `describe` answers title, line and link of the page as it is now."""

    def __init__(self, code: str, secret: str, name: str) -> None:
        self.code, self.secret, self.name = code, secret, name
        self.pictures: dict[str, Picture] = {}
        self.places: dict[str, int] = {}  #: of pictures on the page, in the order in which it mounts them
        self.title = self.line = ""
        self.is_open = True
        self._running: object = _NO_RUN
        self._published = b""
        self._told = ""

    @classmethod
    def begin(cls) -> Self:
        """Open a room and become its projector."""
        room, secret = RoomFile.create()
        with room:
            return cls(room.code, secret, room.take_over())

    @classmethod
    def resume(cls, code: str, secret: str) -> Self:
        """Take over as projector of an open room, in place of any other page; not with a wrong secret."""
        resumed = cls(code, secret, "")
        resumed.is_open = False
        if (room := RoomFile.open(code)) is not None:
            with room:
                if room.is_secret(secret):
                    resumed.name, resumed.is_open = room.take_over(), True
        return resumed

    @contextmanager
    def run(self, fragment: str | None, link: Callable[[], str]) -> Iterator[None]:
        """A run of the page, or of a fragment of it: at its end what is mounted is published, with its link."""
        before, self._running = self._running, fragment
        if fragment is None:
            self.pictures, self.places = {}, {}
        else:
            self.pictures = {key: each for key, each in self.pictures.items() if each.fragment != fragment}
        try:
            yield
        finally:
            self._running = before
        if before is _NO_RUN:
            self.publish(link())

    def show(self, name: str, key: str, data: object, row: Callable[[], StrongestKeys | None] | None = None) -> None:
        """Note what a run mounts; where that is too large for phones they get a `row` of it."""
        if name == "presenter" and isinstance(data, dict):
            title, caption = str(data["title"]), str(data.get("caption", ""))
            self.title = caption or title
            self.line = " · ".join(filter(None, (title if caption else "", str(data["place"]))))
        elif name in ON_THE_WALL:
            self.show_on_wall(key)
        elif name not in NO_PICTURES and isinstance(data, bytes):
            blob = _for_phones(data)
            keys = row() if blob is None and row is not None else None
            self._note(key, *((name, blob) if keys is None else ("row", pack_blob(vars(keys)))))

    def show_on_wall(self, key: str) -> None:
        """Note a picture that phones cannot show."""
        self._note(key, "", None)

    def _note(self, key: str, name: str, data: bytes | None) -> None:
        fragment = self._running if isinstance(self._running, str) else None
        self.pictures[key] = Picture(name, data, fragment)
        self.places.setdefault(key, len(self.places))

    def publish(self, link: str) -> None:
        """Publish the page to the phones, if it has changed."""
        pictures = sorted(self.pictures.items(), key=lambda item: self.places[item[0]])
        entries = [{"key": key, "name": each.name, "size": len(each.data or b"")} for key, each in pictures]
        header = {"title": self.title, "line": self.line, "link": link, "pictures": entries}
        step = pack_blob(header, b"".join(each.data or b"" for _key, each in pictures))
        if step != self._published and self.write("step", step):
            self._published = step

    def tell_lecturer(self, state: dict[str, Any]) -> None:
        """Publish to the lecturer's own window alone what it shows of the page, if that has changed."""
        told = json.dumps({"title": self.title, "line": self.line} | state)
        if told != self._told and self.write("lecturer", told):
            self._told = told

    def write(self, name: str, content: bytes | str) -> bool:
        """Write a state of the room; where it has ended or another page shows it, this one no longer does."""
        room = RoomFile.open(self.code)
        if room is None:
            self.is_open = False
            return False
        with room:
            self.is_open = room.write(self.name, name, content)
        return self.is_open

    def check(self) -> None:
        """Note whether this page is still the room's projector."""
        room = RoomFile.open(self.code)
        self.is_open = False
        if room is not None:
            with room:
                self.is_open = room.projector() == self.name

    def end(self) -> None:
        """End the room for all."""
        self.is_open = False
        room = RoomFile.open(self.code)
        if room is not None:
            room.end()


def _for_phones(data: bytes) -> bytes | None:
    """A picture's bytes as phones get them; None where they are too many."""
    header, payload = unpack_blob(data)
    blob = pack_blob({name: value for name, value in header.items() if name not in ASKED_AHEAD} | NOBODY, payload)
    return blob if len(blob) <= LARGEST else None
