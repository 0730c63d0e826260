"""The lower bounds of pyproject.toml are true, and torch and transformers have no ceiling.

With exactly the lowest versions, and with the newest that can be had, the library does its work.
"""

import json
from importlib.metadata import distributions, version
from pathlib import Path

import pytest

from tests.wheel import environments
from tests.wheel.conftest import Installed
from tests.wheel.test_core_alone import PROGRAM

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(1800),  # gigabytes, the first time
    pytest.mark.skipif(environments.uv() is None, reason="uv, which finds versions, is not installed"),
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


def does_its_work(made: Installed) -> None:
    done = made.run(made.python, "-W", "error::UserWarning:attnviz", "-c", PROGRAM + MODELS)
    assert done.returncode == 0, done.stderr


def test_every_lower_bound_is_met_by_a_version_that_works_and_a_page_has_its_figure(
    wheel: Path, tmp_path: Path
) -> None:
    """Those that are not are told to be raised: a bound that nothing can have has never been tried."""
    (away := tmp_path / "away").mkdir()
    made = Installed(environments.lowest(tmp_path / "venv", wheel, "app"), away)
    (packages,) = (made.python.parents[1] / "lib").glob("python*/site-packages")
    have = {
        each.metadata["Name"].lower().replace("-", "_"): each.version for each in distributions(path=[str(packages)])
    }
    for asked in environments.asked_for(wheel, "app"):
        if asked.name == environments.AS_HERE:
            continue
        (bound,) = (each.version for each in asked.specifier if each.operator == ">=")
        found = have[asked.name.lower().replace("-", "_")]
        assert found == bound or found.startswith(f"{bound}."), f"{asked} is met by {found} at the lowest"
    does_its_work(made)
    files = ["head.html", "sharing.csv"]
    done = made.commands(
        *(["figure", link, "-o", file] for link, file in zip(("/?scaled=false", "sharing"), files, strict=True))
    )
    assert [each.returncode for each in done] == [0, 0], done
    assert len((away / "sharing.csv").read_text().splitlines()) == 7, "32 query heads on 1, 2, 4 to 32 K/V heads"


def test_the_library_on_the_newest_versions(wheel: Path, tmp_path: Path) -> None:
    there = environments.newest_there_are(tmp_path, *NEWEST)
    if there is None:
        pytest.skip("the newest versions are not installed here: no index could be asked for them")
    (away := tmp_path / "away").mkdir()
    has_it = version("torch").split("+")[0] == there["torch"].split("+")[0]
    made = Installed(environments.newest(tmp_path / "venv", wheel, "models", "notebook", torch_as_here=has_it), away)
    versions = json.loads(made.run(made.python, "-c", VERSIONS).stdout)
    assert [each.split("+")[0] for each in versions] == [there[name].split("+")[0] for name in NEWEST]
    does_its_work(made)
