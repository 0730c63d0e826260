"""The mask page as a visitor uses it: every preset, painted links, code that runs, bad input."""

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


def test_rules_are_joined_by_and_and_or(visit):
    app = visit("masks", m_rule1="window", m1_window_window="3", m_rule2="documents", m_rule3="blocks", m_join3="or")
    rules = (Rule.of("window", window=3), Rule.of("documents"), Rule.of("blocks", "or"))
    assert (grid(app) == combine_rules(rules, len(WORDS)).numpy()).all()
    app.selectbox(key="m_rule2").select("off").run()
    assert (grid(app) == combine_rules(rules[:1], len(WORDS)).numpy()).all()


def test_paint_in_the_link_lies_on_top_of_the_rules(visit):
    paint = Painted(10, on=(9,), off=(0, 33))
    app = visit("masks", m_paint=link_reading.pack(PAINT.write(paint)))
    expected = combine_rules((Rule.of("causal"),), 10).numpy()
    expected[0, 9], expected[0, 0], expected[3, 3] = True, False, False
    assert (grid(app) == expected).all()
    assert app.button(key="m-unpaint").label == "Remove the paint: 3 cells"
    app.button(key="m-unpaint").click().run()
    assert grid(app).sum() == 55
    assert "m_paint" not in app.query_params


def test_the_word_in_the_link_is_shown_and_a_shorter_sentence_has_its_last(visit):
    def shown(name, **link):
        return drawn(visit("masks", **link), "mask")[0][name]

    assert shown("word", m_word="7") == 7
    assert shown("word", m_word="7", m_text="a b c") == 2
    assert shown("word", m_text="lonely") == 0
    assert shown("layers", m_layers="3") == [3, 12]
    assert shown("q", m_text="a \u202e c") == ["a", "U+202E", "c"], "what cannot be seen has a name"
