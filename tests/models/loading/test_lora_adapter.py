"""A LoRA adapter's folder; what it is compared with is the base with B A x added by a hook, as PEFT computes it."""

import json
import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM, GPT2Config, GPT2LMHeadModel

from attnviz.base.message import Problem
from attnviz.models.loading import version
from attnviz.models.loading.load_model import load
from tests.models.tiny import llama
from tests.models.tiny_tokenizers import saved

RANK, ALPHA = 4, 6
TARGETS = ["q_proj", "v_proj", "o_proj"]
IDS = torch.arange(5, 17)[None]


@pytest.fixture
def base(tmp_path):
    return saved(llama(), tmp_path / "base")


def adapter_of(folder, base, model, targets=TARGETS, **settings):
    """A folder as PEFT saves it, and its matrices by layer."""
    generator = torch.Generator().manual_seed(3)
    matrices = {}
    for name, layer in model.named_modules():
        if name.split(".")[-1] in targets:
            shape = layer.weight.shape if isinstance(layer, torch.nn.Linear) else layer.weight.T.shape
            a = torch.randn(RANK, shape[1], generator=generator)
            matrices[name] = a, torch.randn(shape[0], RANK, generator=generator)
    state = {}
    for name, (a, b) in matrices.items():
        state[f"base_model.model.{name}.lora_A.weight"], state[f"base_model.model.{name}.lora_B.weight"] = a, b
    folder.mkdir()
    save_file(state, folder / "adapter_model.safetensors", metadata={"format": "pt"})
    config = {
        "peft_type": "LORA",
        "base_model_name_or_path": str(base),
        "r": RANK,
        "lora_alpha": ALPHA,
        "target_modules": targets,
        "bias": "none",
        "init_lora_weights": True,
        "modules_to_save": None,
        "rank_pattern": {},
        "use_dora": False,
    }
    (folder / "adapter_config.json").write_text(json.dumps(config | settings))
    return matrices


def with_hooks(model, matrices, scale):
    """The base as it is, with what the adapter adds computed beside each layer."""

    def beside(a, b):
        return lambda layer, given, out: out + scale * (given[0] @ a.T) @ b.T

    for name, (a, b) in matrices.items():
        model.get_submodule(name).register_forward_hook(beside(a, b))
    return logits(model)


def logits(model):
    with torch.no_grad():
        return model(IDS).logits


@pytest.mark.parametrize("stabilised", [False, True])
def test_an_adapter_is_its_base_with_the_product_beside_each_layer(tmp_path, base, stabilised):
    matrices = adapter_of(tmp_path / "mine", base, llama(), use_rslora=stabilised)
    loaded = load(str(tmp_path / "mine"))
    plain = AutoModelForCausalLM.from_pretrained(base)
    bare = logits(plain)
    scale = ALPHA / (RANK**0.5 if stabilised else RANK)
    expected = with_hooks(plain, matrices, scale)
    torch.testing.assert_close(logits(loaded.model), expected, atol=1e-3, rtol=1e-4)
    assert (bare - expected).abs().max() > 0.1
    assert loaded.tokenizer is not None
    assert (loaded.entry.name, loaded.entry.layers, loaded.source) == ("mine", 2, "folder")
    assert [str(notice) for notice in loaded.notices] == [  # and nothing of a base that was rounded
        f"The LoRA adapter mine was added to {base}: 6 weight matrices, by {scale:g} B A"
    ]
    assert torch.equal(logits(load(str(base)).model), bare), "the base itself is as it was"


def test_layers_whose_weights_stand_the_other_way_round_are_changed_the_right_way(tmp_path, base):
    torch.manual_seed(0)
    model = GPT2LMHeadModel(GPT2Config(vocab_size=100, n_positions=32, n_embd=32, n_layer=1, n_head=4)).eval()
    saved(model, tmp_path / "gpt2")
    matrices = adapter_of(tmp_path / "mine", tmp_path / "gpt2", model, targets=["c_attn"], fan_in_fan_out=True)
    ours = logits(load(str(tmp_path / "mine")).model)
    torch.testing.assert_close(ours, with_hooks(model, matrices, ALPHA / RANK), atol=1e-3, rtol=1e-4)


def test_an_adapter_on_a_base_of_four_bits_says_that_it_was_trained_on_other_weights(tmp_path, smollm2):
    adapter_of(tmp_path / "mine", "HuggingFaceTB/SmolLM2-135M-Instruct", smollm2.model, targets=["q_proj"])
    loaded = load(str(tmp_path / "mine"))
    added, rounded = map(str, loaded.notices[-2:])
    assert added.startswith(
        "The LoRA adapter mine was added to HuggingFaceTB/SmolLM2-135M-Instruct: 30 weight matrices"
    )
    assert rounded == (
        "The weights of SmolLM2 135M Instruct are rounded to 4 bits here; the adapter was trained on others"
    )


@pytest.mark.parametrize(
    "settings, sentence",
    [
        (
            {"base_model_name_or_path": "some/base"},
            "^mine is a LoRA adapter for some/base, which is not on this machine$",
        ),
        (
            {"base_model_name_or_path": "/no/such"},
            "^mine is a LoRA adapter for /no/such, which is not on this machine$",
        ),
        ({"base_model_name_or_path": None}, "lacks its rank, its alpha or its base$"),
        ({"r": None}, "lacks its rank, its alpha or its base$"),
        ({"r": "four"}, r"^The adapter_config.json of mine says r=four; a rank is a whole number from 1 to 65,536$"),
        ({"r": RANK + 0.5}, r"says r=4.5; a rank is a whole number"),
        ({"r": float(RANK)}, r"says r=4.0; a rank is a whole number"),
        ({"r": True}, r"says r=True; a rank is a whole number"),
        ({"r": 0}, r"says r=0; a rank is a whole number"),
        ({"r": 10**30}, r"says r=10{30}; a rank is a whole number"),
        ({"lora_alpha": True}, "lacks its rank, its alpha or its base$"),
        ({"r": RANK + 1}, "do not fit .* at rank 5$"),
        ({"peft_type": "PREFIX_TUNING"}, "^mine is an adapter of the kind PREFIX_TUNING; only LoRA is added here$"),
        ({"use_dora": True}, r"^mine is more than LoRA on linear layers \(use_dora=True\)"),
        ({"modules_to_save": ["lm_head"]}, "is more than LoRA on linear layers"),
        ({"alpha_pattern": {"q_proj": 3}}, "is more than LoRA on linear layers"),
        ({"bias": "all"}, "is more than LoRA on linear layers"),
        ({"init_lora_weights": "pissa"}, "is more than LoRA on linear layers"),
        (
            {"target_modules": ["q_proj", "k_proj"]},
            r"^mine lacks its matrices for 2 layers .*\.layers\.0\.self_attn\.k_proj$",
        ),
    ],
)
def test_an_adapter_that_cannot_be_added_says_why(tmp_path, base, monkeypatch, settings, sentence):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    adapter_of(tmp_path / "mine", base, llama(), **settings)
    with pytest.raises(Problem, match=sentence):
        load(str(tmp_path / "mine"))


def add_key(key):
    def spoil(folder):
        state = load_file(folder / "adapter_model.safetensors")
        save_file(state | {key: torch.zeros(RANK, 48)}, folder / "adapter_model.safetensors")

    return spoil


@pytest.mark.parametrize(
    "spoil, sentence",
    [
        (lambda f: (f / "adapter_model.safetensors").unlink(), "with no adapter_model.safetensors beside its config$"),
        (lambda f: (f / "adapter_model.safetensors").write_bytes(b"x" * 99), "is damaged or incomplete: "),
        (lambda f: (f / "adapter_config.json").write_text("{"), "^The adapter_config.json of mine cannot be read$"),
        (add_key("base_model.model.model.norm.weight"), "^mine holds base_model.model.model.norm.weight: that is more"),
        (
            add_key("base_model.model.model.layers.7.q_proj.lora_A.weight"),
            "changes model.layers.7.q_proj, which .* not",
        ),
        (
            add_key("base_model.model.model.embed_tokens.lora_A.weight"),
            "changes model.embed_tokens, which is not a linear",
        ),
        (add_key("base_model.model.model.layers.0.mlp.up_proj.lora_A.weight"), "for model.layers.0.mlp.up_proj have"),
    ],
)
def test_a_broken_adapter_is_one_sentence(tmp_path, base, spoil, sentence):
    adapter_of(tmp_path / "mine", base, llama())
    spoil(tmp_path / "mine")
    with pytest.raises(Problem, match=sentence):
        load(str(tmp_path / "mine"))


def test_an_adapter_of_itself_or_beside_a_whole_model_is_refused_and_its_base_makes_another_version(tmp_path, base):
    adapter_of(tmp_path / "other", base, llama())
    before = version(str(tmp_path / "other"))
    assert version(str(tmp_path / "other")) == before
    llama(seed=1).save_pretrained(base)
    assert version(str(tmp_path / "other")) != before
    adapter_of(tmp_path / "mine", tmp_path / "mine", llama())
    with pytest.raises(Problem, match="which is an adapter itself"):
        load(str(tmp_path / "mine"))
    shutil.copytree(base, tmp_path / "mine", dirs_exist_ok=True)
    with pytest.raises(Problem, match="holds a whole model and an adapter"):
        load(str(tmp_path / "mine"))
