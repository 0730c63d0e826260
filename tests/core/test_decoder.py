import pytest
import torch

from attnviz.core.attention import attend
from attnviz.core.decoder import ByteDecoder
from attnviz.core.heads import HeadLayout

pytestmark = pytest.mark.numbers

LAYOUT = HeadLayout(32, 4, 2)
IDS = torch.tensor([list(b"the cache grows")])


def test_attention_can_be_answered_from_outside():
    model = ByteDecoder(LAYOUT, 2).eval()
    asked = []

    def by_hand(index, source):
        asked.append(index)
        return attend(source.q, source.k, source.v, source.mask).output

    with torch.no_grad():
        assert torch.allclose(model(IDS, attend_as=by_hand), model(IDS), atol=1e-5)
        silent = model(IDS, attend_as=lambda index, source: torch.zeros_like(source.q))
    assert asked == [0, 1]
    assert not torch.allclose(silent, model(IDS), atol=0.1)


def test_equal_seeds_give_equal_weights_and_others_do_not():
    one, again, other = (ByteDecoder(LAYOUT, 1, seed).state_dict() for seed in (3, 3, 4))
    assert all(torch.equal(one[name], again[name]) for name in one)
    assert not torch.equal(one["embedding.weight"], other["embedding.weight"])
