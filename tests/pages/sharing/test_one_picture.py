"""The picture of MHA, GQA and MQA, read back from its SVG and from a formula by another hand."""

import pytest

from attnviz.models.architecture import Architecture
from attnviz.pages.sharing.panels import one_picture


@pytest.mark.parametrize(
    "name, tokens, batch", [("smollm2-135m", 2048, 1), ("llama-2-7b", 4096, 3), ("falcon-7b", 100, 1)]
)
def test_bytes_and_parameters_are_what_two_lines_of_arithmetic_give(name, tokens, batch):
    arch = Architecture.preset(name)
    layer = arch.layers[0]
    for column in one_picture.sharing_columns_of(arch, tokens, batch):
        numbers = 2 * len(arch.layers) * batch * column.kv_heads * tokens * layer.d_head
        mha = 2 * len(arch.layers) * batch * layer.n_heads * tokens * layer.d_head
        assert column.share == pytest.approx(numbers / mha)
        unit = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
        number, name_of_unit = column.kept.removeprefix("cache: ").split()
        assert float(number.replace(",", "")) * unit[name_of_unit] == pytest.approx(2 * numbers, rel=1e-3)
