"""What a room adds to the lecturer's page: its address and code, who is here, and the vote that is open."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from attnviz.base.words import current_language
from attnviz.canvas.shared.component import count, mount_component
from attnviz.rooms.texts import lecturer_texts

KEY = "wall"
MOST_ANSWERS = 8
LONGEST_TEXT = 200  #: characters of a lecturer's own sentence


@dataclass(frozen=True)
class JoinAddress:
    """Where phones join: the address as it is typed, and its QR code, with the code of the room in it."""

    text: str
    modules: int  #: squares on a side of the QR code
    path: str  #: its dark squares, as an SVG path


@dataclass(frozen=True)
class WallRequest:
    """What the lecturer asked for: "page" (its question), "ask", "words", "own", "show", "clear", "left" or "end"."""

    action: str
    text: str = ""  #: the sentence that is asked about
    query: int | None = None  #: the word that is asked about, by its place
    prompt: str = ""  #: a question of the lecturer's own
    answers: tuple[str, ...] = ()  #: to it: a * before the right ones; none: it asks for a number
    kind: str = ""  #: of an own question: "choices", "number" or "words" of the sentence


@dataclass(frozen=True)
class WallTexts:
    """What the lecturer can ask about, and why a request came to nothing. His own window shows it, too."""

    sentences: Sequence[str]
    question: str  #: of the page that is on show; "": it has none
    own: dict[str, Any] | None  #: the lecturer's own sentence, with its words
    problem: str
    sentence: str = ""  #: of the page that is on show


def read_request(report: dict[str, Any]) -> WallRequest | None:
    """A report of the wall; None where it makes no sense."""
    text, prompt = (str(report.get(name, ""))[:LONGEST_TEXT].strip() for name in ("text", "prompt"))
    lines = str(report.get("answers", ""))[: MOST_ANSWERS * LONGEST_TEXT].splitlines()
    answers = tuple(line.strip()[:LONGEST_TEXT] for line in lines if line.strip(" *"))[:MOST_ANSWERS]
    kind = str(report.get("kind", ""))
    return WallRequest(str(report["action"]), text, count(report.get("query")), prompt, answers, kind)


def room_wall(
    code: str,
    secret: str,
    projector: str,
    socket: str,
    addresses: Sequence[JoinAddress],
    texts: WallTexts,
    on_request: Callable[[WallRequest], None],
) -> None:
    """Mount the wall. `projector`: this page's name as the room's projector; `socket`: the path of its web socket."""
    header = {
        "code": code,
        "secret": secret,
        "projector": projector,
        "language": current_language(),
        "socket": socket,
        "addresses": [asdict(address) for address in addresses],
        **asdict(texts),
        "words": lecturer_texts(),
    }
    mount_component("wall", KEY, "act", header, read_request, on_request)
