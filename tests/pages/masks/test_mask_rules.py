import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as some

from attnviz.base.message import Problem
from attnviz.pages.masks.maths.mask_lab import count_in_tiles
from attnviz.pages.masks.maths.mask_programs import condition, setup
from attnviz.pages.masks.maths.mask_rules import KINDS, Rule, combine_rules


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
def test_the_condition_that_is_shown_is_the_mask_of_the_core(kind):
    chosen = (Rule.of(kind),)
    for length in (1, 2, 7, 30):
        assert torch.equal(from_shown_text(chosen, length), combine_rules(chosen, length))


@settings(max_examples=25, deadline=None)
@given(some.lists(rules(), max_size=3), some.integers(1, 24))
def test_any_rules_joined_as_text_are_the_same_rules_joined_as_matrices(chosen, length):
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
