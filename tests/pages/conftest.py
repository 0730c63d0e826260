"""Pages are driven through the app's own main script, as a visitor reaches them."""

from __future__ import annotations

import gettext
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from attnviz import words
from scripts import words as script
from tests.models.conftest import minilm

__all__ = ["minilm"]

ROOT = Path(__file__).parents[2]


def open_page(name: str = "home", **link: str) -> Any:
    """Open a page with what its link holds, and run it."""
    app = AppTest.from_file(str(ROOT / "attnviz/ui/web/main.py"), default_timeout=120)
    if name != "home":
        app.switch_page(f"../../../pages/{name}.py")
    for key, value in link.items():
        app.query_params[key] = value
    return app.run()


@pytest.fixture
def visit() -> Callable[..., Any]:
    """`visit("explore", text="...")` opens a page with what its link holds, and runs it."""
    return open_page


@pytest.fixture(scope="session")
def sentences(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """What the template for translators holds, made from the code as it stands."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(script, "POT", tmp_path_factory.mktemp("locale") / "attnviz.pot")
        script.collect()
        return script.template()


@pytest.fixture(autouse=True)
def everything_said_can_be_translated(sentences: set[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Whatever a page looks up while a test drives it is in the template, however it got there."""
    said: set[str] = set()

    class Listening(gettext.NullTranslations):
        def gettext(self, message: str) -> str:
            said.add(message)
            return message

        def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
            said.update((msgid1, msgid2))
            return super().ngettext(msgid1, msgid2, n)

    monkeypatch.setattr(words, "_translations", lambda _language: Listening())
    yield
    assert not said - sentences, f"not in the template for translators: {said - sentences}"


@pytest.fixture(autouse=True)
def no_panel_fails(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """A panel that fails leaves a sentence and the rest of the page, so `page.exception` is empty: the log tells."""
    yield
    failed = [record.getMessage() for record in caplog.get_records("call") if record.levelno >= logging.ERROR]
    assert not failed
