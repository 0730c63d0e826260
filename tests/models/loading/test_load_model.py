import sys
from pathlib import Path

import pytest

from attnviz.models.capture.adapter import NAME
from attnviz.models.capture.run import capture
from attnviz.models.loading.load_model import load
from attnviz.models.tokens.encoding import encode, encode_target
from tests.models.capture.test_score_attribution import other_family
from tests.models.tiny import bert
from tests.models.tiny_streams import made
from tests.models.tiny_tokenizers import marian, saved


@pytest.mark.parametrize("headless", [False, True])
@pytest.mark.parametrize("build, kind", [(bert, "encoder"), (lambda: made("gpt2"), "decoder")])
def test_a_model_of_ones_own_is_opened_as_what_it_is(tmp_path, build, kind, headless):
    model = build().base_model if headless else build()
    loaded = load(str(saved(model, tmp_path)))
    assert type(loaded.model) is type(model)
    assert (loaded.entry.kind, loaded.entry.layers) == (kind, model.config.num_hidden_layers)
    assert loaded.entry.heads == 6
    assert loaded.model.config._attn_implementation == NAME
    assert not loaded.model.training
    tokens = encode(loaded, "the cat")
    trace = capture(loaded.model, **tokens.inputs)
    assert trace.layers[0].weights().shape == (1, 6, len(tokens), len(tokens))


def test_a_translator_is_read_from_source_and_target(tmp_path):
    tokenizer = marian(tmp_path)
    model = other_family("marian")
    model.config.pad_token_id = model.config.decoder_start_token_id = len(tokenizer) - 1
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    loaded = load(str(tmp_path))
    assert loaded.entry.kind == "encoder-decoder"
    source, target = encode(loaded, "the cat sat"), encode_target(loaded, "one two")
    trace = capture(loaded.model, **source.inputs, decoder_input_ids=target.inputs["input_ids"])
    cross = next(layer for layer in trace.layers if layer.kind == "cross")
    assert cross.weights().shape == (1, 4, len(target), len(source))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lists a process's mappings")
def test_weights_are_mapped_from_the_file_and_take_no_memory_of_their_own(smollm2):
    """The embedding's address is inside the memory mapping of the weights file."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    address = smollm2.model.get_input_embeddings().weight.data_ptr()
    spans = [(line, [int(part, 16) for part in line.split()[0].split("-")]) for line in lines]
    (found,) = (line for line, (low, high) in spans if low <= address < high)
    assert found.endswith("model.safetensors")
