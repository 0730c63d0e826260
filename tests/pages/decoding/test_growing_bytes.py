import pytest
import torch

from attnviz.core.cache import KVCache
from attnviz.core.heads import HeadLayout
from attnviz.models.architecture import Architecture
from attnviz.pages.decoding.maths import growing_bytes
from attnviz.pages.decoding.maths.growing_bytes import Config

GIB, MIB, KIB = 1 << 30, 1 << 20, 1 << 10


def scheme(model, name):
    return next(each for each in model.schemes if each.name == name)


@pytest.fixture(scope="module")
def found():
    return growing_bytes.run(Architecture.preset("smollm2-135m"), Config())


def test_every_number_is_that_of_a_real_cache_filled_token_by_token():
    small = growing_bytes.run(Architecture.preset("smollm2-135m"), Config(20, "float32")).models[0]
    for scheme in small.schemes[:3]:
        cache = KVCache(HeadLayout(576, 9, scheme.kv_heads))
        held = [0]
        for _ in range(20):
            cache.append(torch.zeros(1, scheme.kv_heads, 1, 64), torch.zeros(1, scheme.kv_heads, 1, 64))
            held.append(30 * cache.nbytes)
        assert list(scheme.bytes) == held


def test_mla_has_the_widths_of_deepseek_in_heads(found):
    small, llama = found.models
    assert scheme(llama, "MLA").per_token == 32 * (512 + 64) * 2
    assert scheme(small, "MLA").per_token == 30 * (4 * 64 + 32) * 2
