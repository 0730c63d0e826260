import contextlib
import io
import warnings

import numpy as np
import pytest

from attnviz.experiments.masks import mask_lab, mask_programs
from attnviz.experiments.masks.mask_lab import Config, Painted
from attnviz.experiments.masks.mask_rules import KINDS, Rule

WORDS = ("it's", 'a "test"', "of", "of", "<b>", "{masks}", "\\n", "ok")
FEW = Painted(8, on=(3, 25), off=(0, 9))
MANY = Painted(8, on=tuple(range(2, 8)), off=tuple(range(48, 60)))


def executed(code):
    names = {}
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # FlexAttention warns that it is not compiled
        exec(code, names)
    return names["weights"].detach().numpy()


@pytest.mark.parametrize("paint", [Painted(), FEW, MANY], ids=["unpainted", "few", "many"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_programs_shown_give_the_weights_of_the_page(kind, paint):
    config = Config(WORDS, seed=3, rules=(Rule.of(kind), Rule.of("documents", "or", lengths="2")), paint=paint)
    result = mask_lab.run(config)
    for way in ("attn_mask", "mask_mod"):
        code = mask_programs.program(way, config).code
        assert code is not None
        np.testing.assert_allclose(executed(code), result.after, atol=2e-6)


def test_two_rules_of_a_kind_do_not_share_their_tensors():
    rules = (Rule.of("documents", lengths="3"), Rule.of("documents", "or", lengths="5"), Rule.of("random", "or"))
    config = Config(WORDS, rules=(*rules, Rule.of("random", "or", seed=8)))
    for way in ("attn_mask", "mask_mod"):
        np.testing.assert_allclose(
            executed(mask_programs.program(way, config).code), mask_lab.run(config).after, atol=2e-6
        )


def test_the_flag_is_offered_for_exactly_the_causal_mask():
    causal = Config(WORDS, rules=(Rule.of("prefix", prefix_len=1),))  # another name, the same mask
    np.testing.assert_allclose(
        executed(mask_programs.program("is_causal", causal).code), mask_lab.run(causal).after, atol=2e-6
    )
    other = mask_programs.program("is_causal", Config(WORDS, paint=FEW))
    assert other.code is None
    assert "differs from it in 3 of 64 cells" in str(other.remark)


@pytest.mark.parametrize("side", ["left", "right"])
def test_transformers_is_told_of_causal_padding_by_places(side):
    config = Config(WORDS, rules=(Rule.of("causal"), Rule.of("padding", side=side)))
    program = mask_programs.program("transformers", config)
    assert "(B, T)" in program.code
    mask = mask_lab.run(config).mask
    seeing = mask.any(-1)
    assert ((executed(program.code) > 0) == mask)[seeing].all()


@pytest.mark.parametrize("kind", KINDS)
def test_a_transformers_model_looks_exactly_where_the_mask_lets_it(kind):
    config = Config(WORDS, rules=(Rule.of(kind),), paint=FEW)
    mask = mask_lab.run(config).mask
    seeing = mask.any(-1)  # transformers gives even weights to a row that is all hidden
    assert ((executed(mask_programs.program("transformers", config).code) > 0) == mask)[seeing].all()
