"""A link keeps its numbers: each page's vectors equal those that its own function drew in earlier versions."""

import json
from pathlib import Path

import pytest
import torch
from torch.testing import assert_close

from attnviz.base.word_boundaries import split
from attnviz.pages.build.maths import inputs
from attnviz.pages.home import maths as landing
from attnviz.runs.word_vectors import sentence, word_vector

BEFORE = json.loads((Path(__file__).parent / "data" / "word_vectors.json").read_text())


def close(found, before):
    assert_close(found.flatten(), torch.tensor(before), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", BEFORE["start"])
def test_a_word_keeps_the_vector_it_had_on_each_page(name):
    seed, word = name.split("/")
    close(word_vector(word, int(seed), 64, "start")[:8], BEFORE["start"][name])
    close(word_vector(word, int(seed), 6, "building").round(decimals=1), BEFORE["building"][name])
    close(word_vector(word, int(seed), 16, "masks")[:8], BEFORE["masks"][name])


def test_the_picture_of_the_start_page_keeps_its_numbers():
    matrix = landing.run(landing.Config("the Cat sat the", seed=3))
    close(torch.tensor(matrix.values), BEFORE["start matrix"])


def test_the_building_page_keeps_its_vectors_and_weights():
    config = inputs.Config(words=("the", "Cat", "sat"), other=("naïve", "the"), seed=11)
    for found, before in zip(inputs.vectors(config), BEFORE["building vectors"], strict=True):
        close(found, before)
    weights = inputs.weights(config)
    for name, before in BEFORE["building weights"].items():
        close(weights[name], before)


def test_the_mask_page_keeps_its_scores_and_values():
    found = sentence(("the", "Cat", "sat"), 11)
    close(found.scores, BEFORE["masks scores"])
    close(found.v.flatten()[:8], BEFORE["masks v"])


@pytest.mark.parametrize("text", BEFORE["split"])
def test_a_sentence_is_split_where_it_was(text):
    assert list(split(text)) == BEFORE["split"][text]
