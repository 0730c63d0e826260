"""What the open of a page sends: a class that opens at once waits for every message of it.

Streamlit's own about the session and the end of the run, four or five, come on top.
"""

import pytest
from streamlit.testing.v1.local_script_runner import LocalScriptRunner

from attnviz.serve.page_table import PAGES
from tests.pages.conftest import open_page

MOST = 60
#: Pages that send more, 18 of them for the menu, whose links are Streamlit's own: none may grow.
MORE = {
    "home": (110, "the cards are links of Streamlit's, each with its sentence"),
    "explore": (96, "the controls of how a head is drawn lie in a menu, and the picture is drawn by what they say"),
    "heads": (100, "two charts, two tables and an example stand side by side, each with its controls"),
    "build": (112, "sizes and switches lie in a menu, and what is computed depends on each"),
    "masks": (97, "a painter, a picture of the mask and the traps of a sentence stand below each other"),
    "positions": (85, "a chart for each of three numbers"),
    "decoding": (96, "three numbers, three charts and the controls of the player"),
    "compare": (85, "the sizes are five controls"),
    "sharing": (143, "each head of a group has a chart of its own"),
    "glossary": (259, "45 terms, each a card with a button"),
    "scaling": (81, "two charts, three numbers and the sizes"),
    "pictures": (74, "a picture to choose, its heads and their words"),
}


@pytest.mark.parametrize("page", [row.name for row in PAGES])
def test_the_open_of_a_page_sends_few_messages(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sent, run = [], LocalScriptRunner.run

    def counting(runner, *args, **named):
        tree = run(runner, *args, **named)
        sent.append(len(runner.forward_msgs()))
        return tree

    open_page(page)  # what is computed once is there for the next visitor
    monkeypatch.setattr(LocalScriptRunner, "run", counting)
    assert not open_page(page).exception
    most, _why = MORE.get(page, (MOST, ""))
    assert sent[-1] <= most


def test_a_page_with_a_bound_of_its_own_exists_and_needs_it() -> None:
    assert set(MORE) <= {row.name for row in PAGES}
    assert all(most > MOST for most, _why in MORE.values())
