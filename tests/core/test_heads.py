"""HeadLayout: the names for how heads share keys and values, and which numbers are refused."""

from dataclasses import replace

from attnviz.core.heads import HeadLayout


def test_widths_default_to_a_share_of_the_model() -> None:
    layout = HeadLayout(64, 8)
    assert (layout.kv_heads, layout.qk_width, layout.v_width, layout.heads_per_kv) == (8, 8, 8, 1)
    assert HeadLayout(64, 8, d_head=20).v_width == 20
    assert HeadLayout(64, 8, d_head=20, d_value=5).v_width == 5


def test_the_kind_follows_from_the_number_of_key_value_heads() -> None:
    gqa = HeadLayout(64, 8, 2)
    assert [replace(gqa, n_kv_heads=n).kind for n in (8, 4, 1)] == ["MHA", "GQA", "MQA"]
    assert HeadLayout(64, 1).kind == "MHA"


def test_neighbouring_query_heads_share_a_key_value_head() -> None:
    assert [HeadLayout(64, 6, 2, d_head=8).kv_head_of(head) for head in range(6)] == [0, 0, 0, 1, 1, 1]
