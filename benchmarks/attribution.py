"""Why a token: the same five questions asked of attnviz and of TransformerLens in one run, for docs/benchmarks.md.

    python -m benchmarks.attribution

The model is a GPT-2 of random weights, the prompts have 32 tokens. Each program below is run as it stands, once its
library is imported and holds the model; its lines are counted. Times are CPU time on one thread, measured in turns;
memory is how far the process rises above what it held before the call. What is not installed is left out with a word.
"""

import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from transformers import GPT2Config, GPT2LMHeadModel

import attnviz as av
from benchmarks.measuring import machine, peak_extra_bytes, ratio, rounds
from benchmarks.tables import median, ms, size, table
from tests.models.tiny import VOCAB
from tests.notebook.transformer_lens_side import bridge

LAYERS, HEADS, TOKENS, ROUNDS = 6, 8, 32, 5
OURS, LENS, NNSIGHT = "attnviz", "transformer-lens", "nnsight"
#: programs that leave what they found behind, as `found`
ATTRIBUTED = {
    OURS: "found = av.capture(model, ids, residual=True).logit_attribution(7, 11).heads[0]",
    LENS: """
_, cache = lens.run_with_cache(ids)
results = cache.stack_head_results(layer=-1, pos_slice=-1)
found = cache.logit_attrs(results, tokens=7, incorrect_tokens=11, pos_slice=-1).view(layers, heads)
""",
}
EXACT = {
    OURS: """
cells = [av.Cell(layer, head) for layer in range(layers) for head in range(heads)]
found = torch.tensor([effect for _, effect in av.exact_patching(model, ids, other, 7, cells, 11)]).view(layers, heads)
""",
    LENS: """
_, cache = lens.run_with_cache(ids)
def lead(logits):
    return logits[0, -1, 7] - logits[0, -1, 11]
found = patching.get_act_patch_attn_head_out_all_pos(lens, other, cache, lead) - lead(lens(other))
""",
}
LINEARISED = {
    OURS: "found = av.attribution_patching(model, ids, other, 7, 11).by_head",
    LENS: """
_, cache = lens.run_with_cache(ids)
old, slopes = {}, {}
def keep(z, hook):
    old[hook.layer()] = z.detach()
def slope(grad, hook):
    slopes[hook.layer()] = grad.detach()
names = [f"blocks.{n}.attn.hook_z" for n in range(layers)]
with lens.hooks([(name, keep) for name in names], [(name, slope) for name in names]):
    logits = lens(other)[0, -1]
    (logits[7] - logits[11]).backward()
found = torch.stack([(slopes[n] * (cache[name] - old[n])).sum((0, 1, 3)) for n, name in enumerate(names)])
""",
}
ABLATED = {
    OURS: """
means = av.mean_outputs(model, [ids, other])
found = av.intervene(model, av.Edit(1, 2, output=means), ids).logits
""",
    LENS: """
name = "blocks.1.attn.hook_z"
caches = [lens.run_with_cache(each, names_filter=name)[1][name] for each in (ids, other)]
mean = torch.cat(caches, 1)[0, :, 2].mean(0)
def averaged(z, hook):
    z[:, :, 2] = mean
    return z
found = lens.run_with_hooks(ids, fwd_hooks=[(name, averaged)])[:, -1]
""",
}
READ = {
    OURS: "found = av.capture(model, ids, residual=True).logit_lens(7).logits[0, :, 0]",
    LENS: """
_, cache = lens.run_with_cache(ids)
streams = cache.accumulated_resid(layer=-1, incl_mid=False, apply_ln=True, pos_slice=-1)
found = (streams @ lens.W_U + lens.b_U)[:, 0, 7]
""",
}
QUESTIONS = {"what each head adds to a lead": ATTRIBUTED, "every head patched, exactly": EXACT}
QUESTIONS |= {"every head patched, linearised": LINEARISED, "a head's mean in its place": ABLATED, "logit lens": READ}


def answers(question: str, names: Mapping[str, Any]) -> list[dict[str, str]]:
    """A row for each tool that is here, with how far what it found is from what attnviz found."""

    def found(program: str) -> Any:
        exec(program, held := dict(names))
        return held["found"].detach()

    programs = {tool: text for tool, text in QUESTIONS[question].items() if tool == OURS or "lens" in names}
    calls: dict[str, Callable[[], Any]] = {tool: partial(found, text) for tool, text in programs.items()}
    taken, every = rounds(calls, ROUNDS), {tool: call() for tool, call in calls.items()}
    return [
        {
            question: tool,
            "lines": str(len(programs[tool].strip().splitlines())),
            "CPU time": ms(1e3 * median(taken[tool])),
            "x ours": f"{ratio(taken[tool], taken[OURS]):.1f}",
            "peak extra memory": size(peak_extra_bytes(call)),
            "largest difference": f"{float((every[tool] - every[OURS]).abs().max()):.0e}",
        }
        for tool, call in calls.items()
    ]


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(0)
    sizes = {"n_layer": LAYERS, "n_head": HEADS, "n_embd": 64 * HEADS, "n_positions": 64, "vocab_size": VOCAB}
    model = GPT2LMHeadModel(GPT2Config(**sizes, initializer_range=0.1, bos_token_id=0, eos_token_id=0)).eval()
    ids, other = torch.randint(1, VOCAB, (2, 1, TOKENS))
    names: dict[str, Any] = {"av": av, "torch": torch, "model": model, "layers": LAYERS, "heads": HEADS}
    names |= {"ids": ids, "other": other}
    here = [tool for tool in (LENS, NNSIGHT) if find_spec(tool.replace("-", "_"))]
    print(*(f"{tool} {version(tool)}" if tool in here else f"{tool} is not installed here" for tool in (LENS, NNSIGHT)))
    with tempfile.TemporaryDirectory() as folder:
        if LENS in here:
            names["lens"] = bridge(model, Path(folder))
            names["patching"] = import_module("transformer_lens.patching")
        print(machine(), *(table(answers(question, names)) for question in QUESTIONS), sep="\n\n")
