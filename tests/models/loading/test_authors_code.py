"""Code that stands beside weights is never run: the model is read without it, or refused and the code named."""

import json
import shutil

import pytest

from attnviz.base.message import Problem
from attnviz.models.loading.load_model import load
from tests.models.loading.test_own_folder import assert_same, change_config
from tests.models.tiny import llama


def test_code_that_an_author_asks_for_is_named_as_that_and_nothing_else(mine):
    (mine / "tokenizer.json").unlink()
    asks = {"auto_map": {"AutoTokenizer": ["tokens.Mine", None]}, "tokenizer_class": "Mine"}
    (mine / "tokenizer_config.json").write_text(json.dumps(asks))
    (mine / "tokens.py").write_text("raise RuntimeError('never to be run')")
    with pytest.raises(Problem) as refused:
        load(str(mine))
    assert str(refused.value) == "mine reads text only with code of its own, which attnviz never runs"
    for path in mine.iterdir():
        if path.name != "model.safetensors":
            path.unlink()
    (mine / "config.json").write_text(json.dumps({"model_type": "mine", "auto_map": {"AutoModel": "model.Mine"}}))
    with pytest.raises(Problem) as refused:
        load(str(mine))
    assert str(refused.value) == "mine runs only with code of its own, which attnviz never runs"


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
