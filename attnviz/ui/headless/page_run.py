"""Run a page's script for a link, as Streamlit's own testing runs it: no server, no browser, the same code."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass

from streamlit.testing.v1 import AppTest

from attnviz.core.message import Problem
from attnviz.ui.headless.app_link import AppLink
from attnviz.ui.shared import Gathering, MadeFigure, file_of, gather
from attnviz.ui.web import server

LONGEST = 3600.0  # seconds that a page may take: a model may have to be prepared first
#: warns in each run that the script runs without a browser
QUIET = "streamlit.runtime.scriptrunner_utils.script_run_context"


@dataclass(frozen=True)
class PageAnswer:
    """What the page offers to save, by file name; the figure that was wanted; and the sentences it would warn with."""

    names: tuple[str, ...]
    figure: MadeFigure | None
    file_name: str
    said: tuple[str, ...]


def run_page(link: AppLink, wanted: str | None = None) -> PageAnswer:
    """The page of `link`, with the figure called `wanted`; None makes none.

    "" is the figure that the page is about: its first, but for an overview.
    """
    logging.getLogger(QUIET).setLevel(logging.ERROR)
    gathering = Gathering(wanted)
    app = AppTest.from_file(server.MAIN, default_timeout=LONGEST)
    gather(app.session_state, gathering)
    if link.page != "home":
        app.switch_page(os.path.relpath(file_of(link.page), server.MAIN.parent))
    if link.address:
        app.context["url"] = link.address
    for name, value in link.parameters.items():
        app.query_params[name] = value
    app.run()
    if app.exception:
        raise Problem("The page failed: {why}", why=app.exception[0].value)
    said = [each.value for each in (*app.error, *app.warning)]
    names = tuple(offer.file_name for offer in gathering.offers)
    return PageAnswer(names, gathering.found, gathering.found_name, tuple(dict.fromkeys(said)))
