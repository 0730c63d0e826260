"""What is added to Streamlit's page, and what a messenger reads of a link from it."""

import html
import re
import struct

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import HTMLResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from attnviz.app.page_entry import CHART
from attnviz.app.workarounds.streamlit_adapter import FRONTEND
from attnviz.serve import server
from attnviz.serve.index_page import WIDGETS, IndexPage
from attnviz.serve.page_table import PAGES

PAGE = (FRONTEND / "index.html").read_bytes()
SCRIPTS = FRONTEND / "static" / "js"


@pytest.fixture
def client():
    routes = [Route(path, lambda _request: HTMLResponse(PAGE)) for path in ("/", "/compare")]
    return TestClient(Starlette(routes=routes, middleware=[Middleware(IndexPage)]))


def named(page: str) -> list[str]:
    """The scripts that the head of a page names."""
    return re.findall(r'(?:href|src)="\./static/js/([\w.-]+\.js)"', page.split("</head>")[0])


def test_a_page_names_the_scripts_of_what_it_has_besides_and_no_other_page_does(client):
    home, compare = named(client.get("/").text), named(client.get("/compare").text)
    assert len(compare) == len(set(compare))
    assert [name for name in home if name.startswith(f"{CHART}.")] == []
    assert [name for name in compare if name.startswith(f"{CHART}.")] != []
    assert {name for name in (*home, *compare) if not (SCRIPTS / name).exists()} == set()
    assert all(any(name.startswith(f"{widget}.") for name in home) for widget in WIDGETS)


@pytest.mark.parametrize(
    "figure, shown", [("s_growth", True), ("a b", False), ("x</style><script>", False), ("", False)]
)
def test_a_figure_alone_inside_another_page_hides_the_rest_from_the_beginning(client, figure, shown):
    asked = {"embed": "true", "figure": figure}
    page = client.get("/", params=asked).text
    assert (f".st-key-{figure}-under" in page) is shown
    assert page.count("<script>") == PAGE.decode().count("<script>")
    assert "-under)" not in client.get("/", params={"figure": figure}).text, "only inside another page"


def titles_and_tags(page):
    """The titles of a page, and what each of its meta tags says, of which none stands twice."""
    tags = re.findall(r'<meta (?:property|name)="([\w:]+)" content="([^"]*)"', page)
    assert len(dict(tags)) == len(tags)
    return re.findall(r"<title>(.*?)</title>", page), {name: html.unescape(text) for name, text in tags}


def served(base=""):
    routes = [Route("/{place:path}", lambda _request: HTMLResponse(PAGE))]
    app = Starlette(routes=[*server.routes(base), *routes], middleware=[Middleware(IndexPage, base_path=base)])
    return TestClient(app, base_url="http://class.example:8501")


@pytest.mark.parametrize(
    "old, today",
    [
        ("/masks?m_view=training&lang=zh", "/born?born_section=others&born_changed=no-mask&lang=zh"),
        ("/app/fast/?fast_section=traps", "/app/mistakes?mistake=no_maximum&guess=no_maximum.0"),
        ("/positions?p_section=norm", "/positions?p_section=video&p_v_norm=full&p_v_growth=8"),
    ],
)
def test_a_link_to_a_section_that_has_moved_is_answered_with_its_place_so_that_back_leads_to_where_one_was(old, today):
    client = served()
    for _again in range(2):  # kept, the second time
        found = client.get(old)
        assert [str(answer.url) for answer in found.history] == [f"http://class.example:8501{old}"]
        assert str(found.url) == f"http://class.example:8501{today}"
        assert "x-content-type-options" in found.history[0].headers


@pytest.mark.parametrize("row", PAGES, ids=lambda row: row.name)
def test_each_page_has_its_title_its_question_and_a_picture_of_this_server(row):
    client = served()
    titles, named = titles_and_tags(client.get("/" if row.is_home else f"/{row.name}?text=my+secret").text)
    assert titles == [named["og:title"]]
    assert named["og:title"] == ("attnviz" if row.is_home else f"{row.title} · attnviz")
    assert named["og:description"] == named["description"]
    assert row.is_home or named["og:description"] == row.question
    assert "secret" not in str(named)
    picture = client.get(named["og:image"])
    assert picture.headers["content-type"] == "image/png"
    size = struct.unpack(">II", picture.content[16:24])
    assert size == (1200, 630)
    assert [named[f"og:image:{side}"] for side in ("width", "height")] == [str(each) for each in size]
    assert len(picture.content) < 200_000
