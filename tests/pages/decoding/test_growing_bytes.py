import torch

from attnviz.core.cache import KVCache
from attnviz.core.heads import HeadLayout
from attnviz.models.architecture import Architecture
from attnviz.pages.decoding.maths import growing_bytes
from attnviz.pages.decoding.maths.growing_bytes import Config


def test_every_number_is_that_of_a_real_cache_filled_token_by_token():
    small = growing_bytes.run(Architecture.preset("smollm2-135m"), Config(20, "float32")).models[0]
    assert [scheme.name for scheme in small.schemes if scheme.is_native] == ["GQA"], "9 query heads on 3"
    for scheme in small.schemes[:3]:
        cache = KVCache(HeadLayout(576, 9, scheme.kv_heads))
        held = [0]
        for _ in range(20):
            cache.append(torch.zeros(1, scheme.kv_heads, 1, 64), torch.zeros(1, scheme.kv_heads, 1, 64))
            held.append(30 * cache.nbytes)
        assert list(scheme.bytes) == held
