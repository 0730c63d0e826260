"""What a decoding step multiplies with, against torch's own count of its FLOPs and against published figures."""

from typing import Any

import pytest
import torch
import transformers
from torch.utils.flop_counter import FlopCounterMode
from transformers import AutoConfig

from attnviz.models.architecture.architecture import Architecture
from attnviz.models.architecture.meta_device import build, count_parameters
from attnviz.models.architecture.presets import find_preset
from tests.models.architecture.test_architecture import EVERY_PRESET

SMALL = {"hidden_size": 96, "num_hidden_layers": 3, "num_attention_heads": 6, "vocab_size": 128}
CONFIGS = {
    "llama": {**SMALL, "num_key_value_heads": 2, "intermediate_size": 64},
    "llama tied": {**SMALL, "num_key_value_heads": 2, "intermediate_size": 64, "tie_word_embeddings": True},
    "gpt2": {"n_embd": 96, "n_layer": 3, "n_head": 6, "vocab_size": 128, "n_positions": 64},
    "t5": {"d_model": 96, "d_kv": 20, "num_heads": 6, "d_ff": 64, "num_layers": 2,
           "num_decoder_layers": 3, "vocab_size": 128},
    "bart": {
        "d_model": 96, "encoder_layers": 2, "decoder_layers": 3, "encoder_attention_heads": 6, "vocab_size": 128,
        "decoder_attention_heads": 8, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64, "max_position_embeddings": 64,
    },
}  # fmt: skip
CONTEXT, HEARD = 13, 7


def ids(n):
    return torch.zeros(1, n, dtype=torch.long)


def flops_of(model, **inputs):
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        out = model(**inputs, use_cache=True)
    return counter.get_total_flops(), out


@pytest.mark.parametrize("name", CONFIGS)
def test_a_step_costs_what_torch_counts(name):
    """Twice the parameters it is multiplied with, norms and biases aside, and its scores and values."""
    config = AutoConfig.for_model(name.partition(" ")[0], pad_token_id=0, **CONFIGS[name])
    arch = Architecture.from_config(config)
    kind: Any = type(build(config))
    model = kind._from_config(config, attn_implementation="eager").eval()
    if config.is_encoder_decoder:
        read, first = flops_of(model, input_ids=ids(HEARD), decoder_input_ids=ids(CONTEXT - 1))
        more = {"encoder_outputs": (first.encoder_last_hidden_state,), "decoder_input_ids": ids(1)}
    else:
        read, first = flops_of(model, input_ids=ids(CONTEXT - 1))
        more = {"input_ids": ids(1)}
    step, _ = flops_of(model, past_key_values=first.past_key_values, **more)
    counts = count_parameters(config, arch.layers)
    assert counts.total == sum(p.numel() for p in model.parameters())
    vectors = sum(p.numel() for n, p in model.named_parameters() if p.dim() == 1 and "encoder." not in n)
    attention = arch.decode_flops(CONTEXT, encoder_tokens=HEARD)
    assert step == 2 * (counts.active - vectors) + attention.scores + attention.values
    if name == "t5":  # reading: attention, and a feed-forward of two matrices for each token of each stack
        ffn, head = 4 * 96 * 64, 2 * 96 * 128
        reading = arch.prefill_flops(CONTEXT - 1, encoder_tokens=HEARD).total
        assert read == reading + ffn * (2 * HEARD + 3 * (CONTEXT - 1)) + head * (CONTEXT - 1)


#: The class of transformers that the published checkpoint is opened with; the others write with their head.
CLASSES = {
    "bert": "BertModel", "modernbert": "ModernBertModel", "vit": "ViTModel", "t5": "T5ForConditionalGeneration",
    "bart": "BartForConditionalGeneration", "whisper": "WhisperForConditionalGeneration", "gpt2": "GPT2LMHeadModel",
}  # fmt: skip


@pytest.mark.parametrize("name", EVERY_PRESET)
def test_a_preset_states_what_its_model_and_the_class_that_its_checkpoint_uses_have(name):
    arch, counts = Architecture.preset(name), find_preset(name).counts
    config: Any = arch.config
    assert count_parameters(config, arch.layers) == counts
    with torch.device("meta"):
        if config.model_type in CLASSES:
            model = getattr(transformers, CLASSES[config.model_type])(config)
        else:
            model = transformers.AutoModelForCausalLM.from_config(config)
    assert counts.total == sum(p.numel() for p in model.parameters())
