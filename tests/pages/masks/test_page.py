"""The mask page as a visitor uses it: its numbers by hand, and what its link holds."""

import random
import zlib

import numpy as np
import torch

from attnviz.app.links import link_reading
from attnviz.base.packed import unpack_bits
from attnviz.pages.masks.choices import PAINT
from attnviz.pages.masks.maths.mask_lab import Painted
from attnviz.pages.masks.maths.mask_rules import Rule, combine_rules
from tests.pages.conftest import drawn

WORDS = ["The", "cat", "sat", "on", "the", "mat", "because", "it", "was", "tired"]


def grid(app):
    header, payload = drawn(app, "mask")
    rows, cols = header["shape"]
    return unpack_bits(zlib.decompress(payload)[: -(-rows * cols // 8)], (rows, cols))


def scores(app):
    """Raw scores, which follow the bits."""
    header, payload = drawn(app, "mask")
    numbers = np.frombuffer(zlib.decompress(payload)[-4 * len(WORDS) ** 2 :], "<f4")
    return numbers.reshape(header["shape"]) * header["scale"]


def test_random_rows_of_the_scores_are_recomputed_by_hand(visit):
    app = visit("masks", m_rule1="window", m_seed="7")
    found, mask = scores(app), grid(app)
    assert (mask == combine_rules((Rule.of("window"),), len(WORDS)).numpy()).all()

    def draw(name, *shape):
        return torch.randn(shape, generator=torch.Generator().manual_seed(zlib.crc32(name.encode()))).tolist()

    w_q, w_k = (draw(f"7/projection {name}", 16, 16) for name in "qk")

    def projected(word, matrix):
        x = draw(f"7/{word}", 16)
        return [sum(x[i] * matrix[i][j] for i in range(16)) / 4 for j in range(16)]

    for q in random.Random(3).sample(range(len(WORDS)), 4):
        query = projected(WORDS[q], w_q)
        row = [sum(a * b for a, b in zip(query, projected(word, w_k), strict=True)) / 4 for word in WORDS]
        np.testing.assert_allclose(found[q], row, atol=1e-4)


def test_a_link_brings_paint_and_a_word_and_a_shorter_sentence_has_its_last(visit):
    paint = Painted(10, on=(9,), off=(0, 33))
    app = visit("masks", m_paint=link_reading.pack(PAINT.write(paint)), m_word="7", m_layers="3")
    expected = combine_rules((Rule.of("causal"),), 10).numpy()
    expected[0, 9], expected[0, 0], expected[3, 3] = True, False, False
    assert (grid(app) == expected).all()
    header, _payload = drawn(app, "mask")
    assert (header["word"], header["layers"]) == (7, [3, 12])
    app.button(key="m-unpaint").click().run()
    assert grid(app).sum() == 55
    header, _payload = drawn(visit("masks", m_word="7", m_text="a \u202e c"), "mask")
    assert header["word"] == 2
    assert header["q"] == ["a", "U+202E", "c"], "what cannot be seen has a name"
