import sys
from pathlib import Path

import pytest
from transformers import (
    BertConfig,
    BertForMaskedLM,
    BertModel,
    GPT2Config,
    GPT2LMHeadModel,
    GPT2Model,
)

from attnviz.models.capture.adapter import NAME
from attnviz.models.capture.run import capture
from attnviz.models.loading.load_model import load
from attnviz.models.tokens.encoding import encode, encode_target
from tests.models.capture.test_score_attribution import other_family
from tests.models.tiny_tokenizers import byte_level, marian, word_piece

SMALL = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 32}


def gpt2():
    return GPT2Config(vocab_size=320, n_positions=64, n_embd=32, n_layer=2, n_head=4)


def built(folder, model, tokenizer=None):
    model.save_pretrained(folder)
    if tokenizer is not None:
        tokenizer.save_pretrained(folder)
    return load(str(folder))


@pytest.mark.parametrize(
    "make, tokenizer, kind, kept",
    [
        (lambda: BertForMaskedLM(BertConfig(**SMALL, vocab_size=100)), word_piece, "encoder", BertForMaskedLM),
        (lambda: BertModel(BertConfig(**SMALL, vocab_size=100)), word_piece, "encoder", BertModel),
        (lambda: GPT2LMHeadModel(gpt2()), byte_level, "decoder", GPT2LMHeadModel),
        (lambda: GPT2Model(gpt2()), byte_level, "decoder", GPT2Model),
    ],
)
def test_a_model_of_ones_own_is_opened_as_what_it_is(tmp_path, make, tokenizer, kind, kept):
    loaded = built(tmp_path, make(), tokenizer())
    assert type(loaded.model) is kept
    assert (loaded.entry.kind, loaded.entry.layers, loaded.entry.heads) == (kind, 2, 4)
    assert loaded.model.config._attn_implementation == NAME
    assert not loaded.model.training
    tokens = encode(loaded, "the cat")
    trace = capture(loaded.model, **tokens.inputs)
    assert trace.layers[0].weights().shape == (1, 4, len(tokens), len(tokens))


def test_a_translator_is_read_from_source_and_target(tmp_path):
    tokenizer = marian(tmp_path)
    model = other_family("marian")
    model.config.pad_token_id = model.config.decoder_start_token_id = len(tokenizer) - 1
    loaded = built(tmp_path, model, tokenizer)
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
    for line in lines:
        low, high = (int(part, 16) for part in line.split()[0].split("-"))
        if low <= address < high:
            assert line.endswith("model.safetensors")
            return
    pytest.fail("the weights are nowhere in memory")
