"""A trace as one labelled array, and the mean of its prompts."""

import sys

import pytest
import torch
from torch.testing import assert_close

import attnviz as av
from attnviz.base.message import Problem
from attnviz.models.capture import Trace
from tests.models.tiny import llama, tokens

WORDS = [[f"{row}{place}" if place == 2 else f"w{place}" for place in range(7)] for row in "ab"]


@pytest.fixture
def trace() -> Trace:
    return av.capture(llama(), tokens(), labels=WORDS)


def test_the_mean_is_over_the_prompts_and_names_what_they_share(trace: Trace) -> None:
    mean = trace.mean()
    assert mean.tokens == ("w0", "w1", "…", *WORDS[0][3:])
    for layer, own in zip(mean, trace, strict=True):
        assert_close(layer.weights(), own.weights().mean(0, keepdim=True))
        assert (layer.place, layer.name, layer.exact) == (own.place, own.name, False)
    assert av.show(mean, layer=-1).queries == list(mean.tokens)


def test_an_array_with_names_holds_every_weight_and_says_what_it_needs(
    trace: Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "xarray", None)
        with pytest.raises(Problem, match="needs xarray, which is not installed: pip install xarray"):
            trace.to_xarray()
    pytest.importorskip("xarray", reason="xarray, which is optional, is not installed")
    array = trace.to_xarray()
    assert array.dims == ("layer", "batch", "head", "query", "key")
    assert_close(torch.tensor(array.sel(layer=1, head=2).values), trace[1].weights(2)[:, 0])
    assert array["query_token"].values.tolist() == WORDS
    assert trace.to_xarray(layers=[-1])["name"].values.tolist() == ["model.layers.1.self_attn"]
