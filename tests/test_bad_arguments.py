"""Every argument that a person may get wrong is answered in a sentence, and what fits in another form is taken."""

# mypy: disable-error-code="arg-type, list-item"

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import attnviz as av
from attnviz.models.catalogue import ModelEntry
from tests.models.tiny import VOCAB, llama, tokens

MODEL = llama()
IDS, OTHER = tokens()[:1], tokens(seed=3)[:1]
LOADED = av.LoadedModel(MODEL, None, ModelEntry(id="tiny", name="tiny", hub=None), "folder")  # type: ignore[arg-type]
TRACE = av.capture(MODEL, IDS, residual=True)
PATCHING = av.attribution_patching(MODEL, IDS, OTHER, 3)

WRONG: dict[str, Callable[[], Any]] = {
    "a fraction as token": lambda: TRACE.logit_attribution(3.5),
    "one token twice": lambda: TRACE.logit_attribution(av.logit_diff(3, 3)),
    "a list as position": lambda: TRACE.logit_attribution(3, position=[1]),
    "patching for a fraction": lambda: av.attribution_patching(MODEL, IDS, OTHER, 3.5),
    "patching for a token beyond the vocabulary": lambda: av.attribution_patching(MODEL, IDS, OTHER, VOCAB),
    "a number as cells": lambda: av.activation_patching(MODEL, IDS, OTHER, 3, 5),
    "an effect of a head that there is not": lambda: PATCHING.at((0, 9)),
    "an effect at a fraction": lambda: PATCHING.at((0, "mlp", 1.5)),
    "no cell at once": lambda: av.activation_patching(MODEL, IDS, OTHER, 3, [(0, 1)], at_once=0),
    "a receiver without q, k or v": lambda: av.path_patching(MODEL, IDS, OTHER, 3, [(0, 1)], [(1,)]),
    "a word as receivers": lambda: av.path_patching(MODEL, IDS, OTHER, 3, [(0, 1)], "logit"),
    "a sender above": lambda: list(av.path_patching(MODEL, IDS, OTHER, 3, [(1, 1)], [(0, 1, "q")])),
    "ids that are fractions": lambda: av.capture(MODEL, IDS.float()),
    "ids beyond the vocabulary": lambda: av.capture(MODEL, IDS + VOCAB),
    "a number as input": lambda: av.capture(LOADED, 5),
    "no input": lambda: av.capture(LOADED),
    "more inputs than there are": lambda: av.capture(MODEL, *[IDS] * 30),
    "a module to load": lambda: av.load(MODEL),
    "no tokens of a circuit": lambda: av.head_circuits(MODEL, 0, 0, tokens=[]),
    "a fraction as distance": lambda: av.head_circuits(MODEL, 0, 0, distance=1.5),
    "a query and pairs": lambda: TRACE.score_attribution(1, 0, 3, 2, pairs=[(3, 2)]),
    "a query without a key": lambda: TRACE.score_attribution(1, 0, 3),
    "a pair as pairs": lambda: TRACE.score_attribution(1, 0, pairs=(3, 2)),
    "a truth value as query": lambda: TRACE.score_attribution(1, 0, True, 1),
    "a word as what a score is against": lambda: TRACE.score_attribution(1, 0, 3, 2, against="competitor"),
    "a part that there is not": lambda: TRACE.score_attribution(1, 0, 3, 2).cut("mlp0"),
    "a head as part": lambda: TRACE.score_attribution(1, 0, 3, 2).by_key_source((0, 1)),
    "a vector narrower than the stream": lambda: av.intervene(MODEL, av.steer(1, torch.ones(5)), IDS),
    "layers for layer": lambda: av.ablate(layers=0),
    "no other prompts": lambda: av.find_circuit(MODEL, IDS, [], 3),
    "a score of a head that there is not": lambda: av.find_circuit(MODEL, IDS, OTHER, 3, scores={(9, 9): 1.0}),
    "a site as sites": lambda: av.activation_patching(MODEL, IDS, OTHER, 3, av.Site(0, 1)),
    "a model that nobody published": lambda: av.costs("lama-3.1-8b"),
    "numbers of whole bytes as dtype": lambda: av.costs("llama-3.1-8b", dtype=torch.int64),
    "a number as sizes": lambda: av.find_circuit(MODEL, IDS, OTHER, 3, sizes=5),
    "a text as factor": lambda: av.rescale(0, 0, factor="a"),
    "a sentence that there is not": lambda: TRACE.logit_attribution(3).top(row=1),
    "a fraction as how many weights": lambda: TRACE.row().top(1.5),
    "a head of a row that there is not": lambda: TRACE.row().top(head=9),
    "a factor and a scale": lambda: av.rescale(0, 0, factor=2.0, scale=1.0),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_argument_is_answered_in_a_sentence(case: str) -> None:
    with pytest.raises(av.Problem) as refused:
        WRONG[case]()
    assert len(str(refused.value)) < 300


def test_a_wrong_measure_is_refused_before_the_first_pass() -> None:
    calls = MODEL.register_forward_pre_hook(lambda *_: pytest.fail("the model ran"))
    with calls:
        for case in ("patching for a fraction", "patching for a token beyond the vocabulary", "a number as cells"):
            with pytest.raises(av.Problem):
                WRONG[case]()


@pytest.mark.parametrize(
    "ids", [IDS.numpy(), IDS.tolist(), IDS[0].tolist(), IDS.int()], ids=lambda ids: type(ids).__name__
)
def test_ids_are_taken_in_any_form(ids: Any) -> None:
    for trace in (av.capture(MODEL, ids), av.capture(MODEL, input_ids=ids)):
        torch.testing.assert_close(trace.logits, TRACE.logits)
    assert float(TRACE.logit_attribution(np.int64(3)).logit) == float(TRACE.logit_attribution(3).logit)


def test_numbers_of_numpy_and_types_of_torch_are_taken() -> None:
    expected = TRACE.score_attribution(1, 0, 3, 2, against=1).table
    assert torch.equal(
        TRACE.score_attribution(1, np.int64(0), np.int64(3), np.int64(2), against=np.int64(1)).table, expected
    )
    assert av.costs("gpt2", dtype=torch.float32).cache_bytes == av.costs("gpt2", dtype="float32").cache_bytes


def test_what_is_close_to_a_wrong_name_is_said() -> None:
    for call, near in (
        (WRONG["a part that there is not"], "mlp 0"),
        (WRONG["a head as part"], "0.1"),
        (WRONG["a model that nobody published"], "llama-3.1-8b"),
    ):
        with pytest.raises(av.Problem, match=near):
            call()


def test_patched_cells_are_looked_up_as_they_were_given() -> None:
    exact = dict(av.activation_patching(MODEL, IDS, OTHER, 3, [(0, 3), av.Site(1, 2), [1, 4]]))  # type: ignore[list-item]
    assert list(exact) == [(0, 3), av.Site(1, 2), (1, 4)]
    paths = dict(av.path_patching(MODEL, IDS, OTHER, 3, [(0, 3), (0, -1)], [(1, 2, "q")]))
    assert list(paths) == [(0, 3), (0, -1)]
