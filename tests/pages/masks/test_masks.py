"""Masks: rules as text and as matrices, the lab, programs that run, and the models that are named for them."""

import warnings

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as some

from attnviz.base.message import Problem
from attnviz.base.word_boundaries import split
from attnviz.pages.masks.maths import mask_lab
from attnviz.pages.masks.maths.mask_lab import Config, Painted, count_in_tiles, find_paint
from attnviz.pages.masks.maths.mask_programs import PROGRAMS, condition, setup
from attnviz.pages.masks.maths.mask_rules import KINDS, Rule, combine_rules
from tests.pages.conftest import ran


@some.composite
def rules(draw):
    kind = KINDS[draw(some.sampled_from(sorted(KINDS)))]
    values = {}
    for p in kind.parameters:
        if isinstance(p.default, bool):
            values[p.name] = draw(some.booleans())
        elif isinstance(p.default, int):
            values[p.name] = draw(some.integers(p.least, min(p.most, 9)))
        elif p.options:
            values[p.name] = draw(some.sampled_from(p.options))
        else:
            values[p.name] = ", ".join(map(str, draw(some.lists(some.integers(1, 9), min_size=1, max_size=4))))
    return Rule.of(kind.id, draw(some.sampled_from(["and", "or"])), **values)


def from_shown_text(chosen, length):
    names = {"torch": torch, "T": length}
    exec(setup(chosen), names)
    names |= {"q": torch.arange(length)[:, None], "k": torch.arange(length)}
    return eval(condition(chosen), names).expand(length, length)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=5, deadline=None)
@given(others=some.lists(rules(), max_size=2))
def test_the_condition_that_is_shown_is_the_mask_of_the_core(kind, others):
    chosen = (Rule.of(kind), *others)
    for length in (1, 2, 7, 24):
        assert torch.equal(from_shown_text(chosen, length), combine_rules(chosen, length))


@settings(max_examples=25, deadline=None)
@given(some.lists(rules(), max_size=3))
def test_strips_count_what_the_whole_matrix_holds(chosen):
    far = count_in_tiles(chosen, length=256, tile=32)
    whole = combine_rules(chosen, 256)
    assert far.pairs == int(whole.sum())
    assert far.by_lot == any(rule.kind == "random" for rule in chosen)
    assert torch.equal(torch.tensor(far.density), whole.view(8, 32, 8, 32).float().mean((1, 3)))
    blocks = whole.view(2, 128, 2, 128).sum((1, 3))
    assert far.blocks == (
        int((blocks == 0).sum()),
        int(((blocks > 0) & (blocks < 128**2)).sum()),
        int((blocks == 128**2).sum()),
    )


@pytest.mark.parametrize("text", ["", "0", "-1", "two", "1.5", "4;3"])
def test_invalid_document_lengths_are_named(text):
    with pytest.raises(Problem, match="must be whole numbers"):
        combine_rules((Rule.of("documents", lengths=text),), 9)


SENTENCE = split("the cat sat on the mat because it was tired")


def test_painted_cells_lie_on_top_of_the_rules_and_a_row_with_nothing_left_is_zero():
    plain = mask_lab.run(Config(SENTENCE))
    wanted = plain.mask.copy()
    wanted[0, 0], wanted[0, 9], wanted[5, :] = False, True, False
    paint = find_paint(plain.rules_alone, wanted)
    result = mask_lab.run(Config(SENTENCE, paint=paint))
    assert (result.mask == wanted).all()
    assert len(paint) == 2 + 6
    assert result.empty == (5,)
    assert (result.after[5] == 0).all()
    assert not np.isnan(result.after).any()
    assert result.pairs == 55 - 1 + 1 - 6


@pytest.mark.parametrize("query, fate", [(0, "lost"), (1, None), *((q, "share") for q in range(2, 10))])
def test_what_a_closed_cell_held_goes_to_others_in_proportion_by_numpy(query, fate):
    result = mask_lab.run(Config(SENTENCE))
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
    closed = mask_lab.run(Config(SENTENCE, paint=mask_lab.Painted(10, (), (query * 10 + key,))))
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


WORDS = ("it's", 'a "test"', "of", "of", "<b>", "{masks}", "\\n", "ok")
FEW = Painted(8, on=(3, 25), off=(0, 9))
MANY = Painted(8, on=tuple(range(2, 8)), off=tuple(range(48, 60)))


def executed(code):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # FlexAttention warns that it is not compiled
        return ran(code)[0]["weights"].detach().numpy()


PAINTED = [*((kind, Painted()) for kind in KINDS), ("documents", FEW), ("random", MANY)]


@pytest.mark.parametrize("kind, paint", PAINTED)
def test_the_programs_shown_give_the_weights_of_the_page(kind, paint):
    config = Config(WORDS, seed=3, rules=(Rule.of(kind), Rule.of("documents", "or", lengths="2")), paint=paint)
    result = mask_lab.run(config)
    for way in ("attn_mask", "mask_mod"):
        code = PROGRAMS[way](config).code
        assert code is not None
        np.testing.assert_allclose(executed(code), result.after, atol=2e-6)


@pytest.mark.parametrize("kind, paint", PAINTED)
def test_a_transformers_model_looks_exactly_where_the_mask_lets_it(kind, paint):
    config = Config(WORDS, rules=(Rule.of(kind),), paint=paint)
    mask = mask_lab.run(config).mask
    seeing = mask.any(-1)  # transformers gives even weights to a row that is all hidden
    assert ((executed(PROGRAMS["transformers"](config).code) > 0) == mask)[seeing].all()
