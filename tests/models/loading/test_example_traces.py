import subprocess
import sys
from dataclasses import replace

import pytest
import torch
from torch.testing import assert_close
from transformers import BertConfig, BertForMaskedLM

from attnviz.analysis.model_run import Request, has_stored_run, stored_run
from attnviz.models.capture.run import capture
from attnviz.models.catalogue import CATALOGUE, LoadedModel
from attnviz.models.loading import EXAMPLES
from attnviz.models.loading import example_traces as module
from attnviz.models.loading.example_traces import prepare_examples, prepared_example
from attnviz.models.tokens.encoding import encode

EXAMPLE = {each.id: each for each in EXAMPLES}


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch, tmp_path):
    monkeypatch.setenv("ATTNVIZ_CACHE", str(tmp_path))
    monkeypatch.setattr(module, "EXAMPLES", tuple(each for each in EXAMPLES if each.id in ("pair", "bank")))


def test_an_example_prepared_earlier_is_the_example_captured_now(minilm):
    pair = EXAMPLE["pair"]
    request = Request(pair.model, pair.text, pair.second)
    assert not has_stored_run(request)
    assert stored_run(request) is None
    prepare_examples(minilm)
    assert has_stored_run(request)
    kept, tokens = stored_run(request), encode(minilm, pair.text, pair.second)
    assert kept.source.spans == tokens.spans
    assert kept.source.texts == tokens.texts
    assert_close(dict(kept.source.inputs), dict(tokens.inputs))
    for ours, layer in zip(kept.trace.layers, capture(minilm.model, **tokens.inputs).layers, strict=True):
        assert_close(ours.weights(), layer.weights())


def test_an_encoders_example_keeps_what_it_predicts_at_every_position(minilm, monkeypatch):
    """The catalogue's BERT is too large for a test: a tiny one in its place, with a tokenizer that knows the words."""
    entry = CATALOGUE[[each.id for each in CATALOGUE].index("bert-base")]
    model = BertForMaskedLM(
        BertConfig(hidden_size=48, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64)
    ).eval()
    this = replace(EXAMPLE["bank"], model="bert-base")
    monkeypatch.setattr(module, "EXAMPLES", (this,))
    prepare_examples(LoadedModel(model, minilm.tokenizer, entry, "hub cache"))
    kept = prepared_example(this)
    with torch.no_grad():
        expected = model(**kept.tokens.inputs).logits
    assert_close(kept.trace.logits, expected)


def test_preparing_what_is_prepared_imports_nothing_heavy(minilm, monkeypatch):
    monkeypatch.setenv("ATTNVIZ_MODELS", "minilm-l6")
    monkeypatch.setattr(module, "EXAMPLES", EXAMPLES)
    prepare_examples(minilm)
    code = (
        "import sys; from attnviz.command import main; assert main(['models', 'prepare']) == 0;"
        "print([m for m in ('torch', 'transformers') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
