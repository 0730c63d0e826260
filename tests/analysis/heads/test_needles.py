"""Retrieval heads: which heads look at a needle in a haystack while it is copied."""

import numpy as np
import pytest
import torch

import attnviz as av
from attnviz.analysis.heads.needles import NEEDLE, needle_in_haystack
from attnviz.analysis.heads.scan import copied_keys, scan
from attnviz.base.message import Problem
from attnviz.models.capture import capture
from tests.models.tiny import llama
from tests.models.tiny_tokenizers import byte_level


def test_what_the_end_copies_is_found_and_padding_is_left_out() -> None:
    ids = torch.tensor([1, 5, 6, 7, 2, 5, 6, 9, 3, 5, 6, 7])  # "5 6 7" stands twice; "5 6" once more between
    assert copied_keys(ids).tolist() == [-1] * 8 + [1, 2, 3, -1]
    padded = torch.cat([torch.tensor([0, 0]), ids, torch.tensor([0])])
    assert copied_keys(padded, padded > 0).tolist() == [-1] * 10 + [3, 4, 5, -1, -1]
    assert copied_keys(torch.tensor([1, 2, 3, 1])).tolist() == [-1] * 4  # one token is no passage
    assert copied_keys(torch.tensor([4, 4, 4, 4])).tolist() == [-1, 0, 1, -1]  # a copy begins after what it copies


def test_a_retrieval_score_is_how_many_copied_tokens_a_head_looked_at_most() -> None:
    model = llama()
    draw = torch.Generator().manual_seed(2)
    passage, ids = torch.randint(5, 90, (4,), generator=draw), torch.randint(5, 90, (2, 20), generator=draw)
    ids[0, 3:7] = ids[0, 16:] = ids[1, 9:13] = ids[1, 16:] = passage
    (found,) = scan(model, ids, ("retrieval",))
    (beside,) = scan(model, ids, ("previous_token", "retrieval"))
    for sentence, start in enumerate((3, 9)):
        for number, layer in enumerate(capture(model, input_ids=ids)):
            for head in range(6):
                weights = layer.weights(head)[sentence, 0]
                hits = [int(weights[15 + step].argmax()) == start + step for step in range(4)]
                for scores in (found, beside):
                    assert scores.by_sentence["retrieval"][sentence, number * 6 + head] == np.mean(hits)
    assert found.by_sentence["retrieval"].sum() > 0
    (none,) = scan(model, torch.arange(5, 25)[None], ("retrieval",))
    assert np.isnan(none.by_sentence["retrieval"]).all()


def test_a_haystack_has_its_length_and_its_needle_at_the_depth_and_at_the_end() -> None:
    tokenizer = byte_level()
    needle = tokenizer(NEEDLE, add_special_tokens=False)["input_ids"]
    made = [ids[0].tolist() for ids in needle_in_haystack(tokenizer, (600, 900), (0.0, 0.5, 1.0))]
    assert [len(ids) for ids in made] == [600] * 3 + [900] * 3
    for ids, depth in zip(made, (0.0, 0.5, 1.0) * 2, strict=True):
        places = [at for at in range(len(ids)) if ids[at : at + len(needle)] == needle]
        assert len(places) == 2
        assert places[1] == len(ids) - len(needle)
        assert places[0] == pytest.approx(depth * (places[1] - len(needle)), abs=0.3 * len(ids))
        assert copied_keys(torch.tensor(ids))[-2] == places[0] + len(needle) - 1
    with pytest.raises(Problem, match="needs more than") as refused:
        next(needle_in_haystack(tokenizer, (20,)))
    least = refused.value.message.params["count"] + 1
    assert next(needle_in_haystack(tokenizer, (least,))).shape == (1, least)


def test_smollm2_s_heads_that_copy_a_needle_are_few(smollm2) -> None:
    table = av.find_heads(smollm2, av.needle_in_haystack(smollm2, [256], [0.2, 0.8]), patterns=("retrieval",))
    assert table.sentences == 2
    best = table.top(1, "retrieval")[0]
    assert best.mean > 0.5
    assert (table.mean["retrieval"] > 0.5).mean() < 0.1
