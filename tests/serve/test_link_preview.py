"""What a messenger reads of a link: from the page as it is sent, for no script runs there."""

from __future__ import annotations

import struct
from html.parser import HTMLParser

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import HTMLResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from attnviz.app.mends.streamlit_adapter import FRONTEND
from attnviz.serve import server
from attnviz.serve.index_page import PREVIEW_ROUTE, IndexPage, with_preview
from attnviz.serve.page_table import PAGES

PAGE = (FRONTEND / "index.html").read_text("utf-8")


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


def served(page=PAGE, base=""):
    routes = [Route("/{place:path}", lambda _request: HTMLResponse(page))]
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


def test_the_rest_of_the_page_is_as_streamlit_wrote_it():
    with_tags = served().get("/masks").text
    assert with_tags.count("<title>") == 1
    assert with_preview(b"<html>no title</html>", PAGES[1], "", None) == b"<html>no title</html>"
    assert PAGE.split("</title>")[1].split("</head>")[0].strip() in with_tags


def test_a_file_that_a_visitor_saves_is_sent_as_it_is():
    file = "<!doctype html><html><head><title>Layer 5, head 4</title></head><body></body></html>"
    assert served(file).get("/media/live.html").text == file
