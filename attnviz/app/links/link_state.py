"""This visitor's choices: stored in the session, written into the link, and restored on return.

The session holds every choice that differs from its default, whether or not its widget is on the page. Whenever
a choice changes, the link of the page is rewritten from the session, as one step of the browser's history. The link
replaces everything chosen on its page when a session begins with it, and after Back and Forward. At any other time
a link that differs is late: the gesture it came with was made before the browser heard of the last writing. Then the
session stays as it is, as it does when a page is entered from the menu, and the link is written again.
"""

import ipaddress
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar, cast
from urllib.parse import quote_plus, urlencode, urlsplit

import streamlit as st

from attnviz.app.links import link_reading
from attnviz.app.links.choices import (
    EVERY_PAGE,
    Choice,
    PartialValue,
    follow_move,
    opening_values,
    page_choices,
    page_parameters,
)
from attnviz.app.workarounds import streamlit_adapter
from attnviz.base.message import NONSENSE, Message, MessageList, Problem

T = TypeVar("T")

_CHOSEN, _PAGE, _WRITTEN = "_chosen", "_page_on_show", "_link_written"
#: why a value of the link is not used, and what a page shows instead of one that its model does not have, by name
REFUSED, INSTEAD = "_refused", "_shown_instead"
_VIEW_OF = "_view_of"  #: the page of a view that was opened, until that page is drawn
_PAGE_ID, _LINKED = "_page_id", "_pages_set_by_links"
_REPORTED = (
    "_refusals_said"  #: the names of choices whose controls have said in this run why the link's value is not used
)
_NO_CHOICE = "_no_choice"  #: where the sentence stands about names that belong to no choice
NOT_HANDED_ON = re.compile(r".*guess|l_own")  #: to a room's phones
HANDED_ON = {"lessons": {"l_student": "true"}}  #: in addition, by the page
#: what Streamlit reads itself, and what mailers, networks and search engines add to every link
_FOREIGN_PARAMETERS = re.compile(r"embed|utm_|_|ref$|source$|\w*clid$|mc_|si$")


def value(choice: Choice[T]) -> T:
    """The chosen value, whether or not its widget is on the page; the default where nothing was chosen."""
    chosen = _chosen_values().get(choice.key, choice.default)
    return cast(T, chosen[: choice.longest] if choice.longest else chosen)


def value_before_sync(choice: Choice[T]) -> T:
    """The value that a choice of every page will have once `sync_from_url` has read this run's link."""
    if _PAGE in streamlit_adapter.app_session() and not streamlit_adapter.is_history_navigation():
        return value(choice)
    try:
        return choice.read(st.query_params[choice.name])
    except NONSENSE:
        return choice.default


def set_and_push(choice: Choice[T], new: T) -> None:
    """Set a choice and write it into the link. Call it from callbacks, when a gesture has ended."""
    set_many({choice: new})


def set_many(changes: Mapping[Choice[Any], Any]) -> None:
    """Set several choices in one step of the browser's history."""
    if is_default(current_page()):
        for choice, (first, _in_links) in opening_values(current_page()).items():
            set_value(choice, first)
    for choice, new in changes.items():
        set_value(choice, new)
        _refusals().pop(choice.name, None)
    _write()


def is_default(page: str) -> bool:
    """Whether nothing was chosen on the page, by hand or by a link, except what travels from page to page."""
    if page in _pages_from_links():
        return False
    chosen = _chosen_values()
    return all(
        choice.key not in chosen
        or choice.shared_key == "sentence"
        or choice.page != page
        or value(choice) == choice.default
        for choice in page_choices(page)
    )


def has_choices() -> bool:
    """Whether a choice of any page is kept, so that the link of a page may say something."""
    return bool(_chosen_values())


def set_default(choice: Choice[T]) -> T:
    """The value of a choice that nobody has made; it can differ between a link and an untouched page."""
    first, linked = opening_values(choice.page)[choice]
    return cast(T, first if is_default(choice.page) else linked)


def sync_from_url(page: str) -> bool:
    """Make session and link of `page` agree; once a run, before the page is drawn.

    True when the page was just entered.
    """
    session = streamlit_adapter.app_session()
    session.pop(_REPORTED, None)
    before, view_of = session.get(_PAGE), session.pop(_VIEW_OF, None)
    entered, session[_PAGE], session[_PAGE_ID] = before != page, page, streamlit_adapter.page_id()
    parameters = _current_parameters(page)
    if not entered and parameters == session.get(_WRITTEN):
        return False
    if before is None or streamlit_adapter.is_history_navigation():
        _read(page, parameters)
        _note_unknown_parameters(page)
    elif entered:
        if view_of != page:  # refusals of a view that was just opened are still to be shown
            _refusals().clear()
    else:
        _write()
    return entered


def is_written() -> bool:
    """Whether the browser's address holds what was last written for this page: if not, its gesture was made before."""
    session = streamlit_adapter.app_session()
    return _WRITTEN not in session or _current_parameters(current_page()) == session[_WRITTEN]


def push_url() -> None:
    """Write the link of a page that was just entered; after the page is drawn.

    Not earlier: a browser that hears of the page and of its link at once makes two steps of its history of them.
    Nothing is sent where the menu's own link brought everything along already.
    """
    parameters = link_parameters(current_page())
    if _current_parameters(current_page()) == parameters:
        streamlit_adapter.app_session()[_WRITTEN] = parameters
    elif not streamlit_adapter.is_history_navigation():
        _write()


def current_page() -> str:
    """The page that is on show."""
    return str(streamlit_adapter.app_session().get(_PAGE, ""))


def refusal(choice: Choice[Any]) -> Message | None:
    """Why the link's value for this choice is not used; None when it is used, or the visitor has chosen since."""
    return _refusals().get(choice.name)


def refuse(choice: Choice[Any], requested: object, substitute: object) -> None:
    """Put a choice back to its default and tell the visitor: the page has no such layer, model or the like."""
    set_value(choice, choice.default)
    _refusals()[choice.name] = Message(
        "“{asked}” does not exist here (“{name}” in the link). “{shown}” is shown instead.",
        {"name": choice.label, "asked": str(requested)[:40], "shown": str(substitute)},
    )


def omit_items(choice: Choice[Any], remaining: Any, lost: Sequence[object]) -> None:
    """Keep the part of a choice that exists here, and tell the visitor which items were left out."""
    set_value(choice, remaining)
    _refusals()[choice.name] = link_reading.omitted_items_sentence(choice, lost)


def mark_refusal_shown(choice: Choice[Any]) -> None:
    """Note that the control of a choice says in this run why the link's value is not used."""
    streamlit_adapter.session_dict(_REPORTED)[choice.name] = True


def unreported_refusals() -> list[Message]:
    """Why values of the link are not used, of all for which no control has said so in this run."""
    reported = streamlit_adapter.session_dict(_REPORTED)
    return [message for name, message in _refusals().items() if name not in reported]


def link_parameters(page: str, *, strict: bool = False) -> dict[str, str]:
    """The parameters of the link of `page`. What is too large for a link is left out; with `strict`, a Problem."""
    parameters: dict[str, str] = {}
    for name, content in link_values(page).items():
        try:
            parameters[name] = _check_link_length(content) if isinstance(content, str) else link_reading.pack(content)
        except Problem:
            if strict:
                raise
    return parameters


def _check_link_length(text: str) -> str:
    """A text as it is, where a link can hold it: servers refuse an address of 16 KB, and some one of 8."""
    size = len(quote_plus(text))
    if size > link_reading.LONGEST:
        raise Problem(
            "A text takes {size} characters in a link, and a link holds {limit}: save this view as a file instead.",
            size=size,
            limit=link_reading.LONGEST,
        )
    return text


def restore(page: str, parameters: Mapping[str, Any]) -> None:
    """Choose what a saved view of `page` says; written into the link where that page is on show."""
    _read(page, parameters)
    _pages_from_links().add(page)
    streamlit_adapter.app_session()[_VIEW_OF] = page
    if page == streamlit_adapter.app_session().get(_PAGE):
        _write()


def link_values(page: str, *, include_opening: bool = False) -> dict[str, Any]:
    """Every parameter of the page that differs from its default: text, or the JSON of a canvas.

    Opening values are added where the bare address would not imply them; with `include_opening`, always.
    """
    parameters: dict[str, Any] = {}
    values = _chosen_values()
    for choice in page_choices(page):
        if choice.key not in values or choice.is_momentary:
            continue
        chosen = value(choice)
        if chosen == choice.default:
            continue
        if choice.short:
            parameters.setdefault(choice.inside, {})[choice.short] = choice.write(chosen)
        else:
            parameters[choice.inside or choice.name] = choice.write(chosen)
    for choice in opening_values(page):
        if value(choice) == choice.default and (include_opening or bool(parameters) == is_default(page)):
            parameters[choice.name] = choice.write(set_default(choice))
    return parameters


def _read(page: str, parameters: Mapping[str, Any]) -> None:
    """Set every choice of `page` from a link or a view. A value that makes no sense is left out and noted."""
    _refusals().clear()
    streamlit_adapter.app_session()[_WRITTEN] = dict(parameters)
    sets_choice = any(
        choice.page == page and (choice.inside or choice.name) in parameters for choice in page_choices(page)
    )
    (_pages_from_links().add if sets_choice else _pages_from_links().discard)(page)
    for choice in page_choices(page) if _chosen_values() else ():
        if not choice.is_momentary:
            _chosen_values().pop(choice.key, None)
    for choice, raw, chosen in link_reading.read(page, parameters):
        if not isinstance(chosen, Exception):
            set_value(choice, chosen)
            continue
        if isinstance(chosen, PartialValue):
            set_value(choice, chosen.usable)
        name = choice.inside if isinstance(chosen, link_reading.UnreadableParameter) else choice.name
        _refusals()[name] = link_reading.refusal_reason(choice, raw, chosen)


def _note_unknown_parameters(page: str) -> None:
    """Say which names of the link, at most three, are no choice of the page, as `layer` for `at`; others add theirs."""
    unread = [
        name for name in st.query_params if name not in page_parameters(page) and not _FOREIGN_PARAMETERS.match(name)
    ]
    if unread:
        names = [f"“{name[:40]}”" for name in unread[:3]] + ["…"] * (len(unread) > 3)
        _refusals()[_NO_CHOICE] = Message(
            "Left out of the link, because this page has nothing by that name: {names}.", {"names": MessageList(names)}
        )


def set_value(choice: Choice[Any], new: Any) -> None:
    """Store a choice in the session. A typed sentence is kept even where it equals the page's own example."""
    if new == choice.default and not choice.shared_key:
        _chosen_values().pop(choice.key, None)
    else:
        _chosen_values()[choice.key] = new


def _write() -> None:
    """Write this page's choices into the link in one step; parameters that are not the app's stay.

    Always sent: what this run knows of the browser's address may be late, and the browser ignores what it has.
    """
    if streamlit_adapter.app_session().get(_PAGE_ID, streamlit_adapter.page_id()) != streamlit_adapter.page_id():
        return  # a callback of the previous page, in a run that opens another, whose link this is
    page = current_page()
    page_names, parameters = page_parameters(page), link_parameters(page)
    others = {name: st.query_params[name] for name in st.query_params if name not in page_names}
    st.query_params.from_dict(others | parameters)
    streamlit_adapter.app_session()[_WRITTEN] = parameters


def _current_parameters(page: str) -> dict[str, str]:
    sent = st.query_params.to_dict()  # once: each look into them asks Streamlit for its session
    return {name: sent[name] for name in page_parameters(page) if name in sent}


def _chosen_values() -> dict[str, Any]:
    return streamlit_adapter.session_dict(_CHOSEN)


def _pages_from_links() -> set[str]:
    """The pages that a link with something in it, or a saved view, has set."""
    return cast(set[str], streamlit_adapter.app_session().setdefault(_LINKED, set()))


def _refusals() -> dict[str, Message]:
    return streamlit_adapter.session_dict(REFUSED)


# A view to hand on: the address that opens what is on show, and a file without the limit that a link has.
LONGEST_IN_CAPTION = 300  #: characters: a longer link under an exported picture could not be typed or read
VIEW_FORMAT = "attnviz-view-2"
LARGEST = 1_000_000  #: characters of a file


def view_address(longest: int = 100_000, *, omitted: Sequence[Choice[Any]] = ()) -> str | None:
    """The address that opens this view; None if longer than `longest` characters, or if the app's is unknown.

    The choices in `omitted` are left out.
    """
    url = st.context.url
    if not url:
        return None
    parameters = link_parameters(current_page())
    for choice in omitted:
        parameters.pop(choice.name, None)
    address = url.split("?")[0] + (f"?{urlencode(parameters)}" if parameters else "")
    return address if len(address) <= longest else None


def handed_on_link() -> str:
    """The page and the choices that are handed on to a room's phones.

    None of those of who reads, such as language and theme; of a lesson neither the lecturer's answer nor his own file,
    in which his notes stand.
    """
    page = current_page()
    hidden = {choice.name for choice in page_choices(page) if choice.page == EVERY_PAGE}
    kept = {name for name in link_parameters(page) if name not in hidden and not NOT_HANDED_ON.fullmatch(name)}
    parameters = {name: value for name, value in link_parameters(page).items() if name in kept}
    parameters |= HANDED_ON.get(page, {})
    return f"{page}?{urlencode(parameters)}" if parameters else page


def public_address(longest: int = 100_000) -> str | None:
    """The address that opens this view from anywhere; None where the app's address is local or of a private network."""
    address = view_address(longest)
    return None if address is None or _is_private(urlsplit(address).hostname or "") else address


def _is_private(host: str) -> bool:
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:  # a name; one without a dot means a machine of this network
        return "." not in host or host.endswith((".localhost", ".local", ".lan", ".internal"))


def save() -> str:
    """Everything chosen on this page as JSON text, without a limit on its length."""
    page = current_page()
    view = {"format": VIEW_FORMAT, "page": page, "choices": link_values(page, include_opening=True)}
    return json.dumps(view, ensure_ascii=False, indent=1)


def open_view(text: str) -> str:
    """Restore a saved view; returns the name of its page. Problem when the text is not a saved view."""
    page, parameters = follow_move(*_parse_view(text))
    for choice in page_choices(EVERY_PAGE):
        current = value(choice)
        if (
            choice.is_personal and current != choice.default
        ):  # chosen for reading: another one's view does not change it
            parameters[choice.name] = choice.write(current)
    restore(page, parameters)
    return page


def _parse_view(text: str) -> tuple[str, dict[str, Any]]:
    if len(text) > LARGEST:
        raise Problem("This file has {n} characters; a saved view has at most {most}.", n=len(text), most=LARGEST)
    try:
        view = json.loads(text)
        link_reading.refuse_half_characters(view)
    except (ValueError, RecursionError):
        raise Problem("This file is not a saved view: it is not JSON, or it was cut short.") from None
    if not isinstance(view, dict) or view.get("format") != VIEW_FORMAT:
        raise Problem(
            "This file is not a saved view of the version that can be opened here ({version}).", version=VIEW_FORMAT
        )
    page, parameters = view.get("page"), view.get("choices")
    if not isinstance(page, str) or not isinstance(parameters, dict) or not page_choices(page):
        raise Problem("This saved view is damaged: its page or its choices are missing.")
    return page, {str(name): content for name, content in parameters.items()}
