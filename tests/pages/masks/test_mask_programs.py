import contextlib
import io
import warnings

import numpy as np
import pytest
import torch
from transformers import LlamaConfig
from transformers.masking_utils import create_causal_mask

from attnviz.core import masks
from attnviz.pages.masks.maths import mask_lab
from attnviz.pages.masks.maths.mask_lab import Config, Painted
from attnviz.pages.masks.maths.mask_programs import PROGRAMS
from attnviz.pages.masks.maths.mask_rules import KINDS, Rule

WORDS = ("it's", 'a "test"', "of", "of", "<b>", "{masks}", "\\n", "ok")
FEW = Painted(8, on=(3, 25), off=(0, 9))
MANY = Painted(8, on=tuple(range(2, 8)), off=tuple(range(48, 60)))


def executed(code):
    names = {}
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # FlexAttention warns that it is not compiled
        exec(code, names)
    return names["weights"].detach().numpy()


PAINTED = [*((kind, Painted()) for kind in KINDS), ("documents", FEW), ("random", MANY)]


@pytest.mark.parametrize("kind, paint", PAINTED)
def test_the_programs_shown_give_the_weights_of_the_page(kind, paint):
    config = Config(WORDS, seed=3, rules=(Rule.of(kind), Rule.of("documents", "or", lengths="2")), paint=paint)
    result = mask_lab.run(config)
    for way in ("attn_mask", "mask_mod"):
        code = PROGRAMS[way](config).code
        assert code is not None
        np.testing.assert_allclose(executed(code), result.after, atol=2e-6)


def test_two_rules_of_a_kind_do_not_share_their_tensors():
    rules = (Rule.of("documents", lengths="3"), Rule.of("documents", "or", lengths="5"), Rule.of("random", "or"))
    config = Config(WORDS, rules=(*rules, Rule.of("random", "or", seed=8)))
    for way in ("attn_mask", "mask_mod"):
        np.testing.assert_allclose(executed(PROGRAMS[way](config).code), mask_lab.run(config).after, atol=2e-6)


def test_the_flag_is_offered_for_exactly_the_causal_mask():
    causal = Config(WORDS, rules=(Rule.of("prefix", prefix_len=1),))  # another name, the same mask
    np.testing.assert_allclose(executed(PROGRAMS["is_causal"](causal).code), mask_lab.run(causal).after, atol=2e-6)
    other = PROGRAMS["is_causal"](Config(WORDS, paint=FEW))
    assert other.code is None
    assert "differs from it in 3 of 64 cells" in str(other.remark)


@pytest.mark.parametrize("kind, paint", PAINTED)
def test_a_transformers_model_looks_exactly_where_the_mask_lets_it(kind, paint):
    config = Config(WORDS, rules=(Rule.of(kind),), paint=paint)
    mask = mask_lab.run(config).mask
    seeing = mask.any(-1)  # transformers gives even weights to a row that is all hidden
    assert ((executed(PROGRAMS["transformers"](config).code) > 0) == mask)[seeing].all()


@pytest.mark.parametrize("first", ["causal", "window"])
def test_a_row_with_nothing_left_is_even_over_all_words_in_a_transformers_model(first):
    config = Config(WORDS, rules=(Rule.of(first), Rule.of("padding", side="left")))
    weights = executed(PROGRAMS["transformers"](config).code)
    np.testing.assert_allclose(weights[:2], 1 / len(WORDS), rtol=1e-5)
    assert mask_lab.run(config).empty == (0, 1)
    assert ((weights > 0) == mask_lab.run(config).mask)[2:].all()


def made_by_transformers(attention_mask, config, **more):
    """What transformers' own function hands to eager attention for a mask that a visitor of the page passes in."""
    hidden = torch.zeros(1, len(config.words), 32)
    settings = LlamaConfig(hidden_size=32, num_attention_heads=2, attn_implementation="eager")
    return create_causal_mask(settings, hidden, attention_mask, past_key_values=None, **more)


def passed_in(config):
    """What the program on the page passes to the model, by name."""
    names = {}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(PROGRAMS["transformers"](config).code, names)
    return names


@pytest.mark.parametrize("rules", [(), ("left",), ("right",)])
def test_transformers_own_function_makes_the_pages_mask_of_the_places_that_are_words(rules):
    padding = [Rule.of("padding", side=side) for side in rules]
    config = Config(WORDS, rules=(Rule.of("causal"), *padding))
    given = passed_in(config)
    assert given["attention_mask"].dim() == 2
    made = made_by_transformers(given["attention_mask"], config, position_ids=given["position_ids"])
    result = mask_lab.run(config)
    allowed = torch.ones(8, 8).tril().bool() if made is None else made[0, 0] == 0
    seeing = [row for row in range(8) if row not in result.empty]
    assert torch.equal(allowed[seeing], torch.from_numpy(result.mask)[seeing])
    assert "adds its own causal mask" in str(PROGRAMS["transformers"](config).remark)


def test_transformers_own_function_takes_a_mask_of_four_dimensions_as_it_is():
    config = Config(WORDS, rules=(Rule.of("window"),), paint=FEW)
    given = passed_in(config)["attention_mask"]
    made = made_by_transformers(given, config)
    assert made is given, "nothing is added: not even the causal mask"
    assert not np.array_equal((made[0, 0] == 0).numpy(), (made[0, 0] == 0).numpy() & masks.causal(8).numpy())
    assert np.array_equal((made[0, 0] == 0).numpy(), mask_lab.run(config).mask)
    assert "replaces the model's own" in str(PROGRAMS["transformers"](config).remark)
