import numpy as np
import pytest
import torch
import torch.nn.functional as F

from attnviz.analysis.word_vectors import WIDTH, sentence
from attnviz.core.rope import rotate
from attnviz.pages.decoding.maths import cache_traps

WORDS = ("The", "cat", "sat", "on", "the", "mat", "because", "it", "was", "tired")


@pytest.mark.parametrize("trap", cache_traps.CACHE_TRAPS)
def test_wrong_and_right_differ_in_the_example(trap):
    found = cache_traps.CACHE_TRAPS[trap].run(sentence(WORDS))
    assert found.largest > 0.1
    assert np.allclose(found.right.scores.sum(-1), 1, atol=1e-5)
    assert found.facts


@pytest.mark.parametrize("trap", ["top_left", "unshifted_positions", "wrong_dimension"])
def test_the_right_side_is_a_part_of_one_full_pass(trap):
    s = sentence(WORDS)
    q, k = s.q, s.k
    if trap == "unshifted_positions":
        angles = torch.arange(len(s))[:, None] / 100.0 ** (torch.arange(0, WIDTH, 2) / WIDTH)
        q, k = (rotate(t, angles, "interleaved") for t in (q, k))
    whole = F.scaled_dot_product_attention(q[None], k[None], torch.eye(len(s))[None], is_causal=True)[0]
    right = torch.from_numpy(cache_traps.CACHE_TRAPS[trap].run(s).right.scores)
    assert torch.allclose(right, whole[-len(right) :, -right.shape[1] :], atol=1e-5)


def test_the_wrong_dimension_makes_heads_and_raises_one_word_at_a_time():
    chunk = torch.zeros(1, 4, WIDTH)
    assert cache_traps.wrong_dimension(chunk, chunk).shape == (2, 4, WIDTH)
    assert cache_traps.right_dimension(chunk, chunk).shape == (1, 8, WIDTH)
    with pytest.raises(RuntimeError, match="Sizes of tensors must match"):
        cache_traps.wrong_dimension(chunk, chunk[:, :1])
