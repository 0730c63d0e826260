"""The pages of a student's phone and of the lecturer's own window: without Streamlit, in the reader's language."""

import html
import json
from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute

from attnviz.base import rasterised
from attnviz.base.words import _, current_language, supported_language, use_language
from attnviz.rooms.limits import WRONG_CODES
from attnviz.rooms.room_file import CODE, RoomFile
from attnviz.rooms.sockets import serve_room_socket
from attnviz.rooms.texts import lecturer_texts, phone_texts

PATH = "r"  #: below the app's root; short, since it is typed
SCRIPTS = "_stcore/bidi-components"  #: where Streamlit serves each component's files

_PAGE = """<!doctype html>
<html lang="{language}"><head><meta charset="utf-8"><title>attnviz {code}</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex">
<meta name="referrer" content="no-referrer"><link rel="icon" href="data:,">
<link rel="stylesheet" href="{root}{font}"><link rel="stylesheet" href="{root}{scripts}/attnviz.{script}/{script}.css">
<script type="module" src="{root}{scripts}/attnviz.{script}/{script}.js"></script></head>
<body><main id="room"></main>{form}
<noscript><p>{noscript}</p></noscript>
<script type="application/json" id="room-data">{data}</script></body></html>"""
_FORM = """<form action="{root}{path}" method="get"><p role="alert">{why}</p><label for="code">{label}</label>
<input id="code" name="code" maxlength="12" required autocomplete="off" autocapitalize="characters" spellcheck="false"
 {focus}><button class="av-button">{join}</button></form>"""


def room_routes(root: str = "") -> list[BaseRoute]:
    """The routes of phones, below the app's root, which ends without a slash."""
    return [
        Route(f"{root}/{PATH}", type_code),
        Route(f"{root}/{PATH}/{{code}}", phone_page),
        Route(f"{root}/{PATH}/{{code}}/present", lecturer_page),
        WebSocketRoute(f"{root}/{PATH}/{{code}}/socket", serve_room_socket),
    ]


def in_browser_language(answer: Callable[[Request], Response]) -> Callable[[Request], Response]:
    """An answer in the language of the address, else in the one that the browser asks for first."""

    def answer_in_language(request: Request) -> Response:
        asked = request.query_params.get("lang") or request.headers.get("accept-language", "")
        asked = asked.split(",")[0].split(";")[0].strip()
        with use_language(supported_language(asked)):
            return answer(request)

    return answer_in_language


@in_browser_language
def type_code(request: Request) -> Response:
    """The field for a code; what was typed into it leads to its room."""
    code = request.query_params.get("code", "").strip().upper()
    if CODE.fullmatch(code):
        return RedirectResponse(f"{PATH}/{code}", 303)
    return _render("", "./", _("A code has five letters, none of them a vowel.") if code else "", 404 if code else 200)


@in_browser_language
def phone_page(request: Request) -> Response:
    """A room's page, or where there is none the field for a code and a sentence."""
    return _room_page(request, "../")


@in_browser_language
def lecturer_page(request: Request) -> Response:
    """The lecturer's own window. Its secret stands behind the # of its address, which no browser sends."""
    return _room_page(request, "../../", "presenter_window", lecturer_texts())


def _room_page(request: Request, root: str, script: str = "phone", words: dict[str, str] | None = None) -> Response:
    code = request.path_params["code"].upper()
    if not WRONG_CODES.has():
        return _render("", root, _("Too many wrong codes were typed here. Try again in a few seconds."), 429)
    room = RoomFile.open(code)
    if room is None:
        WRONG_CODES.add()
        return _render("", root, _("There is no room with this code: it is mistyped, or its class has ended."), 404)
    room.close()
    return _render(code, root, "", 200, script, words)


def _render(
    code: str, root: str, why: str, status: int, script: str = "phone", words: dict[str, str] | None = None
) -> Response:
    form = _FORM.format(
        root=root,
        path=PATH,
        why=html.escape(why),
        label=html.escape(_("The code on the wall")),
        join=html.escape(_("Join")),
        focus="" if code else "autofocus",
    )
    data: dict[str, Any] = {"code": code, "root": root, "scripts": SCRIPTS, "words": words or phone_texts()}
    page = _PAGE.format(
        language=current_language(),
        code=code,
        root=root,
        scripts=SCRIPTS,
        script=script,
        font=rasterised.ROUTE,
        form="" if code else form,
        noscript=html.escape(_("This page needs JavaScript.")),
        data=json.dumps(data, ensure_ascii=True).replace("<", "\\u003c"),
    )
    return HTMLResponse(page, status, {"Cache-Control": "no-store"})
