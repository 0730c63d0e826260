"""The panel "Why there?", against the library on the same model."""

import html

import numpy as np
import pytest

from attnviz.app.links import link_reading
from attnviz.models.capture import capture
from attnviz.pages.explore.maths.why_there import EXAMPLES
from tests.pages.conftest import drawn, said, sound

WORDS, PRONOUN, BERT = EXAMPLES


def link(example, **more):
    pins = {"t": [], "c": [example.query[0], example.key[0], example.query[1], example.key[1]]}
    layer, head = example.head
    chosen = {"model": example.model, "text": example.text, "at": f"{layer}.{head}", "open_why": "true"}
    return chosen | {"c": link_reading.pack({"pins": pins})} | more


def test_a_clicked_cell_says_which_head_wrote_its_key_and_a_cut_says_what_depends_on_it(visit, smollm2):
    page = sound(visit("explore", **link(WORDS, cut="16.0")))
    trace = capture(smollm2, WORDS.text, residual=True)
    found = trace.score_attribution(18, 6, WORDS.query[0], WORDS.key[0])
    cut = found.cut("16.0")
    words = said(page)
    assert "**head 16.0** adds most" in words
    assert "That head read it at “stone”" in words
    assert f"the log-odds of the weight: {float(found.log_odds):+.3f}" in words
    header, _payload = drawn(page, "score_table")
    assert "head 16.0 adds most" in header["words"]["label"], "without marks, for those who hear it"
    assert "Without head 16.0 in its keys" in header["title"], "or a saved picture would deny its own title"
    assert np.sum(header["values"]) == pytest.approx(float(found.score - found.baseline), abs=1e-3)
    assert f"{np.sum(header['values']):+.3f}" in header["sums"][0], "the sum stands beside the score to the last digit"
    assert max(np.shape(header["values"])) <= 6
    shown = [header["cut"][name] for name in ("before", "after", "total")]
    assert shown == pytest.approx([cut.weight_before, cut.weight, cut.total], abs=1e-6)
    assert header["cut"]["row"] == pytest.approx(cut.row.tolist(), abs=1e-5)


@pytest.mark.parametrize("example, part", [(PRONOUN, "MLP 3"), (BERT, "its position")])
def test_named_examples_show_what_they_say(visit, example, part):
    page = sound(visit("explore", **link(example)))
    assert f"**{part}** adds most" in said(page)
    assert f"“{example.query[1]}” gives" in said(page)


@pytest.mark.parametrize(
    "text, cell, told",
    [
        ("cat", (0, 0), "sees only “cat”"),
        ("two birds", (0, 0), "only “two”"),
        ("two birds", (0, 1), "cannot see “birds”"),
    ],
)
def test_a_cell_without_rivals_is_refused_in_words_of_the_sentence(visit, text, cell, told):
    words = [word.strip() for word in text.split()]
    pins = {"t": [], "c": [*cell, words[cell[0]], words[cell[1]]]}
    page = visit("explore", text=text, at="18.6", open_why="true", c=link_reading.pack({"pins": pins}))
    (error,) = [html.unescape(each.value) for each in page.error]
    assert told in error
    assert "against" not in error
