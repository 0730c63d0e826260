"""What a room adds to the lecturer's page: its address and code, who is here, and the vote that is open."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from attnviz.base.words import _
from attnviz.canvas.shared.component import count, mount_component

KEY = "wall"
LONGEST_TEXT = 200  #: characters of a lecturer's own sentence


@dataclass(frozen=True)
class JoinAddress:
    """Where phones join: the address as it is typed, and its QR code, with the code of the room in it."""

    text: str
    modules: int  #: squares on a side of the QR code
    path: str  #: its dark squares, as an SVG path


@dataclass(frozen=True)
class WallRequest:
    """What the lecturer asked for on the wall: "page" (its question), "ask", "words", "show", "clear" or "end"."""

    action: str
    text: str = ""  #: the sentence that is asked about
    query: int | None = None  #: the word that is asked about, by its place


@dataclass(frozen=True)
class WallTexts:
    """What the lecturer can ask about, and why a request came to nothing."""

    sentences: Sequence[str]
    question: str  #: of the page that is on show; "": it has none
    own: dict[str, Any] | None  #: the lecturer's own sentence, with its words
    problem: str


def read_request(report: dict[str, Any]) -> WallRequest | None:
    """A report of the wall; None where it makes no sense."""
    action, text = str(report["action"]), str(report.get("text", ""))[:LONGEST_TEXT]
    return WallRequest(action, text, count(report.get("query")))


def room_wall(
    code: str,
    secret: str,
    socket: str,
    addresses: Sequence[JoinAddress],
    texts: WallTexts,
    on_request: Callable[[WallRequest], None],
) -> None:
    """Mount it. `socket`: the path of the room's web socket."""
    header = {
        "code": code,
        "secret": secret,
        "socket": socket,
        "addresses": [asdict(address) for address in addresses],
        **asdict(texts),
        "words": wall_texts(),
    }
    mount_component("wall", KEY, "act", header, read_request, on_request)


def wall_texts() -> dict[str, str]:
    """What the wall says; {names} are filled in by the browser."""
    return {
        "room": _("The room"),
        "join": _("Open this address and type the code, or point the camera at the square."),
        "unreachable": _(
            "Only this machine reaches this address. To let phones in, start the server with --server.address 0.0.0.0, "
            "or say its address in ATTNVIZ_ADDRESS."
        ),
        "alone": _("Nobody has come yet. Many networks keep devices apart: try the phone’s own network, or a hotspot."),
        "here": _("{n} {n:is|are} here"),
        "hide": _("Back to the page"),
        "open": _("Show the code"),
        "ask": _("Ask the room"),
        "end": _("End the class"),
        "sure": _("End it for all?"),
        "choose": _("Which words tell “it” what it means? Choose the sentence:"),
        "page": _("The question of this page"),
        "own": _("Your own sentence"),
        "next": _("Choose its word"),
        "word": _("Tap the word that the room is asked about:"),
        "question": _("Which words tell “{word}” what it means?"),
        "voted": _("{votes} of {here} have voted"),
        "few": _("Bars grow from five votes on."),
        "show": _("Show the answer"),
        "class": _("The class"),
        "model": _("Head {head} of the model"),
        "late": _("{n} {n:tap|taps} on “{words}”: the model had not read this yet. It comes after “{word}”."),
        "no_class": _("With fewer than five votes the class has no row."),
        "nearest": _("Heads nearest to the class by {n} {n:sentence|sentences}, and nats between them:"),
        "apart": _("{head} ({nats})"),
        "chance": _("{n} of 1,000 random votes have a head as near."),
        "single": _("One sentence is no evidence: ask about a second one."),
        "undecided": _("No agreement: on a sentence no word has more than half of the votes."),
        "few_sentences": _("Two sentences are weak evidence: ask about a third one."),
        "agree": _("So the class looks as head {head} does."),
        "disagree": _("No agreement: chance comes as near, so the class is no head here."),
        "again": _("Ask about another sentence"),
        "ended": _("The class has ended, or another page shows it now."),
        "lost": _("The line to the room is lost. It comes back by itself."),
    }
