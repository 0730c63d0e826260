"""What is added to Streamlit's page, and what a messenger reads of a link from it."""

import asyncio
import gzip
import re
import struct
from html.parser import HTMLParser

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from attnviz.app.mends.streamlit_adapter import FRONTEND
from attnviz.app.page_entry import CHART
from attnviz.serve import index_page, server
from attnviz.serve.index_page import (
    EARLY_ROUTE,
    PREVIEW_ROUTE,
    WIDGETS,
    IndexPage,
    style_sheet,
)
from attnviz.serve.page_table import PAGES
from tests.own_thread import in_own_thread
from tests.serve.test_page_policy import directive

PAGE = (FRONTEND / "index.html").read_bytes()
SCRIPTS = FRONTEND / "static" / "js"
OTHER = "<html><head></head>no scripts</html>"
SAVED = "<!doctype html><html><head><title>Layer 5, head 4</title></head><body></body></html>"  # by a visitor


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
        Route("/media/live.html", lambda _request: HTMLResponse(SAVED)),
        Route("/gone", lambda _request: HTMLResponse(PAGE, status_code=404)),
        Route("/data", lambda _request: JSONResponse({"static/js/": "</head>"})),
    ]
    return TestClient(Starlette(routes=routes, middleware=[Middleware(IndexPage)]))


def named(page: str) -> list[str]:
    """The scripts that the head of a page names."""
    return re.findall(r'(?:href|src)="\./static/js/([\w.-]+\.js)"', page.split("</head>")[0])


def test_every_widget_that_a_page_names_has_its_script_in_this_streamlit():
    wanted = {*WIDGETS, *(name for page in PAGES for name in page.scripts)}
    assert {name for name in wanted if not list(SCRIPTS.glob(f"{name}.*.js"))} == set()


def test_a_page_names_the_scripts_of_what_it_has_besides_and_no_other_page_does(client):
    home, compare = named(client.get("/").text), named(client.get("/compare").text)
    assert len(compare) == len(set(compare))
    assert [name for name in home if name.startswith(f"{CHART}.")] == []
    assert [name for name in compare if name.startswith(f"{CHART}.")] != []
    assert {name for name in (*home, *compare) if not (SCRIPTS / name).exists()} == set()
    assert all(any(name.startswith(f"{widget}.") for name in home) for widget in WIDGETS)


def test_a_page_that_comes_in_parts_is_changed_as_a_whole_one(client):
    assert client.get("/parts").content == client.get("/whole").content
    answer = client.get("/")
    assert int(answer.headers["content-length"]) == len(answer.content)


@pytest.mark.parametrize(
    "path, body", [("/other", OTHER), ("/media/live.html", SAVED), ("/data", '{"static/js/":"</head>"}')]
)
def test_other_answers_stay_as_they_are(client, path, body):
    assert client.get(path).text == body


def test_an_error_and_a_packed_page_stay_as_they_are_and_every_answer_carries_the_headers(client):
    assert client.get("/gone").content == PAGE
    with client.stream("GET", "/packed", headers={"accept-encoding": "br"}) as answer:
        assert b"".join(answer.iter_raw()) == b"not really packed static/js/ </head>"
    assert client.head("/").headers["content-length"] == str(len(PAGE))
    for path, status in [("/", 200), ("/other", 200), ("/nothing", 404)]:
        answer = client.get(path)
        assert answer.status_code == status
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Referrer-Policy"] == "strict-origin-when-cross-origin"
        assert directive(answer.headers["Content-Security-Policy"], "object-src") == ["'none'"]


def test_our_script_comes_before_streamlit_s_own_also_where_the_page_is_compressed(client):
    page = client.get("/whole").text
    assert page.index(EARLY_ROUTE) < page.index("static/js/")
    assert PAGE.decode().split("</title>")[1].split("</head>")[0].strip() in page, "the rest is as Streamlit wrote it"
    zipped = client.get("/zipped")
    assert zipped.text == page
    assert "etag" not in zipped.headers


def test_a_page_is_made_once_for_all_who_ask_alike_and_the_oldest_are_forgotten(client, monkeypatch):
    made = []
    monkeypatch.setattr(IndexPage, "_changed", lambda _self, page, scope: made.append(scope["path"]) or page)
    for query in ("", "", "?figure=x", "?figure=x"):
        assert client.get(f"/whole{query}").status_code == 200
    client.get("/whole", headers={"x-forwarded-proto": "https"})
    client.get("/whole", headers={"accept-encoding": "identity"})
    client.get("/compare")
    assert made == ["/whole"] * 4 + ["/compare"]
    for number in range(index_page.MOST_KEPT):
        client.get(f"/whole?figure={number}")
    made.clear()
    client.get("/compare")
    client.get(f"/whole?figure={number}")
    assert made == ["/compare"]


@pytest.mark.parametrize("query", ["%ff", "x=%ff&embed=true", "%00", "&&==", "%", "a=" + "b" * 9000])
def test_no_query_keeps_the_page_from_being_sent(client, query):
    assert client.get(f"/?{query}").status_code == 200


def test_the_style_of_the_app_and_of_each_page_comes_with_the_page(client):
    head = client.get("/").text.split("</head>")[0]
    assert f"<style>{style_sheet()}</style>" in head
    for words in (".stMainBlockContainer", "html[data-present]:root", ".st-key-l-vectors", ".st-key-canvas-of-h-three"):
        assert words in head


def test_no_rule_asks_what_the_whole_page_holds():
    """Whatever is added anywhere, each mark of a chart, would make the browser style all elements again."""
    whole = r"(?:\bhtml|\bbody|:root|#root|\.stApp\w*|\.stMain\w*|\"stApp\w*\"\]|\"stMain\"\])"
    assert re.findall(whole + r"[^\s,>+~{]*:has\([^)]*\)", style_sheet()) == []
    assert (
        re.findall(whole + r"[^\s,>+~{]*:has\([^)]*\)", ".stAppViewContainer:not(:has(> p)), html:root:has(a) b") != []
    )


@pytest.mark.parametrize(
    "figure, shown", [("s_growth", True), ("a b", False), ("x</style><script>", False), ("", False)]
)
def test_a_figure_alone_inside_another_page_hides_the_rest_from_the_beginning(client, figure, shown):
    asked = {"embed": "true", "figure": figure}
    page = client.get("/whole", params=asked).text
    assert (f".st-key-{figure}-under" in page) is shown
    assert page.count("<script>") == PAGE.decode().count("<script>")
    assert "-under)" not in client.get("/whole", params={"figure": figure}).text, "only inside another page"


class Read(HTMLParser):
    """The title and the tags of a page."""

    def __init__(self, page):
        super().__init__()
        self.named, self.titles, self._inside = {}, [], False
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        told = dict(attrs)
        self._inside = tag == "title"
        if tag == "meta" and "content" in told:
            name = told.get("property", told.get("name"))
            assert name not in self.named, f"{name} stands twice"
            self.named[name] = told["content"]

    def handle_data(self, data):
        if self._inside:
            self.titles.append(data)
            self._inside = False


def served(base=""):
    routes = [Route("/{place:path}", lambda _request: HTMLResponse(PAGE))]
    app = Starlette(routes=[*server.routes(base), *routes], middleware=[Middleware(IndexPage, base_path=base)])
    return TestClient(app, base_url="http://class.example:8501")


@pytest.mark.parametrize("row", PAGES, ids=lambda row: row.name)
def test_each_page_has_its_title_its_question_and_a_picture_of_this_server(row):
    client = served()
    found = Read(client.get("/" if row.is_home else f"/{row.name}?text=my+secret").text)
    assert found.titles == [found.named["og:title"]]
    assert found.named["og:title"] == ("attnviz" if row.is_home else f"{row.title} · attnviz")
    assert found.named["og:description"] == found.named["description"]
    assert row.is_home or found.named["og:description"] == row.question
    assert "secret" not in str(found.named)
    picture = client.get(found.named["og:image"])
    assert picture.headers["content-type"] == "image/png"
    size = struct.unpack(">II", picture.content[16:24])
    assert size == (1200, 630)
    assert [found.named[f"og:image:{side}"] for side in ("width", "height")] == [str(each) for each in size]
    assert len(picture.content) < 200_000


def test_a_preview_is_in_the_language_that_the_link_names():
    client = served()
    assert Read(client.get("/masks?lang=zh").text).named["og:description"] != PAGES[0].question
    english, chinese, nonsense = (
        Read(client.get(f"/masks?lang={each}").text).named["og:title"] for each in ("en", "zh", "%ff<x>")
    )
    assert english == nonsense == "Masks · attnviz"
    assert chinese != english
    assert chinese.endswith(" · attnviz")


@pytest.mark.parametrize(
    "headers, base, address",
    [
        ({}, "", "http://class.example:8501"),
        ({"x-forwarded-proto": "https"}, "", "https://class.example:8501"),
        ({"x-forwarded-proto": "https, http"}, "uni/attn", "https://class.example:8501/uni/attn"),
        ({"host": "[::1]:80"}, "", "http://[::1]:80"),
    ],
)
def test_the_picture_has_the_address_by_which_the_app_is_known(headers, base, address):
    found = Read(served(base=base).get(f"/{base}/masks" if base else "/masks", headers=headers).text)
    assert found.named["og:image"] == f"{address}/{PREVIEW_ROUTE}"
    assert found.named["og:title"] == "Masks · attnviz"


@pytest.mark.parametrize(
    "headers", [{"host": 'x"><script>'}, {"host": "a b"}, {"x-forwarded-proto": "javascript"}, {"host": ""}]
)
def test_an_address_that_is_none_leaves_the_picture_out(headers):
    page = served().get("/masks", headers=headers).text
    found = Read(page)
    assert "og:image" not in found.named
    assert found.named["twitter:card"] == "summary"
    assert "<script>" not in page.split("</title>")[1].split("twitter:card")[0]


def test_a_kept_page_that_is_pushed_out_while_it_is_sent_is_sent_once():
    sent = []

    async def never(scope, receive, send):
        raise AssertionError("the app is not asked again")

    page = index_page.IndexPage(never)
    scope = {"type": "http", "method": "GET", "scheme": "http", "path": "/", "query_string": b"", "headers": []}
    asked = ("GET", "http", "/", b"", None, None, None, None)
    page.kept = {asked: [{"type": "http.response.start", "headers": []}, {"type": "http.response.body", "body": b"x"}]}

    async def send(message):
        sent.append(message["type"])
        page.kept = {}

    in_own_thread(asyncio.run, page(scope, None, send))
    assert sent == ["http.response.start", "http.response.body"]
