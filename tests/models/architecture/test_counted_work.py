"""What a decoding step and a whole pass cost, against torch's own count of a model that runs, and what models have."""

import copy
from typing import Any

import pytest
import torch
import transformers
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from attnviz.models.architecture import Architecture, size_full_pass
from attnviz.models.architecture.deployment import PassPart
from attnviz.models.architecture.meta_device import NoPadding, build, count_parameters
from attnviz.models.architecture.presets import find_preset
from tests.models.architecture.test_architecture import EVERY_PRESET, config_of

CONTEXT, HEARD = 13, 7
STEPS = ("llama", "llama tied", "gpt2", "t5", "bart")
PASSES = ("llama", "llama tied", "gpt2", "gpt_neox", "gemma2", "bert")


def small(name):
    """The config of a family with unusual sizes, or the same with its output tied to its embedding."""
    kind, _, tied = name.partition(" ")
    return config_of(kind, tie_word_embeddings=True) if tied else config_of(kind)


def ids(n):
    return torch.zeros(1, n, dtype=torch.long)


def flops_of(model, **inputs):
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        out = model(**inputs, use_cache=True)
    return counter.get_total_flops(), out


@pytest.mark.parametrize("name", STEPS)
def test_a_step_costs_what_torch_counts(name):
    """Twice the parameters it is multiplied with, norms and biases aside, and its scores and values."""
    config = small(name)
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


# A whole pass, on the meta device.
TOKENS, BATCH = 13, 2


def of_torch(config):
    """FLOPs of a pass, and the numbers that all matrices write."""
    model = build(config, "eager")
    if hasattr(model, "pooler"):
        model.pooler = None
    written = []
    for module in model.modules():
        if isinstance(module, nn.Linear) or type(module).__name__ == "Conv1D":
            module.register_forward_hook(lambda _m, _x, out: written.append(out.numel()))
    with NoPadding():
        flops, _ = flops_of(model, input_ids=ids(TOKENS).expand(BATCH, -1).to("meta"))
    return flops, sum(written)


def numbers_written(arch, parts):
    """What matrices write by the formula, without scores, weights, the heads' outputs and the looked-up embedding."""
    heads = sum(layer.n_heads * layer.d_value for layer in arch.layers)
    return sum(parts[part].activations for part in ("projections", "mlp", "output")) - BATCH * TOKENS * heads


@pytest.mark.parametrize("name", [*PASSES, "preset gpt2", "llama-3.1-8b", "smollm2-135m", "deepseek-v3"])
def test_a_prompt_costs_in_all_parts_together_what_torch_counts(name):
    preset = None if name in PASSES else Architecture.preset(name.removeprefix("preset "))
    config = small(name) if preset is None else copy.deepcopy(preset.config)
    if name == "deepseek-v3":  # all layers dense: which experts a token takes depends on numbers
        config.first_k_dense_replace = config.num_hidden_layers
    arch = Architecture.from_config(config)
    parts = size_full_pass(arch, TOKENS, BATCH)
    assert (sum(part.flops for part in parts.values()), numbers_written(arch, parts)) == of_torch(config)
    assert preset or parts["embedding"] == PassPart(0, BATCH * TOKENS * 96)
