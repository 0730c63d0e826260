"""A score of the small model by parts, against the weights of its own forward pass."""

import math

import pytest
import torch

from attnviz.pages.born.maths import life
from attnviz.pages.born.maths.life import forward
from attnviz.pages.born.maths.score_parts import attribute_score


@pytest.mark.parametrize("ablated", [(), ((0, 0),)])
@pytest.mark.parametrize("name", [life.LIFE, life.BLURRED])
def test_the_table_adds_up_to_the_log_odds_of_the_weight(name, ablated):
    run = life.read(name)
    copies = life.repeat_words("seven blue whales sing below", run.config)
    for checkpoint in (0, len(run.steps) // 2, len(run.steps) - 1):
        numbers = run.numbers[checkpoint]
        _logits, weights = forward(torch.from_numpy(numbers).float(), torch.tensor([copies.ids]), run.config, ablated)
        for head, query, key in (((1, 2), 6, 2), ((1, 0), 9, 5)):
            found = attribute_score(numbers, copies.ids, run.config, head, query, key, ablated)
            row = weights[1][0, head[1], query].double()
            weight, others = float(row[key]), float(row[:key].sum() + row[key + 1 :].sum())
            assert found.row[key] == pytest.approx(weight, abs=1e-6)
            assert found.table.sum() == pytest.approx(found.score - found.baseline, abs=1e-3)
            assert found.table.sum() - found.entropy == pytest.approx(math.log(weight / others), abs=2e-3)
            if ablated:
                assert abs(found.table[:, found.parts.index("0.0")]).max() == 0
