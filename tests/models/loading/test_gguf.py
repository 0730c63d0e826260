import pytest
import torch
from safetensors.torch import load_file
from torch.testing import assert_close
from transformers import AutoModelForCausalLM, AutoTokenizer

from attnviz.models.loading.gguf import convert
from tests.models import tiny_gguf


@pytest.mark.parametrize("quantised", [True, False])
def test_the_converted_weights_are_those_that_transformers_reads_and_so_is_the_tokenizer(tmp_path, quantised):
    tiny_gguf.write(tmp_path / "tiny.gguf", quantised)
    out, shares = tmp_path / "out", []
    out.mkdir()
    convert(tmp_path / "tiny.gguf", out, lambda share, what: shares.append(share))
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0.0, 1.0)
    theirs = AutoModelForCausalLM.from_pretrained(tmp_path, gguf_file="tiny.gguf")
    ours = AutoModelForCausalLM.from_pretrained(out)
    reference = theirs.state_dict()
    assert {name for name in reference if name != "lm_head.weight"} == set(load_file(out / "model.safetensors"))
    for name, weight in ours.state_dict().items():
        assert torch.equal(weight, reference[name].float())
    ids = torch.arange(12)[None]
    assert_close(ours(ids).logits, theirs(ids).logits)
    tokenizer = AutoTokenizer.from_pretrained(out)
    assert tokenizer.tokenize("<|start|>the  12") == ["<|start|>", "th", "e", "Ġ", "Ġ", "1", "2"]
    assert tokenizer.decode(tokenizer("thé 🙂  12").input_ids) == "thé 🙂  12"
    assert (tokenizer.bos_token, tokenizer.eos_token) == ("<|start|>", "<|end|>")
    assert tokenizer.model_max_length == 128
    assert tokenizer.chat_template
