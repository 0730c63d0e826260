"""The table of uses against torch's own count, at each use's sizes."""

from urllib.parse import parse_qsl, urlsplit

import pytest
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from attnviz.pages.compare import choices
from attnviz.pages.compare.maths.layer_costs import USES
from tests.pages.conftest import table_of


@pytest.mark.parametrize("use", [use for use in USES if use.sizes.k == 9], ids=lambda use: use.id)
def test_a_kernel_of_three_by_three_costs_what_one_of_nine_does(use):
    side, d = round(use.sizes.n**0.5), use.sizes.d
    assert side**2 == use.sizes.n
    with torch.device("meta"), FlopCounterMode(display=False) as counter:
        nn.Conv2d(d, d, 3, padding=1)(torch.empty(1, d, side, side))
    assert use.costs["conv"][0] == counter.get_total_flops()


def test_each_family_of_models_that_a_course_names_is_there_as_torch_counts_it() -> None:
    uses = {use.id: use for use in USES}
    assert {uses[id].usual for id in ("reading", "writing", "chat")} == {"attention"}
    words, letters = uses["words"], uses["letters"]
    with torch.device("meta"):
        by_kernel = nn.Conv1d(letters.sizes.d, letters.sizes.d, letters.sizes.k, padding="same")
        state, cell = torch.empty(1, words.sizes.d), nn.LSTMCell(words.sizes.d, words.sizes.d)
        with FlopCounterMode(display=False) as counter:
            by_kernel(torch.empty(1, letters.sizes.d, letters.sizes.n))
        assert letters.costs["conv"][0] == counter.get_total_flops()
        with FlopCounterMode(display=False) as counter:
            cell(state, (state, state))
        assert words.costs["lstm"][:2] == (words.sizes.n * counter.get_total_flops(), words.sizes.n)


def test_the_sentence_counts_where_attention_is_no_dearer_than_an_lstm_and_each_row_opens_its_curves(visit):
    page = visit("compare", c_section="uses")
    frame = table_of(page)
    cheaper = sum(use.sizes.n <= 2 * use.sizes.d for use in USES)
    assert any(f"**{cheaper} of {len(USES)}** uses" in text.value for text in page.markdown)
    links = [
        dict(parse_qsl(urlsplit(address).query)) for address in frame["its curves"].str.extract(r"\[open\]\((.*)\)")[0]
    ]
    for use, link in zip(USES, links, strict=True):
        asked = {name: int(link[choices.SIZES[name].name]) for name in "ndk"}
        assert asked == {name: getattr(use.sizes, name) for name in "ndk"}
    use, there = USES[-1], visit("compare", **links[-1])
    words = " ".join(text.value for text in (*there.markdown, *there.caption))
    assert f"At n = {use.sizes.n:,} and d = {use.sizes.d:,}, self-attention" in words
