"""torch and transformers have no ceiling: the library does its work with the newest that can be had."""

import json
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.wheel import environments
from tests.wheel.conftest import Installed
from tests.wheel.test_core_alone import PROGRAM

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(1800),  # gigabytes, the first time
    pytest.mark.skipif(environments.uv() is None, reason="uv, which finds the newest versions, is not installed"),
]
NEWEST = ("torch", "transformers")

#: a model of transformers: weights against its own eager ones, a text written under an edit against full passes
MODELS = """
import attnviz as av, torch
from transformers import LlamaConfig, LlamaForCausalLM
shape = dict(hidden_size=48, intermediate_size=64, num_hidden_layers=2, vocab_size=100, initializer_range=0.3)
model = LlamaForCausalLM(LlamaConfig(num_attention_heads=6, num_key_value_heads=2, **shape)).eval()
ids = torch.randint(5, 100, (2, 6))
trace = av.capture(model, ids, logits="all", residual=True)
model.set_attn_implementation("eager")
with torch.no_grad():
    told = model(ids, output_attentions=True)
model.set_attn_implementation("sdpa")
for layer, theirs in zip(trace, told.attentions, strict=True):
    assert torch.allclose(layer.weights(), theirs, atol=1e-5)
assert torch.allclose(trace.logits, told.logits, atol=1e-4)
edits = [av.ablate(0, -1, at=[-1, 7]), av.rescale(1, 2, factor=2)]
how = dict(max_new_tokens=4, do_sample=False, eos_token_id=None, pad_token_id=0)
written = av.intervene(model.generate, edits, ids, logits="all", **how)
whole = av.intervene(
    model, [av.ablate(0, 5, at=[5, 7]), edits[1]], written.inputs["sequences"][:, :-1], logits="all"
)
assert torch.allclose(written.logits, whole.logits[:, 5:], atol=1e-4)
costs = av.cost_of_heads(model, [ids], means=av.mean_outputs(model, [ids]))
assert len(costs.to_dataframe()) == 2 * 6 * 3
costs.plot("silenced").to_json()
assert trace.to_dataframe(0, 1)["weight"].notna().all()
trace.save("trace.safetensors")
assert torch.allclose(av.Trace.load("trace.safetensors")[1].weights(), trace[1].weights(), atol=1e-6)
assert av.show(trace, layer=-1, head=-1).save("head.png").read_bytes().startswith(b"\\x89PNG")
"""
VERSIONS = (
    "import json; from importlib.metadata import version as v; print(json.dumps([v('torch'), v('transformers')]))"
)


def test_core_capture_and_notebook_on_the_newest_versions(wheel: Path, tmp_path: Path) -> None:
    there = environments.newest_there_are(tmp_path, *NEWEST)
    if there is None:
        pytest.skip("the newest versions are not installed here: no index could be asked for them")
    away = tmp_path / "away"
    away.mkdir()
    has_it = version("torch").split("+")[0] == there["torch"].split("+")[0]
    made = Installed(environments.newest(tmp_path / "venv", wheel, "models", "notebook", torch_as_here=has_it), away)
    versions = json.loads(made.run(made.python, "-c", VERSIONS).stdout)
    assert [each.split("+")[0] for each in versions] == [there[name].split("+")[0] for name in NEWEST]
    done = made.run(made.python, "-W", "error::UserWarning:attnviz", "-c", PROGRAM + MODELS)
    assert done.returncode == 0, done.stderr
