"""The comparison page as a visitor uses it."""

from attnviz.pages.compare.maths import layer_costs
from tests.pages.conftest import ran, said, sound, table_of, with_code


def test_the_table_says_where_attention_and_the_others_cost_the_same_and_its_program_prints_the_same(visit):
    page = sound(visit("compare"))
    assert "At n = 4,096 and d = 512, self-attention takes **42.95 GFLOP**" in said(page)
    assert "LSTM at n = 1,024, GRU at n = 512" in said(page)
    table = table_of(page)
    assert list(table["waits"]) == ["1", "1", "1", "4,096", "4,096", "4,096", "1", "1"]
    assert all("yes" in cell for cell in table["torch counts the same"])
    assert "agree on all 8 layers" in said(page)
    here, (_names, printed) = layer_costs.run(layer_costs.Config()).here, ran(with_code(page).code[0].value)
    for kind in ("attention", "lstm", "gru", "conv", "rnn"):
        assert f"{here[kind][0]:,} FLOPs" in printed
