"""Each term: two sentences, numbers that are computed, each here from another hand, and a place that exists."""

import math

import numpy as np
import pytest

from attnviz.app import glossary_terms
from attnviz.app.glossary_terms import TERMS
from attnviz.app.links.choices import page_choices
from attnviz.serve import page_table

PAGES = {row.name for row in page_table.PAGES}


@pytest.mark.parametrize("term", TERMS.values(), ids=list(TERMS))
def test_a_term_can_be_seen_where_it_says(term):
    assert term.page in PAGES
    known = {choice.name: choice for choice in page_choices(term.page)}
    for name, text in term.parameters.items():
        assert known[name].read(text) is not None
        assert known[name].write(known[name].read(text)) == text


def test_the_numbers_are_those_that_formulas_and_counting_and_published_configs_give():
    found = glossary_terms.numbers()
    e, cold = np.exp([0.0, 1.0, 2.0]), np.exp([0.0, 0.5, 1.0])
    assert (found["low"], found["middle"], found["high"]) == pytest.approx(tuple(e / e.sum()))
    assert found["high_hot"] == pytest.approx(cold[-1] / cold.sum())
    assert (found["even"], found["effective"]) == pytest.approx((math.log(8), 8))
    assert (found["bits"], found["scale"]) == pytest.approx((math.log2(math.e), 1 / math.sqrt(64)))
    pairs = [(i, j) for i in range(10) for j in range(10)]
    assert found["pairs"] == len(pairs)
    assert found["causal_pairs"] == sum(j <= i for i, j in pairs)
    assert found["window_pairs"] == sum(i - 4 < j <= i for i, j in pairs)
    layers, width, tokens = 32, 128, 8192  # of Llama-3.1-8B
    assert (found["llama_layers"], found["llama_heads"], found["llama_kv_heads"]) == (layers, 32, 8)
    assert found["token_kib"] * 1024 == layers * 8 * width * 2 * 2
    for name, heads, unit in (("mha_gib", 32, 2**30), ("gqa_gib", 8, 2**30), ("mqa_mib", 1, 2**20)):
        assert found[name] * unit == layers * heads * width * 2 * 2 * tokens
    assert (found["small_layers"], found["small_heads"], found["small_kv_heads"], found["small_all"]) == (30, 9, 3, 270)
    assert (found["latent"], found["rotary"]) == (512, 64), "kv_lora_rank and qk_rope_head_dim of its config.json"
    assert found["latent_heads"] == 128
