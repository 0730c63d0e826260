"""The table of uses against torch's own count, at each use's sizes."""

from urllib.parse import parse_qsl, urlsplit

import pytest
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from attnviz.pages.compare import choices
from attnviz.pages.compare.maths.layer_costs import USES


def counted(module: nn.Module, *inputs: torch.Tensor) -> int:
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        module(*inputs)
    return int(counter.get_total_flops())


@pytest.mark.parametrize("use", USES, ids=[use.id for use in USES])
def test_each_layer_costs_at_the_sizes_of_each_use_what_torch_counts(use):
    n, d, k, heads = use.sizes.n, use.sizes.d, use.sizes.k, use.sizes.heads
    with torch.device("meta"):
        x = torch.empty(1, n, d)
        attention, conv = nn.MultiheadAttention(d, heads, batch_first=True), nn.Conv1d(d, d, k)
        assert use.costs["attention"][0] == counted(attention, x, x, x)
        assert use.costs["conv"][0] == counted(conv, torch.empty(1, d, n + k - 1))
        cell = nn.LSTMCell(d, d)
        assert use.costs["lstm"][:2] == (n * counted(cell, x[0, :1]), n)


@pytest.mark.parametrize("use", [use for use in USES if use.sizes.k == 9], ids=lambda use: use.id)
def test_a_kernel_of_three_by_three_costs_what_one_of_nine_does(use):
    side, d = round(use.sizes.n**0.5), use.sizes.d
    assert side**2 == use.sizes.n
    with torch.device("meta"):
        assert use.costs["conv"][0] == counted(nn.Conv2d(d, d, 3, padding=1), torch.empty(1, d, side, side))


def test_the_sentence_counts_where_attention_is_no_dearer_than_an_lstm_and_each_row_opens_its_curves(visit):
    page = visit("compare", c_section="uses")
    (table,) = page.dataframe
    frame = table.value
    cheaper = sum(use.sizes.n <= 2 * use.sizes.d for use in USES)
    assert any(f"**{cheaper} of {len(USES)}** uses" in text.value for text in page.markdown)
    links = [dict(parse_qsl(urlsplit(address).query)) for address in frame["its curves"]]
    for use, link in zip(USES, links, strict=True):
        asked = {name: int(link[choices.SIZES[name].name]) for name in "ndk"}
        assert asked == {name: getattr(use.sizes, name) for name in "ndk"}
    use, there = USES[-1], visit("compare", **links[-1])
    words = " ".join(text.value for text in (*there.markdown, *there.caption))
    assert f"At n = {use.sizes.n:,} and d = {use.sizes.d:,}, self-attention" in words
