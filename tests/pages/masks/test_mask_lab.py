import numpy as np
import pytest
import torch

from attnviz.base.word_boundaries import split
from attnviz.pages.masks.maths import mask_lab
from attnviz.pages.masks.maths.mask_lab import Config, find_paint
from attnviz.pages.masks.maths.mask_rules import KINDS, Rule, combine_rules

WORDS = split("the cat sat on the mat because it was tired")


def test_painted_cells_lie_on_top_of_the_rules_and_a_row_with_nothing_left_is_zero():
    plain = mask_lab.run(Config(WORDS))
    wanted = plain.mask.copy()
    wanted[0, 0], wanted[0, 9], wanted[5, :] = False, True, False
    paint = find_paint(plain.rules_alone, wanted)
    result = mask_lab.run(Config(WORDS, paint=paint))
    assert (result.mask == wanted).all()
    assert len(paint) == 2 + 6
    assert result.empty == (5,)
    assert (result.after[5] == 0).all()
    assert not np.isnan(result.after).any()
    assert result.pairs == 55 - 1 + 1 - 6


@pytest.mark.parametrize("query, fate", [(0, "lost"), (1, None), *((q, "share") for q in range(2, 10))])
def test_what_a_closed_cell_held_goes_to_others_in_proportion_by_numpy(query, fate):
    result = mask_lab.run(Config(WORDS))
    key = int(result.after[query].argmax())
    before, after = mask_lab.close_cell(result, query, key)
    exps = np.exp(result.scores[query].astype(np.float64) / 4)
    exps[query + 1 :] = 0
    assert before == pytest.approx(exps / exps.sum())
    exps[key] = 0
    assert after == pytest.approx(exps / exps.sum() if query else exps)
    assert mask_lab.find_fate(np.stack([before, after])) == fate
    if fate == "share":
        kept = exps > 0
        assert np.ptp(after[kept] / before[kept]) < 1e-9 < np.ptp(after[kept] - before[kept]), "not evenly"
    closed = mask_lab.run(Config(WORDS, paint=mask_lab.Painted(10, (), (query * 10 + key,))))
    assert closed.after[query] == pytest.approx(after, abs=1e-6)
    assert mask_lab.close_cell(closed, query, key) == pytest.approx(np.stack([before, after])), "asked again"


@pytest.mark.parametrize("kind", KINDS)
def test_hops_are_the_smallest_power_of_mask_and_residual_that_reaches(kind):
    mask = combine_rules((Rule.of(kind),), 20)
    hops = mask_lab.hops(mask)
    step = (mask | torch.eye(20, dtype=torch.bool)).double()
    for layers in range(5):
        reached = torch.linalg.matrix_power(step, layers) > 0
        assert torch.equal((hops >= 0) & (hops <= layers), reached)
