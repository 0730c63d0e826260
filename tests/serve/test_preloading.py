"""Streamlit's page names the scripts that its widgets will need; nothing else is touched."""

from __future__ import annotations

import gzip
import html
import json
import re

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from attnviz.app.mends.streamlit_adapter import FRONTEND, PAGE_STYLE
from attnviz.app.page_entry import CHART
from attnviz.serve import page_table, preloading
from attnviz.serve.preloading import WIDGETS, Preloading, further_of, scripts, with_names

PAGE = (FRONTEND / "index.html").read_bytes()
SETTINGS = {"allowedOrigins": ["https://a.example"], "useExternalAuthToken": False, "quoted": '"<'}
OTHER = "<html><head></head>no scripts</html>"


async def in_parts(_request):
    return StreamingResponse((PAGE[at : at + 1000] for at in range(0, len(PAGE), 1000)), media_type="text/html")


async def packed(_request):
    return Response(b"not really packed static/js/ </head>", media_type="text/html", headers={"content-encoding": "br"})


async def zipped(_request):
    return Response(gzip.compress(PAGE), media_type="text/html", headers={"content-encoding": "gzip", "etag": "old"})


@pytest.fixture
def client():
    routes = [
        Route("/", lambda _request: HTMLResponse(PAGE)),
        Route("/whole", lambda _request: HTMLResponse(PAGE)),
        Route("/compare", lambda _request: HTMLResponse(PAGE)),
        Route("/parts", in_parts),
        Route("/packed", packed),
        Route("/zipped", zipped),
        Route("/other", lambda _request: HTMLResponse(OTHER)),
        Route("/gone", lambda _request: HTMLResponse(PAGE, status_code=404)),
        Route("/_stcore/host-config", lambda _request: JSONResponse(SETTINGS)),
        Route("/data", lambda _request: JSONResponse({"static/js/": "</head>"})),
    ]
    return TestClient(Starlette(routes=routes, middleware=[Middleware(Preloading)]))


def test_every_widget_has_its_script_in_this_streamlit():
    assert [name for name in WIDGETS if not any(script.startswith(f"{name}.") for script in scripts())] == []
    there = {path.name for path in (FRONTEND / "static" / "js").iterdir()}
    assert set(scripts()) <= there


def test_a_page_names_the_scripts_of_what_it_has_besides_and_no_other_page_does(client):
    (chart,) = [name for name in scripts((CHART,)) if name.startswith(f"{CHART}.")]
    assert client.get("/").text.count(chart) == 0
    found = client.get("/compare").text
    assert found.count(chart) == 1
    begun = re.findall(r'data-begin href="\./static/js/([\w-]+)\.', found)
    assert sorted(begun) == sorted(further_of("compare")), "each is begun by itself, and what it imports with it"


def test_all_that_pages_have_besides_is_in_this_streamlit():
    wanted = {name for page in page_table.PAGES for name in page.scripts}
    assert {name for name in wanted if not any(script.startswith(f"{name}.") for script in scripts((name,)))} == set()


def test_streamlit_is_told_what_it_would_ask_its_server(client):
    (told,) = re.findall(r'data-settings="([^"]*)"', client.get("/").text)
    assert json.loads(html.unescape(told)) == SETTINGS


def test_a_server_that_says_nothing_of_the_kind_is_asked_by_streamlit():
    silent = Starlette(routes=[Route("/", lambda _request: HTMLResponse(PAGE))], middleware=[Middleware(Preloading)])
    assert "data-settings" not in TestClient(silent).get("/").text


def test_the_page_names_each_script_once_before_its_end(client):
    found = client.get("/")
    assert int(found.headers["content-length"]) == len(found.content)
    head = found.text.split("</head>")[0]
    named = re.findall(r'href="\./static/js/([\w.-]+\.js)"', head) + re.findall(
        r'src="\./static/js/([\w.-]+\.js)"', head
    )
    assert len(named) == len(set(named))
    assert set(scripts()) <= set(named)
    assert client.get("/parts").content == client.get("/whole").content


@pytest.mark.parametrize("path, body", [("/other", OTHER.encode()), ("/data", b'{"static/js/":"</head>"}')])
def test_other_answers_stay_as_they_are(client, path, body):
    assert client.get(path).content == body


def test_an_error_and_a_packed_page_stay_as_they_are(client):
    assert client.get("/gone").content == PAGE
    with client.stream("GET", "/packed", headers={"accept-encoding": "br"}) as answer:
        assert b"".join(answer.iter_raw()) == b"not really packed static/js/ </head>"
    assert client.head("/").headers["content-length"] == str(len(PAGE))


def test_a_script_that_streamlit_no_longer_has_is_left_out(monkeypatch):
    monkeypatch.setattr(preloading, "WIDGETS", ("NoSuchWidget",))
    scripts.cache_clear()
    try:
        assert with_names(PAGE).count(b"<link") == PAGE.count(b"<link")
    finally:
        scripts.cache_clear()


def test_our_script_comes_before_streamlit_s_own_also_where_the_page_is_compressed(client):
    page = client.get("/whole").text
    assert page.index(preloading.EARLY_ROUTE) < page.index("static/js/")
    zipped = client.get("/zipped")
    assert zipped.text == page
    assert "etag" not in zipped.headers


@pytest.mark.parametrize("query", ["%ff", "x=%ff&embed=true", "%00", "&&==", "%", "a=" + "b" * 9000])
def test_no_query_keeps_the_page_from_being_sent(client, query):
    assert client.get(f"/?{query}").status_code == 200


def test_the_page_s_title_comes_with_it_before_anything_that_needs_a_script(client):
    for path, title in (("/", "What is attention?"), ("/compare", "Attention, recurrence, convolution")):
        page = client.get(path).text
        assert 0 < page.index("<body>") < page.index(f"<b>{title}</b>") < page.index('<div id="root">')
        assert page.index(".heading-ahead {") < page.index("</head>")
    assert "heading-ahead" not in client.get("/whole").text


def test_start_below_a_base_path_has_its_title_too():
    below = Starlette(
        routes=[Route("/deep/app/", lambda _request: HTMLResponse(PAGE))],
        middleware=[Middleware(Preloading, base_path="/deep/app")],
    )
    assert "<b>What is attention?</b>" in TestClient(below).get("/deep/app/").text


def test_the_page_begins_with_the_style_that_the_script_sends_later(client):
    plain, embedded, presented = (client.get(f"/{query}").text for query in ("", "?embed=true", "?present=1"))
    assert client.get("/other").text == OTHER
    begun = plain.split("</head>")[0]
    for rule in PAGE_STYLE.splitlines()[1:-1]:
        assert rule in begun
    assert ".stMainBlockContainer { padding-top: 4.25rem }</style>" not in plain
    assert ".stMainBlockContainer { padding-top: 4.25rem }}</style>" in embedded
    assert "& { font-size" in presented
    assert "font-size: clamp(17px" not in plain
    assert [page.count('<style data-until=".stSidebar">') for page in (plain, embedded, presented)] == [1, 0, 0]
    assert all(page.count('<style data-until=".stHtml">html:root {') == 1 for page in (plain, embedded, presented))
