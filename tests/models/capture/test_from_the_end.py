"""Negative layers, heads and positions count from the end at every entry point; one that is not there is a sentence."""

import re
from typing import Any

import pytest
import torch
from torch import Tensor

import attnviz as av
from attnviz.base.message import Problem
from attnviz.models.capture import Edit, Trace
from tests.models.tiny import llama, tokens


@pytest.fixture(scope="module")
def trace() -> Trace:
    return av.capture(llama(), tokens())  # 2 layers of 6 heads, 7 positions


def edited(**given: Any) -> Tensor:
    logits = av.intervene(llama(), Edit(**given), input_ids=tokens()).logits
    assert logits is not None
    return logits


def streamed(**given: Any) -> Tensor:
    return edited(stream=lambda own: own / 2, **given)


#: what is asked with a number from the start, with the same one from its end, and with one that is not there
ASKED: dict[str, Any] = {
    "Edit's layers": (lambda n: edited(layers=n, silence=True), 1, -1, 2, -3),
    "Edit's heads": (lambda n: edited(layers=0, heads=n, silence=True), 4, -2, 6, -7),
    "Edit's at": (lambda n: edited(layers=0, at=n, silence=True), 5, -2, 7, -8),
    "Edit's block": (lambda n: edited(layers=0, block=[(6, n)]), 5, -2, 7, -8),
    "a stream's layers": (lambda n: streamed(layers=n), 1, -1, 2, -3),
    "a stream's at": (lambda n: streamed(layers=0, at=n), 5, -2, 7, -8),
    "a trace": (lambda n, t: t[n].weights(), 1, -1, 2, -3),
    "weights": (lambda n, t: t[0].weights(heads=n), 4, -2, 6, -7),
    "stages": (lambda n, t: t[0].stages(n).weights, 4, -2, 6, -7),
    "head_outputs": (lambda n, t: t[0].head_outputs(n), 4, -2, 6, -7),
    "to_dataframe's layers": (lambda n, t: t.to_dataframe(layers=n).drop(columns="name").to_numpy(), 1, -1, 2, -3),
    "to_dataframe's heads": (lambda n, t: t.to_dataframe(0, n).drop(columns="name").to_numpy(), 4, -2, 6, -7),
    "show's layer": (lambda n, t: av.show(t, layer=n).csv, 1, -1, 2, -3),
    "show's layer, of arrays": (lambda n, t: av.show([t[0].weights()[0]] * 2, layer=n).svg, 1, -1, 2, -3),
    "show's head": (lambda n, t: av.show(t, head=n).csv, 4, -2, 6, -7),
    "show's row": (lambda n, t: av.show(t, row=n).csv, 0, -2, 2, -3),
}


@pytest.mark.parametrize("name", ASKED)
def test_a_number_from_the_end_is_the_one_from_the_start(name: str, trace: Trace) -> None:
    ask, start, end, beyond, before = ASKED[name]
    given = (trace,) if ask.__code__.co_argcount == 2 else ()
    one, other = ask(start, *given), ask(end, *given)
    assert one == other if isinstance(one, str) else torch.equal(torch.as_tensor(one), torch.as_tensor(other))
    for number in (beyond, before):
        with pytest.raises((Problem, IndexError)) as said:
            ask(number, *given)
        assert re.search(rf"-?\d.*\b{abs(number)}\b|{number}\b", str(said.value)), said.value
