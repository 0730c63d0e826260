import base64
import re

import numpy as np
import pytest

from attnviz.app.links import link_reading
from attnviz.base.rounding import format_number
from tests.pages.conftest import canvases_on, ran, said, sound, with_code


def test_each_panel_computes_once_it_is_open(visit):
    panels = {
        "stages": "adds the longest vector to the output",
        "what_if": "what changes is shown here at once",
        "why": "adds most, ",
        "next": "comes next with",
        "average": "On average “",
        "beside": "They differ most in “",
    }
    closed = sound(visit("explore"))
    assert len(canvases_on(closed)) == 2, "the overview and one head"
    page = sound(visit("explore", **{f"open_{panel}": "true" for panel in panels}))
    for words in panels.values():
        assert words in said(page)
        assert words not in said(closed)


PAINTED = np.tril(np.random.default_rng(0).random((13, 13)) < 0.6) | np.eye(13, dtype=bool)


@pytest.mark.slow
@pytest.mark.parametrize(
    "link",
    [
        {"mask": "window", "window": "3"},
        {"scale": "factor", "factor": "3.0", "where": "all", "again": "true", "at": "7.2"},
        {"c": link_reading.pack({"hide": [1, 3], "quiet": ["5.1", "13.8"]})},
        {
            "c": link_reading.pack({"mask": base64.b64encode(np.packbits(PAINTED).tobytes()).decode()}),
            "mask": "painted",
            "at": "2.0",
        },
    ],
    ids=["window", "factor everywhere", "hidden and silenced", "painted"],
)
def test_the_code_of_a_what_if_prints_what_is_on_screen(visit, link):
    """The row and the cell that change most, which the page names, and how far the next token's probability moves."""
    page = visit("explore", open_what_if="true", **link)
    code = next(block.value for block in with_code(page).code if "before[" in block.value)
    assert len(canvases_on(page)) == 5, "the overview, the head, and it before, after and their difference"
    found, printed = ran(code)
    row = int(re.search(r"before\[(\d+)\]", code)[1])
    old, new = (found[name][row].detach().numpy().astype(float) for name in ("before", "after"))
    moved = max((new - old).clip(0).sum(), (old - new).clip(0).sum())
    assert moved > 0.001
    assert f"changes most: {moved:.1%} of its weight" in said(page)
    col = int(np.abs(new - old).argmax())
    assert f"gets {new[col]:.1%} where it got {old[col]:.1%}" in said(page)
    lines = printed.splitlines()
    assert [line.split()[-1] for line in lines[: len(new)]] == [f"{value:.4f}" for value in new]
    if "shift" in found:
        assert f"Other tokens get {format_number(found['shift'], '.1%')} of the probability" in said(page)


def test_a_silenced_head_is_said_to_keep_its_weights_and_the_head_that_changes_most_is_drawn(visit):
    words = said(visit("explore", open_what_if="true", c=link_reading.pack({"quiet": ["13.8"]})))
    assert "its own weights cannot change" in words
    assert "changes most:" in words.split("Drawn is the head that changes most")[1]
    assert "No row of this picture" not in words
