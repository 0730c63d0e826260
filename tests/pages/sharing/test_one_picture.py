"""The picture from MHA over GQA to MQA, against the published formula of a cache, by another hand."""

import pytest

from attnviz.models.architecture import Architecture
from attnviz.pages.sharing.panels import one_picture


@pytest.mark.parametrize(
    "name, tokens, batch, layers, heads, d_head, d_model, biases",
    [
        ("smollm2-135m", 2048, 1, 30, 9, 64, 576, False),
        ("llama-2-7b", 4096, 3, 32, 32, 128, 4096, False),
        ("llama-3.1-8b", 8192, 1, 32, 32, 128, 4096, False),
        ("qwen2.5-7b", 100, 2, 28, 28, 128, 3584, True),
        ("falcon-7b", 100, 1, 32, 71, 64, 4544, False),
    ],
)
def test_bytes_and_parameters_are_what_the_published_formulas_give(
    name, tokens, batch, layers, heads, d_head, d_model, biases
):
    arch = Architecture.preset(name)
    columns = one_picture.sharing_figure(arch, tokens, batch).columns
    assert [column.kv_heads for column in columns] == [g for g in range(heads, 0, -1) if heads % g == 0]
    table = one_picture.exact_integers(arch, tokens, batch)
    for place, column in enumerate(columns):
        g = column.kv_heads
        assert column.heads == heads
        assert column.cache_bytes == layers * batch * 2 * g * d_head * tokens * 2  # 2·G·D·T·b a layer
        assert column.share == pytest.approx(g / heads)
        weights = 2 * d_model * heads * d_head + 2 * d_model * g * d_head + biases * (heads + 2 * g) * d_head
        assert table["attention parameters"][place] == layers * weights
        assert table["bytes of the cache"][place] == column.cache_bytes


@pytest.mark.parametrize(
    "name, asked, stands",
    [
        ("llama-3.1-8b", None, 8),
        ("llama-3.1-8b", 4, 4),
        ("llama-3.1-8b", 3, 8),
        ("llama-2-7b", None, 8),
        ("gpt2", None, 2),
    ],
)
def test_the_picture_stands_where_the_link_says_else_as_trained_else_at_a_gqa(name, asked, stands):
    figure = one_picture.sharing_figure(Architecture.preset(name), 100, 1, asked)
    assert figure.columns[figure.at].kv_heads == stands
