"""A loaded model takes a sentence where a module takes token ids, and the trace knows the tokens."""

import pytest
import torch

import attnviz as av
from attnviz.base.message import Problem
from attnviz.models.catalogue.entry import Entry, LoadedModel
from tests.models.tiny import bert, eager, llama
from tests.models.tiny import tokens as ids
from tests.models.tiny_tokenizers import word_piece

SENTENCE = "the cat sat"


@pytest.fixture
def loaded() -> LoadedModel:
    return LoadedModel(bert(), word_piece(), Entry(id="tiny", name="tiny", hub=None, kind="encoder"), "folder")


def test_a_sentence_is_read_as_the_tokenizer_reads_it(loaded: LoadedModel) -> None:
    trace = av.capture(loaded, SENTENCE)
    given = loaded.tokenizer(SENTENCE, return_tensors="pt")
    theirs = eager(bert(), **given)
    assert len(trace.tokens) == given["input_ids"].shape[1]
    assert [token for token in trace.tokens if token in SENTENCE.split()] == SENTENCE.split()
    for layer, weights in zip(trace, theirs.attentions, strict=True):
        torch.testing.assert_close(layer.weights(), weights, atol=1e-6, rtol=1e-5)


def test_the_picture_and_the_saved_trace_have_its_tokens(loaded: LoadedModel, tmp_path) -> None:
    trace = av.capture(loaded, SENTENCE)
    assert av.show(trace).queries == list(trace.tokens)
    assert av.show(trace, [f"w{n}" for n in range(len(trace.tokens))]).queries[0] == "w0", "tokens that are given win"
    trace.save(tmp_path / "trace.safetensors")
    assert av.Trace.load(tmp_path / "trace.safetensors").tokens == trace.tokens
    assert trace.to("cpu").tokens == trace.tokens
    changed = av.intervene(loaded, av.Edit(layers=0, heads=0, silence=True), SENTENCE)
    assert changed.tokens == trace.tokens
    assert not torch.equal(changed[1].weights(), trace[1].weights())


def test_a_text_that_is_too_long_is_cut_with_a_warning(loaded: LoadedModel) -> None:
    loaded.tokenizer.model_max_length = 5
    with pytest.warns(UserWarning, match="5"):
        assert len(av.capture(loaded, "the cat sat " * 4).tokens) == 5


def test_what_cannot_be_read_as_one_sentence_is_refused(loaded: LoadedModel) -> None:
    with pytest.raises(Problem, match=r"needs its tokenizer: give tokenizer=, or what attnviz\.load gives"):
        av.capture(llama(), SENTENCE)
    with pytest.raises(Problem, match="one sentence"):
        av.capture(loaded, SENTENCE, ids())
    with pytest.raises(Problem, match="one string; give a list"):
        av.show(av.capture(loaded, SENTENCE), SENTENCE)
