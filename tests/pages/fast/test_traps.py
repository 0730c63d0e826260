"""Mistakes with tiles: the right code against torch, what the wrong code does, and the section in use."""

import math

import numpy as np
import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from attnviz.pages.fast.maths import traps
from attnviz.runs.word_vectors import sentence
from tests.pages.conftest import ran, sound

WORDS = ("The", "cat", "sat", "on", "the", "mat", "because", "it", "was", "tired")
S = sentence(WORDS, 0)
CAUSAL = torch.ones(10, 10, dtype=torch.bool).tril()
PADDED = CAUSAL & (torch.arange(10) >= 4)
ALL = torch.ones(10, 10, dtype=torch.bool)


@pytest.mark.parametrize("trap", traps.TILE_TRAPS)
def test_the_right_code_gives_torchs_weights(trap):
    allowed = {"mask_late": CAUSAL, "skipped": CAUSAL, "empty_row": PADDED}.get(trap, ALL)
    q = S.q * traps.SHARP / S.scores.max() if trap == "no_maximum" else S.q
    wanted = scaled_dot_product_attention(q, S.k, torch.eye(10), attn_mask=allowed).nan_to_num(0.0)
    right = traps.TILE_TRAPS[trap].run(S).right.scores
    np.testing.assert_allclose(right, wanted, atol=0.02 if trap == "no_maximum" else 1e-6)  # the first in 16 bits


def test_without_the_maximum_rows_with_a_large_score_have_no_number():
    wrong = traps.TILE_TRAPS["no_maximum"].run(S).wrong.scores
    scores = (S.scores * traps.SHARP / S.scores.max()).numpy()
    lost = np.exp(scores).sum(-1) > 65504
    assert ((np.isnan(wrong).any(-1) | (wrong.sum(-1) == 0)) == lost).all()
    (fact,) = traps.TILE_TRAPS["no_maximum"].run(S).facts
    assert fact.params["lost"] == lost.sum() == 4


def test_a_late_mask_leaves_hidden_keys_in_the_sum():
    wrong = traps.TILE_TRAPS["mask_late"].run(S).wrong.scores
    powers = np.exp(S.scores.double().numpy())
    padded = -len(WORDS) % traps.BLOCK  # the last tile is filled up with keys of zeros, which the mask hides late, too
    rows = [range(first, first + 2) for first in range(0, 10, 2)]
    hidden = {row: powers[row].sum() + padded for pair in rows for row in pair}
    wanted = [powers[row, : row + 1].sum() / hidden[row] for row in range(10)]
    np.testing.assert_allclose(wrong.sum(-1), wanted, rtol=1e-4)


def test_keys_of_zeros_take_a_share_of_every_row():
    wrong = traps.TILE_TRAPS["last_tile"].run(S).wrong.scores
    sums = np.exp(S.scores.double().numpy()).sum(-1)
    np.testing.assert_allclose(wrong.sum(-1), sums / (sums + 2), rtol=1e-4)
    assert traps.TILE_TRAPS["last_tile"].run(sentence(WORDS[:8], 0)).largest == 0


def test_a_tile_too_few_hides_the_diagonal_where_it_is_cut():
    wrong = traps.TILE_TRAPS["skipped"].run(S).wrong.scores
    own = np.diagonal(wrong)
    assert (own == 0).tolist() == [math.ceil((row // 2 + 1) * 2 / 4) != (row // 2 + 1) * 2 // 4 for row in range(10)]


def test_a_hidden_first_tile_poisons_every_row():
    made = traps.TILE_TRAPS["empty_row"].run(S)
    assert np.isnan(made.wrong.scores).all()
    assert np.isfinite(made.right.scores).all()
    assert (made.right.scores[:4] == 0).all()


@pytest.mark.parametrize("words", [WORDS[:1], WORDS[:2], ("it",) * 4, WORDS[:7], WORDS[:8], WORDS])
@pytest.mark.parametrize("seed", range(4))
def test_what_a_fact_claims_is_so_for_few_and_equal_words(words, seed):
    s = sentence(words, seed)
    made = {name: trap.run(s) for name, trap in traps.TILE_TRAPS.items()}
    (overflow,), (skipped,), (empty,) = (made[name].facts for name in ("no_maximum", "skipped", "empty_row"))
    top = s.scores.max() if s.scores.max() > 0 else s.scores.min()
    assert float((s.scores * traps.SHARP / top).max()) == pytest.approx(overflow.params["top"], rel=1e-5)
    assert "most" not in skipped.template, "of two rows that lose all neither loses most"
    wrong, right = made["empty_row"].wrong.scores, made["empty_row"].right.scores
    lost, unseen = np.isnan(wrong).any(-1), right.sum(-1) == 0
    assert ("though only" in empty.template) == (lost.sum() > unseen.sum())
    assert ("those that see no key at all." in empty.template) == (len(s) > 1 and (lost == unseen).all())


@pytest.mark.parametrize("words", [WORDS[:1], WORDS[:3], WORDS])
@pytest.mark.parametrize("trap", traps.TILE_TRAPS)
def test_facts_have_their_numbers_and_the_program_prints_the_largest_difference(trap, words):
    made = traps.TILE_TRAPS[trap].run(sentence(words, 1))
    assert all(map(str, made.facts))
    loop, largest = ran(traps.program(traps.TILE_TRAPS[trap], words, 1))[1].splitlines()
    assert float(loop.rpartition(" ")[2]) < 1e-6
    assert largest == f"largest difference of a weight: {made.largest:.3f}"


@pytest.mark.parametrize("trap", traps.TILE_TRAPS)
def test_each_trap_is_shown_wrong_and_right(visit, trap):
    page = sound(visit("fast", fast_section="traps", fast_trap=trap))
    codes = [code.value for code in page.code]
    assert codes[0].startswith(f"def wrong_{trap}")
    assert codes[1].startswith("def right_")
    assert "Largest difference" in " ".join(metric.label for metric in page.metric)
