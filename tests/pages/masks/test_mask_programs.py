import warnings

import numpy as np
import pytest

from attnviz.pages.masks.maths import mask_lab
from attnviz.pages.masks.maths.mask_lab import Config, Painted
from attnviz.pages.masks.maths.mask_programs import PROGRAMS
from attnviz.pages.masks.maths.mask_rules import KINDS, Rule
from tests.pages.conftest import ran

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


@pytest.mark.parametrize(
    "config, dimensions, remark",
    [
        (Config(WORDS), 2, "adds its own causal mask"),
        (Config(WORDS, rules=(Rule.of("causal"), Rule.of("padding", side="left"))), 2, "adds its own causal mask"),
        (Config(WORDS, rules=(Rule.of("causal"), Rule.of("padding", side="right"))), 2, "adds its own causal mask"),
        (Config(WORDS, rules=(Rule.of("window"),), paint=FEW), 4, "replaces the model's own"),
    ],
)
def test_transformers_is_given_words_and_padding_where_it_knows_the_rest_and_else_the_whole_mask(
    config, dimensions, remark
):
    program = PROGRAMS["transformers"](config)
    names, _printed = ran(program.code)
    assert names["attention_mask"].dim() == dimensions
    assert remark in str(program.remark)
    mask = mask_lab.run(config).mask
    seeing = mask.any(-1)
    assert ((names["weights"].detach().numpy() > 0) == mask)[seeing].all()
