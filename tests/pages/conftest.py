"""Fixtures that open pages through the app's main script, as a visitor does."""

import contextlib
import html
import io
import json
import logging
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from attnviz.app.exports import GATHERING, ExportOffer, FigureCollector
from attnviz.base.packed import unpack_blob
from tests.models.conftest import minilm, smollm2

__all__ = ["minilm", "smollm2"]

ROOT = Path(__file__).parents[2]


#: menus and boxes whose contents are drawn once they are open
MENUS = ("more", "display", "reading")


def open_page(name: str = "home", **link: str) -> Any:
    """Open a page with these link parameters, and run it. Its menus of controls are open."""
    app = AppTest.from_file(str(ROOT / "attnviz/serve/main.py"), default_timeout=120)
    if name != "home":
        app.switch_page(f"../pages/{name}/{name}.py")
    for key, value in link.items():
        app.query_params[key] = value
    for menu in MENUS:
        app.session_state[menu] = True
    assert not app.run().exception
    return app


def sound(page: Any) -> Any:
    """The page, where nothing failed and nothing is refused.

    A box that unfolds shows no Markdown, and no entities. Charts are called by what they show, and no two alike.
    """
    assert not page.exception
    assert not [option for box in page.selectbox for option in box.options if "&#" in option]
    assert not page.error, [each.value for each in page.error]
    called = [chart.proto.alt for chart in page.get("plotly_chart")]
    assert all(len(name) > 5 and not re.search(r"\*\*|&#|<b>|\$", name) for name in called), called
    assert len(set(called)) == len(called)
    return page


def said(page: Any) -> str:
    """All sentences of the page, as Markdown has them."""
    kinds = (page.markdown, page.caption, page.info, page.warning, page.error, page.success, page.subheader)
    return " ".join(str(part.value) for kind in kinds for part in kind)


def read(page: Any) -> str:
    """All sentences of the page, as a visitor reads them."""
    return html.unescape(said(page))


def charts(page: Any) -> list[dict[str, Any]]:
    """What Plotly was sent for each chart."""
    return [json.loads(each.proto.spec) for each in page.get("plotly_chart")]


def ran(code: str, given: dict[str, Any] | None = None) -> tuple[dict[str, Any], str]:
    """What a program leaves behind, by name, and what it prints; `given` is there before it."""
    names = dict(given or {})
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(code, names)
    return names, printed.getvalue()


def link_of(page: Any) -> dict[str, str]:
    """What the address says, by parameter."""
    return {name: held[-1] if isinstance(held, list) else held for name, held in page.query_params.items()}


def canvases_on(page: Any) -> list[Any]:
    """The components that show a picture; the one that listens for a lecturer's keys shows none."""
    return [each for each in page.get("bidi_component") if each.proto.bytes]


def drawn(page: Any, component: str = "") -> tuple[dict[str, Any], bytes]:
    """Header and payload of what the first canvas of this kind was sent."""
    return next(
        unpack_blob(each.proto.bytes) for each in canvases_on(page) if each.proto.component_name.endswith(component)
    )


def offers(page: Any) -> list[ExportOffer]:
    """What the page offers to be saved."""
    page.session_state[GATHERING] = gathering = FigureCollector(None)
    page.run()
    assert not page.exception
    return gathering.offers


def with_code(page: Any) -> Any:
    """The page with its programs open: what is closed is neither computed nor sent."""
    kept = page.session_state._state.filtered_state
    closed = [key for key, is_open in kept.items() if key.startswith("code-") and not is_open]
    for key in closed:
        page.session_state[key] = True
    return page.run() if closed else page


@pytest.fixture
def visit() -> Callable[..., Any]:
    """`visit("explore", text="...")` opens a page with these link parameters, and runs it."""
    return open_page


@pytest.fixture(autouse=True)
def no_panel_fails(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Fail when a panel failed: the page goes on with a sentence and no exception, so only the log shows it."""
    yield
    failed = [record.getMessage() for record in caplog.get_records("call") if record.levelno >= logging.ERROR]
    assert not failed
