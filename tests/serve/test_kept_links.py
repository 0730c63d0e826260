"""Links and saved views that people have kept still choose what they chose when they were made.

`kept_links.json` has a line for each: its page, its parameters, a saved view that is opened after it, and what is then
chosen, as a link writes it; `leads` names the page where the content of a section lies now. Of a page that is opened
without parameters all is kept, of others what differs from that.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from attnviz.app.links.choices import follow_move, page_choices
from tests.serve.test_all_choices import session

KEPT: list[dict[str, Any]] = json.loads(Path(__file__).with_name("kept_links.json").read_text("utf-8"))


@pytest.mark.parametrize("kept", KEPT, ids=lambda kept: kept["name"])
def test_a_link_chooses_what_it_chose(kept: dict[str, Any]) -> None:
    view = {"test_view": json.dumps(kept["file"])} if "file" in kept else {}
    there, link = follow_move(kept["page"], kept["link"])  # as the main script does first
    assert there == kept.get("leads", kept["page"])
    app = session(there, link, **view)
    page, values = app.session_state["test_opened"] if view else there, app.session_state["test_values"]
    shown = [choice for choice in page_choices(page) if choice.name in values]
    chosen = {choice.name: choice.write(values[choice.name]) for choice in shown}
    if kept["link"] or view:
        others = {choice.name for choice in shown if values[choice.name] == choice.default}
    else:
        others = chosen.keys() - kept["open"].keys()  # what a later version lets one choose besides
    assert json.loads(json.dumps({name: text for name, text in chosen.items() if name not in others})) == kept["open"]
