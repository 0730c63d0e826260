"""A checkpoint of one's own is read as it is, or refused in one sentence; what it is compared with is transformers."""

import json
import shutil
from functools import partial

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM

from attnviz.base.message import Problem
from attnviz.models.capture import capture
from attnviz.models.loading.load_model import load
from tests.models.tiny import bert, llama
from tests.models.tiny_tokenizers import saved, word_piece

IDS = torch.arange(5, 12)[None]
MAMBA = json.dumps({"model_type": "mamba", "architectures": ["MambaForCausalLM"], "num_hidden_layers": 1})
OWN_CODE = json.dumps({"model_type": "mine", "auto_map": {"AutoModel": "model.Mine"}})


def weights(folder):
    return load_file(folder / "model.safetensors")


def change_config(folder, **changes):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | changes))


def assert_same(model, reference):
    ours, theirs = model.state_dict(), reference.state_dict()
    assert ours.keys() == theirs.keys()
    for name, weight in theirs.items():
        assert torch.equal(ours[name], weight), name


@pytest.mark.parametrize("tied", [False, True])
def test_a_whole_folder_is_read_bit_for_bit_as_transformers_reads_it(tmp_path, tied):
    saved(llama(tie_word_embeddings=tied), tmp_path)
    assert ("lm_head.weight" in weights(tmp_path)) == (not tied), "neither a tied head nor a buffer counts as missing"
    loaded = load(str(tmp_path))
    assert_same(loaded.model, AutoModelForCausalLM.from_pretrained(tmp_path))
    assert loaded.notices == ()


def test_bfloat16_in_several_files_is_read_as_transformers_reads_it_and_a_tensor_in_two_is_refused(tmp_path):
    llama().bfloat16().save_pretrained(tmp_path, max_shard_size="50KB")
    word_piece().save_pretrained(tmp_path)
    first, second, *_ = sorted(tmp_path.glob("model-*.safetensors"))
    assert_same(load(str(tmp_path)).model, AutoModelForCausalLM.from_pretrained(tmp_path, dtype=torch.float32))
    name, weight = next(iter(load_file(first).items()))
    save_file(load_file(second) | {name: weight * 2}, second, metadata={"format": "pt"})
    with pytest.raises(Problem, match="stands in two files"):
        load(str(tmp_path))


@pytest.mark.parametrize("make", [llama, bert])
def test_weights_are_called_trained_from_the_first_step_of_training_on(tmp_path, make):
    model = make()
    saved(model, tmp_path)
    assert load(str(tmp_path)).weights_are == "random"
    ids = torch.arange(12)[None]
    model(input_ids=ids, labels=ids).loss.backward()
    torch.optim.SGD(model.parameters(), lr=0.1).step()
    model.save_pretrained(tmp_path)
    assert load(str(tmp_path)).weights_are == "trained"


def cut(name):
    def spoil(folder):
        data = (folder / name).read_bytes()
        (folder / name).write_bytes(data[: len(data) // 2])

    return spoil


def remove(name):
    return lambda folder: (folder / name).unlink()


def put(name, text):
    return lambda folder: (folder / name).write_text(text)


def ask_for_code(folder):
    """Of an author, who would read the text by it."""
    remove("tokenizer.json")(folder)
    asks = {"auto_map": {"AutoTokenizer": ["tokens.Mine", None]}, "tokenizer_class": "Mine"}
    put("tokenizer_config.json", json.dumps(asks))(folder)
    put("tokens.py", "raise RuntimeError('never to be run')")(folder)


def name_absent_files(folder):
    put("model.safetensors.index.json", '{"weight_map": {"model.norm.weight": "model-1.safetensors"}}')(folder)
    remove("model.safetensors")(folder)


CONFIGS = [
    ({"attn_implementation": "somebody/kernel"}, "names a kernel to download .somebody/kernel."),
    ({"attn_implementation": {"text_config": "somebody/kernel"}}, "names a kernel to download .somebody/kernel."),
    ({"experts_implementation": "somebody/kernel"}, "names a kernel to download .somebody/kernel."),
    ({"vision_config": {"_attn_implementation_internal": "some/one"}}, "names a kernel to download .some/one."),
    ({"audio_config": {"deep": [{"experts_implementation": "some/one"}]}}, "names a kernel to download .some/one."),
    ({"num_hidden_layers": 10_000_000}, "asks for num_hidden_layers=10000000; at most 1024 are built here"),
    ({"text_config": {"num_hidden_layers": 10**12}}, r"asks for text_config\.num_hidden_layers=10{12}; at most"),
    *(
        ({field: 10_000_000}, f"asks for {field}=10000000; at most 1024")
        for field in "num_layers n_layer n_layers encoder_layers decoder_layers depth num_experts".split()  # noqa: SIM905
    ),
    ({"depths": [2, 10_000_000]}, "asks for depths=10000002; at most 1024"),
    ({"num_attention_heads": 0}, "^The config of mine describes no model: "),
    ({"architectures": True}, "^The config of mine cannot be read$"),
    ({"vocab_size": 10**12}, "^mine is too large for this machine: its weights take"),
]


@pytest.mark.parametrize(
    "spoil, sentence",
    [
        (cut("model.safetensors"), "^The file model.safetensors of mine is damaged or incomplete: "),
        (put("model.safetensors", "x" * 1000), "^The file model.safetensors of mine is damaged or incomplete: "),
        (remove("model.safetensors"), "^mine has a config.json and no weights: no model.safetensors beside it$"),
        (name_absent_files, "^Some of the safetensors files that the index of mine names are not there$"),
        (remove("config.json"), "^mine has no config.json with safetensors beside it$"),
        (cut("config.json"), "^The config of mine cannot be read$"),
        (put("config.json", "[" * 200_000), "^The config of mine cannot be read$"),
        (put("config.json", '{"model_type": ["llama"]}'), "^mine is of a kind "),
        (
            put("config.json", '{"model_type": "llama", "hidden_size": "wide"}'),
            "^The config of mine describes no model: ",
        ),
        (
            put("tokenizer_config.json", '{"model_max_length": "far"}'),
            "^The tokenizer of mine cannot be read: model_max",
        ),
        (cut("tokenizer.json"), "^The tokenizer of mine cannot be read: "),
        (
            lambda f: (f / "model.safetensors").rename(f / "pytorch_model.bin"),
            "^mine has its weights only as pickle files",
        ),
        (put("config.json", '{"model_type": "my_own"}'), r"of a kind \(my_own\) that transformers does not support$"),
        (put("config.json", MAMBA), "^mine has no attention layers"),
        (ask_for_code, "^mine reads text only with code of its own, which attnviz never runs$"),
        (put("config.json", OWN_CODE), "^mine runs only with code of its own, which attnviz never runs$"),
        *((partial(change_config, **changes), sentence) for changes, sentence in CONFIGS),
    ],
)
def test_a_broken_folder_says_in_one_sentence_what_is_wrong(mine, spoil, sentence):
    spoil(mine)
    with pytest.raises(Problem, match=sentence) as refused:
        load(str(mine))
    assert "\n" not in str(refused.value)


NAMED = ("flash_attention_2", "paged|flash_attention_2", "flex_attention", 3, {"": "flash_attention_2"})


@pytest.mark.parametrize("kernels", [False, True], ids=["no kernels", "kernels installed"])
@pytest.mark.parametrize("named", NAMED, ids=str)
@pytest.mark.parametrize("field", ["attn_implementation", "_attn_implementation"])
def test_a_config_that_names_an_attention_function_is_read_with_ours_and_fetches_nothing(
    mine, monkeypatch, field, named, kernels
):
    """With the package `kernels`, transformers would take "flash_attention_2" from the hub."""
    from transformers import modeling_utils

    asked = []
    monkeypatch.setattr(modeling_utils, "is_kernels_available", lambda *_version: kernels)
    monkeypatch.setattr(modeling_utils, "lazy_import_flash_attention", lambda *args, **_more: asked.append(args))
    reference = capture(AutoModelForCausalLM.from_pretrained(mine), input_ids=IDS)
    change_config(mine, **{field: named})
    trace = capture(load(str(mine)).model, input_ids=IDS)
    assert asked == []
    assert all(layer.exact for layer in trace.layers)
    torch.testing.assert_close(trace.logits, reference.logits)
    if kernels and (field, named) == ("attn_implementation", "flash_attention_2"):
        AutoModelForCausalLM.from_pretrained(mine)
        assert "kernels-community/" in asked[0][0], "transformers itself would fetch one: this test can fail"


def test_code_beside_weights_that_transformers_can_read_without_it_is_not_run(mine):
    ran = mine / "ran"
    (mine / "own.py").write_text(f"open({str(ran)!r}, 'w')\nraise RuntimeError('never to be run')\n")
    change_config(mine, auto_map={kind: f"own.{kind}" for kind in ("AutoConfig", "AutoModel", "AutoModelForCausalLM")})
    tokenizer = json.loads((mine / "tokenizer_config.json").read_text())
    asks = {"auto_map": {"AutoTokenizer": ["own.Tokens", "own.TokensFast"]}}
    (mine / "tokenizer_config.json").write_text(json.dumps(tokenizer | asks))
    (mine / "custom_generate").mkdir()
    shutil.copy(mine / "own.py", mine / "custom_generate" / "generate.py")
    loaded = load(str(mine))
    assert_same(loaded.model, llama())
    assert loaded.tokenizer("the cat")["input_ids"]
    assert not ran.exists()
