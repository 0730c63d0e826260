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

WRONG: dict[str, Callable[[], Any]] = {
    "a fraction as token": lambda: TRACE.logit_attribution(3.5),
    "a truth as token": lambda: TRACE.logit_attribution(True),
    "texts as tokens": lambda: TRACE.logit_attribution(["a"]),
    "a fraction in the lens": lambda: TRACE.logit_lens([3.5]),
    "a text as the number of tokens": lambda: TRACE.logit_lens(n="3"),
    "one token twice": lambda: TRACE.logit_attribution(av.logit_diff(3, 3)),
    "a list as position": lambda: TRACE.logit_attribution(3, position=[1]),
    "a list as position of the lens": lambda: TRACE.logit_lens(position=[1]),
    "a fraction as position": lambda: TRACE.logit_attribution(3, position=1.5),
    "a text as layer of sources": lambda: TRACE.logit_attribution(3).sources("0", 0),
    "patching for a fraction": lambda: av.attribution_patching(MODEL, IDS, OTHER, 3.5),
    "patching for one token twice": lambda: av.attribution_patching(MODEL, IDS, OTHER, av.logit_diff(3, 3)),
    "patching at a list": lambda: av.attribution_patching(MODEL, IDS, OTHER, 3, position=[1]),
    "patching for a token beyond the vocabulary": lambda: av.attribution_patching(MODEL, IDS, OTHER, VOCAB),
    "a circuit for one token twice": lambda: av.find_circuit(MODEL, IDS, OTHER, av.logit_diff(3, 3)),
    "a circuit for a fraction": lambda: av.find_circuit(MODEL, IDS, OTHER, 3.5),
    "a circuit at a list": lambda: av.find_circuit(MODEL, IDS, OTHER, 3, position=[1]),
    "a number as cells": lambda: av.activation_patching(MODEL, IDS, OTHER, 3, 5),
    "a number as cell": lambda: list(av.activation_patching(MODEL, IDS, OTHER, 3, [5])),
    "a text as cell": lambda: list(av.activation_patching(MODEL, IDS, OTHER, 3, ["a"])),
    "a list as a cell's position": lambda: list(av.activation_patching(MODEL, IDS, OTHER, 3, [(0, 1, [2])])),
    "no cell at once": lambda: av.activation_patching(MODEL, IDS, OTHER, 3, [(0, 1)], at_once=0),
    "a receiver without q, k or v": lambda: av.path_patching(MODEL, IDS, OTHER, 3, [(0, 1)], [(1,)]),
    "a word as receivers": lambda: av.path_patching(MODEL, IDS, OTHER, 3, [(0, 1)], "logit"),
    "a sender above": lambda: list(av.path_patching(MODEL, IDS, OTHER, 3, [(1, 1)], [(0, 1, "q")])),
    "a sender beside": lambda: list(av.path_patching(MODEL, IDS, OTHER, 3, [(1, 0)], [(1, 1, "q")])),
    "ids that are fractions": lambda: av.capture(MODEL, IDS.float()),
    "ids beyond the vocabulary": lambda: av.capture(MODEL, IDS + VOCAB),
    "ids below 0": lambda: av.capture(MODEL, IDS - VOCAB),
    "a number as input": lambda: av.capture(LOADED, 5),
    "no input": lambda: av.capture(LOADED),
    "more inputs than there are": lambda: av.capture(MODEL, *[IDS] * 30),
    "a module to load": lambda: av.load(MODEL),
    "a number to load": lambda: av.load(3),
    "texts as tokens of a circuit": lambda: av.head_circuits(MODEL, 0, 0, tokens=["a"]),
    "tokens of a circuit beyond the vocabulary": lambda: av.head_circuits(MODEL, 0, 0, tokens=[VOCAB]),
    "fractions as tokens of a circuit": lambda: av.head_circuits(MODEL, 0, 0, tokens=[1.5]),
    "no tokens of a circuit": lambda: av.head_circuits(MODEL, 0, 0, tokens=[]),
    "a text as layer of a circuit": lambda: av.head_circuits(MODEL, "0", 0),
    "a fraction as distance": lambda: av.head_circuits(MODEL, 0, 0, distance=1.5),
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


def test_patched_cells_are_looked_up_as_they_were_given() -> None:
    exact = dict(av.activation_patching(MODEL, IDS, OTHER, 3, [(0, 3), av.Site(1, 2), [1, 4]]))  # type: ignore[list-item]
    assert list(exact) == [(0, 3), av.Site(1, 2), (1, 4)]
    paths = dict(av.path_patching(MODEL, IDS, OTHER, 3, [(0, 3), (0, -1)], [(1, 2, "q")]))
    assert list(paths) == [(0, 3), (0, -1)]
