import pytest
import torch
from torch.testing import assert_close

from attnviz.base.message import Problem
from attnviz.models.capture import Edit, intervene
from attnviz.models.capture.run import capture
from attnviz.models.capture.trace import Trace
from tests.models.tiny import bert, llama, padded, tokens


@pytest.mark.parametrize("build", [llama, bert])
@pytest.mark.parametrize("side", ["none", "left", "right"])
def test_a_saved_trace_answers_as_the_first_did(build, side, tmp_path):
    trace = capture(build(), input_ids=tokens(), attention_mask=padded(side))
    trace.save(tmp_path / "deep" / "trace.safetensors")
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["trace.safetensors"]
    opened = Trace.load(tmp_path / "deep" / "trace.safetensors")
    assert torch.equal(opened.logits, trace.logits)
    assert torch.equal(opened.inputs["input_ids"], tokens())
    for before, after in zip(trace.layers, opened.layers, strict=True):
        for name in ("place", "name", "n_heads", "n_kv_heads", "scale"):
            assert getattr(before, name) == getattr(after, name)
        assert_close(before.weights(), after.weights())
        assert_close(before.weights(1, mask=None, scale=None), after.weights(1, mask=None, scale=None))
        assert_close(before.stages(2).output, after.stages(2).output)
        assert_close(before.value_norms(), after.value_norms())


def test_an_intervention_can_be_saved_too(tmp_path):
    edits = [Edit(heads=1, factor=3.0), Edit(layers=0, heads=2, silence=True), Edit(heads=0, mask=None)]
    trace = intervene(llama(), edits, input_ids=tokens())
    trace.save(tmp_path / "t")
    for before, after in zip(trace.layers, Trace.load(tmp_path / "t").layers, strict=True):
        assert_close(before.weights(), after.weights())
        assert before.silenced == after.silenced
        assert before.scales == after.scales


def test_a_missing_a_damaged_and_a_foreign_file_are_refused(tmp_path):
    with pytest.raises(Problem, match=r"none\.safetensors does not exist"):
        Trace.load(tmp_path / "none.safetensors")
    capture(llama(), input_ids=tokens()).save(tmp_path / "t")
    whole = (tmp_path / "t").read_bytes()
    (tmp_path / "half").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(Problem, match="half is not a saved trace, or is damaged"):
        Trace.load(tmp_path / "half")
    llama().save_pretrained(tmp_path / "model")
    with pytest.raises(Problem, match="is not a saved trace"):
        Trace.load(tmp_path / "model" / "model.safetensors")
