"""What later units lose without an earlier one, beside transformers with a mask made by hand."""

import pytest
import torch
from torch.nn import functional as F

import attnviz as av
from attnviz.base.message import Problem
from attnviz.models.tokens.units import Unit
from tests.models.tiny import llama, tokens

SPANS = [(0, 3), (3, 7), (7, 9), (9, 13)]


def test_effects_are_those_of_a_mask_that_hides_the_unit_from_all_that_comes_later() -> None:
    model, ids = llama(sliding_window=None), tokens(1, 13)
    found = av.knock_out_units(model, input_ids=ids, units=SPANS, which=[0, 2, -1])
    assert found.units == tuple(Unit(f"{start}–{stop - 1}", start, stop) for start, stop in SPANS)

    def losses(hidden: tuple[int, int] | None) -> list[float]:
        mask = torch.ones(13, 13, dtype=torch.bool).tril()
        if hidden is not None:
            mask[hidden[1] :, slice(*hidden)] = False
        with torch.no_grad():
            logits = model(input_ids=ids, attention_mask=torch.where(mask, 0.0, -torch.inf)[None, None]).logits[0]
        each = [0.0, *F.cross_entropy(logits[:-1], ids[0, 1:], reduction="none").tolist()]
        return [sum(each[start:stop]) / (stop - max(1, start)) for start, stop in SPANS]

    assert found.losses.tolist() == pytest.approx(losses(None), abs=1e-5)
    for number in range(4):
        changed = losses(SPANS[number])
        for later in range(4):
            effect = float(found.effects[number, later])
            if number in (0, 2) and later > number:
                assert effect == pytest.approx(changed[later] - losses(None)[later], abs=1e-5)
                assert abs(effect) > 1e-4
            else:
                assert effect != effect
    hidden, later, most = found.top(1)[0]
    assert most == found.effects[hidden, later] == found.effects[~found.effects.isnan()].max()
    assert len(found.top(99)) == 4
    with pytest.raises(Problem, match="of one text"):
        av.knock_out_units(model, input_ids=tokens(2, 7), units=[(0, 3)])
