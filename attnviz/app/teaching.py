"""A class's room on the lecturer's page: it is opened, its question is asked and answered, and it is ended."""

import html
import json
import math
import secrets
import sqlite3
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import streamlit as st

from attnviz.analysis.heads.nearest_heads import compare_rows
from attnviz.analysis.model_run import Request, Stack
from attnviz.app.cache import model_cache
from attnviz.app.links import link_state
from attnviz.app.links.choices import page_choices
from attnviz.app.text import escape_markdown, strip_markdown
from attnviz.base.message import Problem
from attnviz.base.words import _, translate_message
from attnviz.canvas.shared.component import app_root, last_projector, projector, set_projector
from attnviz.canvas.wall import LONGEST_TEXT, JoinAddress, WallRequest, WallTexts, room_wall
from attnviz.models import settings
from attnviz.models.tokens.matrix_axes import MatrixAxis, matrix_axis
from attnviz.rooms.addresses import is_local, own_addresses
from attnviz.rooms.live_rooms import shown_counts
from attnviz.rooms.phone_page import PATH
from attnviz.rooms.projector import Projector
from attnviz.rooms.room_file import FEWEST_SHOWN, Counts, RoomFile, class_row

MODEL, HEAD = "smollm2-135m", (13, 8)  #: in which "it" attends to the noun that it refers to
MOST_TAPS = 3
MOST_QUESTION_WORDS = 30  #: a phone shows each as a button
NO_QUERY = -1  #: of a question whose words are answers
EVIDENCE = 50  #: of 1,000 random votes: where more come as near, the class agrees with no head
#: In each, "it" is a noun that stands before it. In the third it is not the first noun: a head that looks at the first
#: noun of any sentence is near to two of them only. Chosen of forty by what readers' votes would find.
SENTENCES = (
    "The animal didn't cross the street because it was too tired.",
    "The trophy didn't fit in the suitcase because it was too big.",
    "The woman threw away the bread because it was too hard.",
)
_OWN, _PROBLEM = "_room_own_sentence", "_room_problem"
_TOLD = "_room_end_told"
_NOTES = "_room_notes"
_OFFERED, _PAGE_QUESTION = "_room_question_of_run", "_room_question_of_page"


def teach_button() -> None:
    """The button that opens a room; none where rooms are switched off, or one is open."""
    if not are_rooms_on() or projector() is not None:
        return
    st.button(
        _("Teach"),
        key="teach",
        icon=":material/groups:",
        type="tertiary",
        help=_("Open a room: students follow on their phones and vote. They type a code, no name."),
        on_click=_open_room,
    )


def draw_join_field() -> None:
    """Draw the field for the code of a room, on Start; none where rooms are switched off."""
    if not are_rooms_on():
        return
    label, join = html.escape(_("In a class? Its code:")), html.escape(_("Join"))
    st.html(
        f'<form class="join-room" action="{app_root()}{PATH}" method="get"><label>{label} '
        f'<input name="code" maxlength="12" size="7" required autocomplete="off" autocapitalize="characters"></label> '
        f"<button>{join}</button></form>"
    )


def are_rooms_on() -> bool:
    """Whether this server has rooms; False where a setting makes no sense, of which each page tells."""
    try:
        return settings.current_settings().rooms is not None
    except Problem:
        return False


def _open_room() -> None:
    try:
        set_projector(Projector.begin())
    except (Problem, OSError, sqlite3.Error) as problem:
        text = translate_message(problem.message) if isinstance(problem, Problem) else str(problem)
        st.toast(escape_markdown(text), icon=":material/error:")


def resume_room(report: dict[str, Any]) -> None:
    """Show the room again that this tab showed before its session was lost. A callback."""
    code, secret = report.get("code"), report.get("secret")
    if projector() is None and isinstance(code, str) and isinstance(secret, str):
        set_projector(Projector.resume(code, secret))


def room_state() -> str:
    """ "shown" where this page shows a room, "over" where it did: it has ended, or another page shows it."""
    return "shown" if projector() is not None else "over" if last_projector() is not None else ""


def draw_wall() -> None:
    """Draw what the room adds to the page, where one is open."""
    session, room = st.session_state, projector()
    if room is None:
        if room_state() == "over" and not session.get(_TOLD):
            st.toast(_("The class has ended, or another page shows it now."), icon=":material/groups:")
        session[_TOLD] = room_state() == "over"
        return
    session[_TOLD] = False
    session[_PAGE_QUESTION] = session.pop(_OFFERED, None)
    path = f"{app_root()}{PATH}/{room.code}/socket"
    sentences = [choice for choice in page_choices(link_state.current_page()) if choice.shared_key == "sentence"]
    texts = WallTexts(
        SENTENCES,
        getattr(session[_PAGE_QUESTION], "text", ""),
        session.get(_OWN),
        session.pop(_PROBLEM, ""),
        link_state.value(sentences[0])[:LONGEST_TEXT] if sentences else "",
    )
    room_wall(room.code, room.secret, room.name, path, join_addresses(room.code), texts, _handle_request)
    room.tell_lecturer(asdict(texts) | {"notes": session.pop(_NOTES, [])})


def show_notes(lines: Sequence[str]) -> None:
    """Show the notes of what is drawn in the lecturer's own window, and nowhere else."""
    st.session_state[_NOTES] = [strip_markdown(line) for line in lines]


@dataclass(frozen=True)
class PageQuestion:
    """A question of the page that is drawn."""

    text: str
    words: Sequence[str]  #: its answers
    truth: Callable[[], tuple[Collection[int], str]]  #: which of them are right, and what is said of them
    reveal: Callable[[int], None]  #: shows on the page what follows for who chose an answer; a callback


def offer_question(
    prompt: str,
    answers: Sequence[str],
    truth: Callable[[], tuple[Collection[int], str]],
    reveal: Callable[[int], None],
) -> None:
    """Let the lecturer ask the room a question of the page that is drawn.

    `truth` is called when it is asked: the places of right answers, and what is said of them.
    """
    if projector() is not None:
        prompt, *words = map(strip_markdown, (prompt, *answers))
        st.session_state[_OFFERED] = PageQuestion(prompt, words, truth, reveal)


def join_addresses(code: str) -> list[JoinAddress]:
    """Where phones reach this app, the likeliest first; empty where only this machine does."""
    import segno  # here: only a room needs it

    url = urlsplit(st.context.url or "")
    port = f":{url.port}" if url.port else ""
    origins = [f"{url.scheme}://{url.netloc}"]
    if is_local(url.hostname or "localhost"):
        named = settings.current_settings().address
        listens_here = is_local(st.get_option("server.address"))
        origins = [] if listens_here else [f"{url.scheme}://{address}{port}" for address in own_addresses()]
        origins = [named.rstrip("/")] if named else origins
    addresses = []
    for origin in origins:
        address = f"{origin}{app_root()}{PATH}"
        rows = segno.make(f"{address}/{code}", error="m", micro=False).matrix
        path = "".join(f"M{x} {y}h1v1h-1z" for y, row in enumerate(rows) for x, dark in enumerate(row) if dark)
        addresses.append(JoinAddress(address.partition("://")[2], len(rows), path))
    return addresses


def _handle_request(request: WallRequest) -> None:
    """Do what the lecturer asked for on the wall. A callback."""
    room = projector()
    if room is None:
        return
    try:
        if request.action == "page":
            _ask_page_question(room)
        elif request.action == "ask":
            _ask(room, request.text, request.query, request.prompt)
        elif request.action == "own":
            _ask_own_question(room, request)
        elif request.action == "words":
            st.session_state[_OWN] = {"text": request.text, "words": _word_axis(_stack_of(request.text)).labels}
        elif request.action == "show":
            _show_answer(room)
        elif request.action == "clear":
            room.write("question", "null")
        elif request.action == "left":
            room.check()
        elif request.action == "end":
            room.end()
    except Problem as problem:
        st.session_state[_PROBLEM] = translate_message(problem.message)


def _stack_of(text: str) -> Stack:
    return model_cache.get_run(Request(MODEL, text)).stacks[0]


def _word_axis(stack: Stack) -> MatrixAxis:
    axis = matrix_axis(stack.queries, by_word=True)
    if len(axis) > MOST_QUESTION_WORDS:
        raise Problem("A question has at most {count} words.", count=MOST_QUESTION_WORDS)
    return axis


def _ask(room: Projector, text: str, query: int | None, prompt: str = "") -> None:
    """Ask which words tell one of a sentence what it means: the word at `query`, else the last "it"."""
    words = [label.strip() for label in _word_axis(_stack_of(text)).labels]
    if query is None:
        query = max((place for place, word in enumerate(words) if word == "it"), default=len(words) - 1)
    if not 0 < query < len(words):
        raise Problem("Choose a word that others stand before.")
    _open_question(room, text, words, query, MOST_TAPS, prompt)


def _ask_page_question(room: Projector) -> None:
    """Ask the question of the page that is on show."""
    if (offered := st.session_state.get(_PAGE_QUESTION)) is not None:
        right, because = offered.truth()
        truth = {"right": sorted(right), "because": strip_markdown(because)}
        _open_question(room, offered.text, offered.words, truth=truth)


def _ask_own_question(room: Projector, request: WallRequest) -> None:
    """Ask a question of the lecturer's own."""
    if not request.prompt:
        raise Problem("Type your question first.")
    words, most = [answer.lstrip("* ") for answer in request.answers], 1
    right: list[float] = []
    if request.kind == "words":
        words, most = [label.strip() for label in _word_axis(_stack_of(request.text)).labels], MOST_TAPS
    elif request.kind == "choices":
        right = [i for i, answer in enumerate(request.answers) if answer.startswith("*")]
        if len(words) < 2:
            raise Problem("A question with choices has at least two.")
    elif words:
        right, words = [_read_number(words[-1])], []
    _open_question(room, request.prompt, words, most=most, truth={"right": right, "because": ""})


def _read_number(word: str) -> float:
    """A finite number: JSON has no other, and the browser of a phone could not read the answer."""
    with suppress(ValueError):
        if math.isfinite(number := float(word.replace(",", "."))):
            return number
    raise Problem("{word} is not a number", word=word[:40])


def _open_question(
    room: Projector,
    text: str,
    words: Sequence[str],
    query: int = NO_QUERY,
    most: int = 1,
    prompt: str = "",
    truth: dict[str, Any] | None = None,
) -> None:
    """Open a vote. The truth of one that is not about a head stays here until it is shown."""
    asked = {"text": text, "words": words, "query": query, "most": most, "prompt": prompt}
    question = {"id": secrets.randbelow(2**31 - 1) + 1, **asked}
    st.session_state.pop(_OWN, None)
    room.write("truth", json.dumps(truth))
    room.write("asked", json.dumps([*_read(room, "asked", []), question]))
    room.write("question", json.dumps(question | {"truth": None}))


def _read(room: Projector, name: str, default: Any) -> Any:
    """A state of the room."""
    if (file := RoomFile.open(room.code)) is None:
        return default
    with file:
        return json.loads(file.read(name)[1] or "null") or default


def _show_answer(room: Projector) -> None:
    """Show the model's row beside the class's on all phones, with the heads nearest to all its rows so far."""
    question = _read(room, "question", None)
    file = RoomFile.open(room.code)
    if file is None or question is None or question["truth"] is not None:
        return
    with file:
        counts = file.count(question["id"], len(question["words"]))
    if question["query"] == NO_QUERY:
        known = _read(room, "truth", {})
        shown = shown_counts(counts)
        room.write("question", json.dumps(question | {"truth": known | shown}))
        offered = st.session_state.get(_PAGE_QUESTION)
        if offered is not None and offered.text == question["text"]:
            chosen = [int(np.argmax(shown["taps"]))] if shown["taps"] else sorted(offered.truth()[0])
            if chosen:
                offered.reveal(chosen[0])
        return
    answered = _read(room, "answered", [])
    row = class_row(counts, question["query"])
    has_row = counts.votes >= FEWEST_SHOWN and sum(row) > 0
    if has_row:
        answered = [each for each in answered if each["text"] != question["text"]]
        decided = is_decided(counts, question["query"])
        answered.append({"text": question["text"], "query": question["query"], "row": row, "decided": decided})
    stack = _stack_of(question["text"])
    heads = rows_of_heads(stack, question["query"])
    truth: dict[str, Any] = {
        "head": f"{HEAD[0]}.{HEAD[1]}",
        "row": [round(float(weight), 4) for weight in heads[stack.places.index(HEAD)]],
        "class": row if has_row else None,
        "taps": counts.taps if has_row else None,
    }
    if has_row:
        pairs = [(rows_of_heads(_stack_of(each["text"]), each["query"]), np.array(each["row"])) for each in answered]
        nearest = compare_rows(stack.places, pairs)
        truth |= {
            "sentences": len(answered),
            "nearest": [[f"{near.layer}.{near.head}", round(near.divergence, 3)] for near in nearest.heads],
            "chance": nearest.as_near_by_chance,
            "decided": all(each["decided"] for each in answered),
            "agrees": nearest.as_near_by_chance <= EVIDENCE,
        }
        room.write("answered", json.dumps(answered))
    room.write("question", json.dumps(question | {"truth": truth}))


def is_decided(counts: Counts, query: int) -> bool:
    """Whether more than half of the class tapped one word that the model had read.

    Chance does not tell: a few taps on every word are near to heads that look at every word.
    """
    return 2 * max(counts.taps[: query + 1]) > counts.votes


def rows_of_heads(stack: Stack, query: int) -> np.ndarray:
    """What every head gives each word at a word of the sentence, (heads, words): at the word's last token."""
    axis = _word_axis(stack)
    token = axis.positions[query][-1]
    weights = np.concatenate([layer.weights()[0, :, token].double().numpy(force=True) for layer in stack.layers])
    return np.stack([weights[:, list(tokens)].sum(1) for tokens in axis.positions], 1)
