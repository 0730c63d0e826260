"""A trace as somebody holds it in a notebook: layers by number and name, tables and arrays, measures, and its file."""

import sys
from pathlib import Path
from typing import Any, Literal

import pytest
import torch
from torch.testing import assert_close

import attnviz as av
from attnviz.base.message import Problem
from attnviz.core import measures
from attnviz.models.capture import Trace, bands
from tests.models.tiny import bert, eager, llama, padded, tokens

WORDS = [[f"{row}{place}" if place == 2 else f"w{place}" for place in range(7)] for row in "ab"]


@pytest.fixture
def trace() -> Trace:
    return av.capture(llama(), tokens(), labels=WORDS)


def test_layers_by_number_and_by_name(trace: Trace) -> None:
    assert trace[0] is trace.layers[0]
    assert trace[-1] is trace.layers[-1]
    assert trace["model.layers.1.self_attn"] is trace[1]
    assert [layer.index for layer in trace] == list(range(len(trace)))
    assert trace[:2] == (trace[0], trace[1])
    with pytest.raises(IndexError, match=rf"layer 99 .* has {len(trace)}"):
        trace[99]
    with pytest.raises(KeyError, match=r"no layer of this trace is called model\.layers\.77.*model\.layers\.0"):
        trace["model.layers.77"]


@pytest.mark.parametrize("heads", ["mean", "max"])
def test_rollout_is_that_of_the_layers_weights(heads: Literal["mean", "max"], trace: Trace) -> None:
    flow = trace.rollout(heads=heads, residual=0.4)
    assert_close(flow, measures.rollout(torch.stack([layer.weights() for layer in trace]), 0.4, heads))
    assert flow.shape == (2, 2, 7, 7)


def test_the_mean_is_over_the_prompts_and_names_what_they_share(trace: Trace) -> None:
    mean = trace.mean()
    assert mean.tokens == ("w0", "w1", "…", *WORDS[0][3:])
    for layer, own in zip(mean, trace, strict=True):
        assert_close(layer.weights(), own.weights().mean(0, keepdim=True))
        assert (layer.place, layer.name, layer.exact) == (own.place, own.name, False)
    assert av.show(mean, layer=-1).queries == list(mean.tokens)


def test_a_table_and_an_array_with_names_hold_every_weight_and_say_what_they_need(
    trace: Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = trace.to_dataframe()
    assert len(table) == sum(layer.weights().numel() for layer in trace)
    cell = table.set_index(["layer", "batch", "head", "query", "key"]).loc[(1, 1, 2, 4, 3)]
    assert cell.weight == pytest.approx(trace[1].weights(2)[1, 0, 4, 3].item())
    few = trace.to_dataframe(layers="model.layers.1.self_attn", heads=2)
    assert set(few["head"]) == {2}
    assert len(few) == 2 * 7 * 7
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


# Entropy, share on the first token and largest score of heads, against whole matrices of each sentence alone.
@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("cells", [1 << 20, 1])
def test_measures_are_those_without_padding(side: str, cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bands, "CELLS", cells)
    monkeypatch.setattr(bands, "FEWEST_ROWS", 2)
    model, mask = llama(), padded(side)
    mask_positions = (mask.cumsum(-1) - 1).clamp_min(0)
    trace = av.capture(model, tokens(), attention_mask=mask, position_ids=mask_positions)
    for row in range(2):
        ids = tokens()[row : row + 1, mask[row].bool()]
        weights = torch.stack(eager(model, input_ids=ids).attentions)[:, 0]  # (L, H, Q, K)
        assert_close(trace.entropy().values[:, row], -torch.xlogy(weights, weights).sum(-1).mean(-1))
        assert_close(trace.sink_mass().values[:, row], weights[..., 0].mean(-1))
        alone = av.capture(model, ids)
        scores = torch.stack([layer.q @ layer.k.repeat_interleave(3, 1).mT * layer.scale for layer in alone])[:, 0]
        seen = torch.ones(ids.shape[1], ids.shape[1]).tril().bool()
        assert_close(trace.max_logits().values[:, row], scores.masked_fill(~seen, -torch.inf).amax((-1, -2)))


def test_a_head_that_was_rescaled_has_its_own_largest_score() -> None:
    plain = av.capture(llama(), tokens()).max_logits().values
    edited = av.intervene(llama(), av.rescale(1, 2, factor=3.0), tokens())
    expected = plain.clone()
    expected[1, :, 2] *= 3
    assert_close(edited.max_logits().values, expected)


def test_each_has_a_frame_a_plot_and_the_heads_of_most() -> None:
    trace = av.capture(llama(), tokens())
    for measure in (trace.entropy(), trace.sink_mass(), trace.max_logits()):
        frame = measure.to_dataframe()
        assert len(frame) == 2 * 2 * 6
        layer, head, value = measure.top(1)[0]
        assert (
            value
            == float(measure.mean.max())
            == pytest.approx(frame[(frame.layer == layer) & (frame["head"] == head)][measure.name].mean())
        )
        assert measure.plot().data[0].z.shape == (2, 6)


# A trace in a file.
EDITS = [av.Edit(heads=1, factor=3.0), av.Edit(layers=0, heads=2, silence=True), av.Edit(heads=0, mask=None)]


@pytest.mark.parametrize("build", [llama, bert])
@pytest.mark.parametrize("side, edits", [("none", EDITS), ("left", []), ("right", [])])
def test_a_saved_trace_answers_as_the_first_did(build: Any, side: str, edits: list[av.Edit], tmp_path: Path) -> None:
    trace = av.intervene(build(), edits, input_ids=tokens(), attention_mask=padded(side))
    trace.save(tmp_path / "deep" / "trace.safetensors")
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["trace.safetensors"]
    opened = Trace.load(tmp_path / "deep" / "trace.safetensors")
    assert torch.equal(opened.logits, trace.logits)
    assert torch.equal(opened.inputs["input_ids"], tokens())
    for before, after in zip(trace.layers, opened.layers, strict=True):
        for name in ("place", "name", "n_heads", "n_kv_heads", "scale", "silenced", "scales"):
            assert getattr(before, name) == getattr(after, name)
        assert_close(before.weights(), after.weights())
        assert_close(before.weights(1, mask=None, scale=None), after.weights(1, mask=None, scale=None))
        assert_close(before.stages(2).output, after.stages(2).output)
        assert_close(before.value_norms(), after.value_norms())


def test_a_missing_a_damaged_and_a_foreign_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(Problem, match=r"none\.safetensors does not exist"):
        Trace.load(tmp_path / "none.safetensors")
    av.capture(llama(), input_ids=tokens()).save(tmp_path / "t")
    whole = (tmp_path / "t").read_bytes()
    (tmp_path / "half").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(Problem, match="half is not a saved trace, or is damaged"):
        Trace.load(tmp_path / "half")
    llama().save_pretrained(tmp_path / "model")
    with pytest.raises(Problem, match="is not a saved trace"):
        Trace.load(tmp_path / "model" / "model.safetensors")
