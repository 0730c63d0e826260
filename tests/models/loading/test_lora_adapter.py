"""A LoRA adapter's folder; what it is compared with is the base with B A x added by a hook, as PEFT computes it."""

import json

import pytest
import torch
from safetensors.torch import save_file
from transformers import AutoModelForCausalLM

from attnviz.base.message import Problem
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
    matrices, state = {}, {}
    for name, layer in model.named_modules():
        if name.split(".")[-1] in targets:
            shape = layer.weight.shape if isinstance(layer, torch.nn.Linear) else layer.weight.T.shape
            a = torch.randn(RANK, shape[1], generator=generator)
            matrices[name] = a, torch.randn(shape[0], RANK, generator=generator)
            state |= {f"base_model.model.{name}.lora_{each}.weight": matrices[name]["AB".index(each)] for each in "AB"}
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


@pytest.mark.parametrize(
    "settings, sentence",
    [
        (
            {"base_model_name_or_path": "some/base"},
            "^mine is a LoRA adapter for some/base, which is not on this machine$",
        ),
        ({"base_model_name_or_path": None}, "lacks its rank, its alpha or its base$"),
        ({"r": "four"}, r"^The adapter_config.json of mine says r=four; a rank is a whole number from 1 to 65,536$"),
        ({"r": 0}, r"says r=0; a rank is a whole number"),
        ({"r": 10**30}, r"says r=10{30}; a rank is a whole number"),
        ({"lora_alpha": True}, "lacks its rank, its alpha or its base$"),
        ({"r": RANK + 1}, "do not fit .* at rank 5$"),
        ({"peft_type": "PREFIX_TUNING"}, "^mine is an adapter of the kind PREFIX_TUNING; only LoRA is added here$"),
        ({"use_dora": True}, r"^mine is more than LoRA on linear layers \(use_dora=True\)"),
        ({"modules_to_save": ["lm_head"]}, "is more than LoRA on linear layers"),
        ({"alpha_pattern": {"q_proj": 3}}, "is more than LoRA on linear layers"),
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
