"""A trace as one labelled array, and the mean of its prompts."""

import sys

import pytest
import torch
from torch.testing import assert_close

import attnviz as av
from attnviz.base.message import Problem
from attnviz.models.capture import Trace
from tests.models.tiny import llama, padded, tokens

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


def test_what_stands_at_different_positions_is_brought_together(trace: Trace) -> None:
    mean = trace.mean(aligned={"name": [1, 3], "verb": 4, "end": -1})
    assert mean.tokens == ("name", "verb", "end")
    own = trace[1].weights()
    by_hand = (own[0][:, [1, 4, 6]][:, :, [1, 4, 6]] + own[1][:, [3, 4, 6]][:, :, [3, 4, 6]]) / 2
    assert_close(mean[1].weights()[0], by_hand)
    with pytest.raises(Problem, match=r"aligned: name is at \[1, 9\]; it must be at one of 7 positions in each of 2"):
        trace.mean(aligned={"name": [1, 9]})
    with pytest.raises(Problem, match="the prompts differ in length"):
        av.capture(llama(), tokens(), attention_mask=padded("left")).mean()


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
