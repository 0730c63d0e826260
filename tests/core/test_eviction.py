import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attnviz.base.message import Problem
from attnviz.core import masks
from attnviz.core.cache import EVICTION_RULES, SINKS, Eviction, HeavyHitters, visible_positions

PROMPT, TOTAL = 7, 20
FIXED = [kind for kind in EVICTION_RULES if kind != "heavy"]


def hitters(budget, groups=2, per_kv=2, seed=0):
    """What heavy hitters keep under random weights, as a naive loop over sets would ask: kept (G, rest, total)."""
    g = torch.Generator().manual_seed(seed)
    seen = torch.rand(groups, PROMPT, generator=g)
    rule, rows, drawn = HeavyHitters(budget, seen, TOTAL), [], []
    for position in range(PROMPT, TOTAL):
        kept = rule.keep(position)
        weights = torch.rand(groups * per_kv, TOTAL, generator=g) * kept.repeat_interleave(per_kv, 0)
        rule.draw(weights)
        rows.append(kept)
        drawn.append(weights)
    return seen, torch.stack(rows, 1), drawn


def naive_heavy(budget, seen, drawn, group, per_kv=2):
    """The same rule with Python's sets, for one K/V head."""
    total = dict(enumerate(seen[group].tolist()))
    held, recent, rows = set(range(PROMPT)), (budget + 1) // 2, []
    for row, position in enumerate(range(PROMPT, TOTAL)):
        held.add(position)
        total.setdefault(position, 0.0)
        newest = {p for p in held if p > position - recent}
        others = sorted(held - newest, key=lambda p: (-total[p], p))
        held = newest | set(others[: max(0, budget - len(newest))])
        rows.append(held.copy())
        for p in range(TOTAL):
            total[p] = total.get(p, 0.0) + float(drawn[row][group * per_kv : (group + 1) * per_kv, p].sum())
    return rows


@pytest.mark.parametrize("kind", FIXED)
@given(budget=st.integers(1, 25), seed=st.integers(0, 50))
@settings(max_examples=20, deadline=None)
def test_the_newest_stays_no_budget_is_exceeded_and_nothing_comes_back(kind, budget, seed):
    kept = visible_positions(Eviction(kind, budget, seed), PROMPT, TOTAL)
    rows = torch.arange(PROMPT, TOTAL)
    assert kept[torch.arange(len(rows)), rows].all()
    assert not kept.triu(PROMPT + 1).any()
    expected = rows + 1 if kind == "full" else torch.minimum(rows + 1, torch.tensor(budget))
    assert torch.equal(kept.sum(-1), expected)
    for row in range(1, len(rows)):
        new = kept[row] & ~kept[row - 1]
        assert new.nonzero().flatten().tolist() == [PROMPT + row]


@given(budget=st.integers(1, 25), seed=st.integers(0, 50))
@settings(max_examples=20, deadline=None)
def test_heavy_hitters_keep_what_a_loop_over_sets_keeps(budget, seed):
    seen, kept, drawn = hitters(budget, seed=seed)
    for group in range(2):
        for row, held in enumerate(naive_heavy(budget, seen, drawn, group)):
            assert set(kept[group, row].nonzero().flatten().tolist()) == held


@pytest.mark.parametrize("budget", [1, 3, 8, 30])
def test_a_window_is_the_sliding_window_mask_of_the_core(budget):
    kept = visible_positions(Eviction("window", budget), PROMPT, TOTAL)
    assert torch.equal(kept, masks.sliding_window(TOTAL, TOTAL, budget)[PROMPT:])


def test_sinks_are_the_first_tokens_and_the_rest_is_a_window():
    kept = visible_positions(Eviction("sinks", 9), PROMPT, TOTAL)
    assert kept[:, :SINKS].all()
    assert kept[-1].nonzero().flatten().tolist() == [0, 1, 2, 3, 15, 16, 17, 18, 19]
    one = visible_positions(Eviction("sinks", 1), PROMPT, TOTAL)
    assert torch.equal(one, visible_positions(Eviction("window", 1), PROMPT, TOTAL))


def test_random_keeps_others_by_another_seed_and_the_same_by_the_same():
    one, again, other = (visible_positions(Eviction("random", 6, seed), PROMPT, TOTAL) for seed in (1, 1, 2))
    assert torch.equal(one, again)
    assert not torch.equal(one, other)


def test_nonsense_is_refused_by_its_name():
    with pytest.raises(Problem, match="budget=0 must be at least 1"):
        Eviction("window", 0)
    with pytest.raises(Problem, match="kind=all must be one of full, window"):
        Eviction("all", 3)
    with pytest.raises(Problem, match="looks at the weights"):
        visible_positions(Eviction("heavy", 3), 2, 5)
