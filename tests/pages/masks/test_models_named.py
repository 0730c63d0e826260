"""The models that a mask is said to stand in really mask so: asked of transformers, with random weights."""

import pytest
import torch
import transformers

from attnviz.pages.masks.maths.mask_rules import KINDS, Rule, combine_rules

T = 8
SMALL = {"vocab_size": 16, "hidden_size": 16, "intermediate_size": 16, "num_attention_heads": 2}
LLAMA_LIKE = SMALL | {"num_hidden_layers": 2, "num_key_value_heads": 2, "head_dim": 8, "pad_token_id": 0}
MODELS = {
    "BERT": (transformers.BertConfig, SMALL | {"num_hidden_layers": 1}),
    "GPT-2": (transformers.GPT2Config, {"vocab_size": 16, "n_embd": 16, "n_layer": 1, "n_head": 2}),
    "Llama": (transformers.LlamaConfig, LLAMA_LIKE),
    "Mistral 7B": (transformers.MistralConfig, LLAMA_LIKE | {"sliding_window": 4}),
    "Gemma 2": (transformers.Gemma2Config, LLAMA_LIKE | {"sliding_window": 4}),
}


def looks(name):
    """Where each layer of a small random model of this family looks, (T, T) booleans."""
    make, arguments = MODELS[name]
    torch.manual_seed(0)
    model = transformers.AutoModel.from_config(make(**arguments), attn_implementation="eager").eval()
    with torch.no_grad():
        out = model(input_ids=torch.arange(1, T + 1)[None], output_attentions=True)
    return [(layer[0] > 0).any(0) for layer in out.attentions]


def named(kind):
    return [name for name in MODELS if name in str(KINDS[kind].lesson)]


@pytest.mark.parametrize("kind, names", [("none", ["BERT"]), ("causal", ["GPT-2", "Llama"])])
def test_the_models_named_mask_so_in_every_layer(kind, names):
    assert named(kind) == names
    for name in names:
        assert all(torch.equal(layer, combine_rules((Rule.of(kind),), T)) for layer in looks(name))
