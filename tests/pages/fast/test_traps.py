"""Mistakes with tiles: the right code against torch, what the wrong code does, and the section in use."""

import numpy as np
import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from attnviz.analysis.word_vectors import sentence
from attnviz.pages.fast.maths import traps
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
