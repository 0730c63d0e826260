"""What this visitor has chosen: kept in the session, said in the link, the same when he comes back.

The session holds every choice that differs from its default, whether or not its widget is on the page. The
link of a page is written from it whenever a choice changes, in one step of the browser's history. When
the link changed by another hand (opened, pasted, Back), the link is the whole truth of its page. Coming back by
the menu, with nothing in the link, a page is as it was left, and the link says so again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar, cast
from urllib.parse import urlencode

import streamlit as st

from attnviz.core.message import Message, Problem
from attnviz.ui.shared import link_pack
from attnviz.ui.shared.choices import NONSENSE, Choice, Partly, choices_of, parameters_of

T = TypeVar("T")

_CHOSEN, _PAGE, _WRITTEN, _REFUSED = "_chosen", "_page_on_show", "_link_written", "_refused"
VIEW_FORMAT, OLD_VIEW_FORMAT = "attnviz-view-2", "attnviz-view-1"
LARGEST_VIEW = 1_000_000  # characters of a saved view


def value(choice: Choice[T]) -> T:
    """What was chosen, whether or not its widget is on the page; the default where nobody chose."""
    chosen = _chosen()
    if choice.key not in chosen:
        return choice.default
    found = chosen[choice.key]
    return cast(T, found[: choice.longest]) if choice.longest else cast(T, found)


def put(choice: Choice[T], new: T) -> None:
    """Choose, and say so in the link. Call it from callbacks, when a gesture has ended."""
    put_all({choice: new})


def put_all(changes: Mapping[Choice[Any], Any]) -> None:
    """Several choices in one step of the browser's history."""
    for choice, new in changes.items():
        keep(choice, new)
        _refused().pop(choice.name, None)
    _write()


def follow(page: str) -> bool:
    """Bring session and link of `page` together; once a run, before the page is drawn. Whether it was entered now."""
    entered = st.session_state.get(_PAGE) != page
    st.session_state[_PAGE] = page
    said = _said_now(page)
    if entered and not said:
        st.session_state[_REFUSED] = {}
        _write()
    elif entered or said != st.session_state.get(_WRITTEN):
        _read(page, said)
    return entered


def current_page() -> str:
    """The page that is on show."""
    return str(st.session_state.get(_PAGE, ""))


def refusal(choice: Choice[Any]) -> Message | None:
    """Why the link's word for this choice was not taken, if it was not; None once the visitor chose himself."""
    return _refused().get(choice.name)


def refuse(choice: Choice[Any], asked: object, shown: object) -> None:
    """The page has no such thing (a layer, a model): the choice goes back to its default, and that is said."""
    keep(choice, choice.default)
    _refused()[choice.name] = Message(
        "“{asked}” does not exist here ({name} in the link). Shown is “{shown}”.",
        {"name": choice.name, "asked": str(asked)[:40], "shown": str(shown)},
    )


def leave_out(choice: Choice[Any], kept: Any, lost: Sequence[object]) -> None:
    """Only some of what was chosen exists here: the rest is let go, and that is said."""
    keep(choice, kept)
    _refused()[choice.name] = _left_out(lost)


def refusals_without_widget() -> list[Message]:
    """What the link asked of canvases in vain: no widget is there to say it."""
    page, found = current_page(), _refused()
    names = [choice.name for choice in choices_of(page) if choice.kind in ("canvas", "other")] + _packs(page)
    return [found[name] for name in dict.fromkeys(names) if name in found]


def too_large() -> Problem | None:
    """Why the link cannot hold all of the canvas, where it cannot: then only a saved view has everything."""
    try:
        link_parameters(current_page(), strict=True)
    except Problem as problem:
        return problem
    return None


def link_parameters(page: str, *, strict: bool = False) -> dict[str, str]:
    """What the link of `page` says. A canvas too large for a link is left out, or with `strict` a Problem."""
    said: dict[str, str] = {}
    for name, held in _link_values(page).items():
        if isinstance(held, str):
            said[name] = held
            continue
        try:
            said[name] = link_pack.pack(held)
        except Problem:
            if strict:
                raise
    return said


def address(longest: int = 100_000) -> str | None:
    """The address that opens this very view; None where the page's own is not known, or beyond `longest` characters."""
    url = st.context.url
    if not url:
        return None
    said = link_parameters(current_page())
    whole = url.split("?")[0] + (f"?{urlencode(said)}" if said else "")
    return whole if len(whole) <= longest else None


def saved_view() -> str:
    """Everything chosen on this page as JSON text, however much it is."""
    page = current_page()
    view = {"format": VIEW_FORMAT, "page": page, "choices": _link_values(page)}
    return json.dumps(view, ensure_ascii=False, indent=1)


def open_view(text: str) -> str:
    """Take everything from a saved view; answers the page that it is of. Problem when the text is no saved view."""
    page, said = _parsed_view(text)
    _read(page, said)
    if page == st.session_state.get(_PAGE):
        _write()
    return page


def _parsed_view(text: str) -> tuple[str, dict[str, Any]]:
    if len(text) > LARGEST_VIEW:
        raise Problem("This file has {n} characters; a saved view has at most {most}.", n=len(text), most=LARGEST_VIEW)
    try:
        view = json.loads(text)
    except (ValueError, RecursionError):
        raise Problem("This file is not a saved view: it is no JSON, or was cut short.") from None
    known = (VIEW_FORMAT, OLD_VIEW_FORMAT)
    if not isinstance(view, dict) or view.get("format") not in known:
        raise Problem("This file is not a saved view of this version ({version}).", version=VIEW_FORMAT)
    page, said = view.get("page"), view.get("choices")
    if view["format"] == OLD_VIEW_FORMAT:
        page, said = "explore", _old_view(view)
    if not isinstance(page, str) or not isinstance(said, dict) or not choices_of(page):
        raise Problem("This saved view is damaged: its page or its choices are missing.")
    return page, {str(name): held for name, held in said.items()}


def _old_view(view: dict[str, Any]) -> dict[str, Any] | None:
    """The first format: the explorer's link, and its canvas apart. It held only some choices; the others stay."""
    link, canvas = view.get("link"), view.get("canvas")
    if not isinstance(link, dict) or not isinstance(canvas, dict):
        return None
    others = {name: held for name, held in _link_values("explore").items() if name != "c"}
    return others | link | ({"c": canvas} if canvas else {})


def _link_values(page: str) -> dict[str, Any]:
    """Each parameter of the page that is not at its default: text, or the JSON of a canvas."""
    said: dict[str, Any] = {}
    for choice in choices_of(page):
        chosen = value(choice)
        if chosen == choice.default:
            continue
        if not choice.inside:
            said[choice.name] = choice.write(chosen)
        elif choice.short:
            said.setdefault(choice.inside, {})[choice.short] = choice.write(chosen)
        else:
            said[choice.inside] = choice.write(chosen)
    return said


def _read(page: str, said: Mapping[str, Any]) -> None:
    """Take every choice of `page` from what a link or a view says; what makes no sense is left out, and said."""
    st.session_state[_REFUSED] = {}
    st.session_state[_WRITTEN] = dict(said)
    packed = {name: _unpacked(name, said[name]) for name in _packs(page) if name in said}
    for choice in choices_of(page):
        _chosen().pop(choice.key, None)
        held = packed.get(choice.inside) if choice.inside else said.get(choice.name)
        if choice.short and held is not None and not isinstance(held, dict):
            _refused()[choice.inside] = _unreadable(choice.inside)
            continue
        if choice.short and held is not None:
            held = held.get(choice.short)
        if held is None:
            continue
        try:
            keep(choice, choice.read(held))
        except Partly as partly:
            keep(choice, partly.kept)
            _refused()[choice.name] = _partly(choice, held, partly)
        except Problem as problem:
            _refused()[choice.name] = problem.message
        except NONSENSE:
            _refused()[choice.name] = _no_such(choice, held, choice.default)


def _packs(page: str) -> list[str]:
    return list(dict.fromkeys(choice.inside for choice in choices_of(page) if choice.inside))


def _unpacked(name: str, held: Any) -> Any:
    if not isinstance(held, str):
        return held  # of a saved view, which is JSON already
    try:
        return link_pack.unpack(held)
    except Problem as problem:
        _refused()[name] = problem.message
        return None


def _no_such(choice: Choice[Any], asked: object, shown: object) -> Message:
    params = {"name": choice.name, "asked": str(asked)[:40], "shown": str(shown)}
    if choice.kind in ("whole", "real"):
        params |= {"low": f"{choice.low:g}", "high": f"{choice.high:g}"}
        return Message("The link asks for {name} = “{asked}”; it must lie between {low} and {high}.", params)
    if choice.kind == "canvas":
        return _unreadable(choice.name)
    if choice.ids and len(choice.ids) <= 12:
        params["allowed"] = ", ".join(choice.ids)
        return Message("The link asks for {name} = “{asked}”; it can be {allowed}. Shown is “{shown}”.", params)
    return Message("The link asks for {name} = “{asked}”, which does not exist here. Shown is “{shown}”.", params)


def _partly(choice: Choice[Any], held: Any, partly: Partly) -> Message:
    if not partly.lost:
        params: dict[str, object] = {"n": len(held), "most": choice.longest}
        return Message("The link's text has {n} characters; the first {most} are used.", params)
    return _left_out(partly.lost)


def _left_out(lost: Sequence[object]) -> Message:
    return Message("Not here, and left out: {names}", {"names": ", ".join(str(each)[:20] for each in lost[:10])})


def _unreadable(name: str) -> Message:
    return Message("What this link holds under {name} cannot be read and is left out.", {"name": name})


def keep(choice: Choice[Any], new: Any) -> None:
    """Into the session; a sentence that was typed stays typed, even where it equals the page's own example."""
    if new == choice.default and not choice.kept_as:
        _chosen().pop(choice.key, None)
    else:
        _chosen()[choice.key] = new


def _write() -> None:
    """Make the link say what was chosen on this page, in one step; parameters of other hands stay."""
    page = current_page()
    ours = parameters_of(page)
    said = link_parameters(page)
    now = {name: st.query_params[name] for name in st.query_params}
    wanted = {name: text for name, text in now.items() if name not in ours} | said
    if wanted != now:
        st.query_params.from_dict(wanted)
    st.session_state[_WRITTEN] = said


def _said_now(page: str) -> dict[str, str]:
    return {name: st.query_params[name] for name in parameters_of(page) if name in st.query_params}


def _chosen() -> dict[str, Any]:
    return cast(dict[str, Any], st.session_state.setdefault(_CHOSEN, {}))


def _refused() -> dict[str, Message]:
    return cast(dict[str, Message], st.session_state.setdefault(_REFUSED, {}))
