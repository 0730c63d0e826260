"""The page's numbers again, as programs: each prints the numbers of its view in the state that it is in."""

from attnviz.analysis import head_sharing
from attnviz.analysis.model_run import ModelRun
from attnviz.core.costs import Machine
from attnviz.models.architecture import CONVENTIONS, Deployment, ParameterCounts


def count_program(arch_source: str, context: int, batch: int) -> str:
    """Program: attention parameters, and the cache by all three conventions. `arch_source` builds the architecture."""
    return f"""\
{_imports(arch_source, "size_full_pass")}

arch = {arch_source}
tokens, batch = {context}, {batch}
encoder = arch.encoder_tokens(tokens)
print("attention parameters:", arch.attention_parameters())
for convention in {CONVENTIONS}:
    cache = arch.kv_cache_bytes(tokens, batch, convention=convention, encoder_tokens=encoder)
    print(f"{{convention}} cache bytes:", cache)
for part, cost in size_full_pass(arch, tokens, batch).items():
    print(f"{{part}}: {{cost.flops}} FLOP, {{cost.activations}} activations")
"""


def size_program(arch_source: str, counts: ParameterCounts, how: Deployment, machine: Machine) -> str:
    """Program: memory, limits and step time of a deployment. `arch_source` builds the architecture."""
    return f"""\
from dataclasses import replace

from attnviz.core.costs import Machine
{_imports(arch_source, "Deployment", "ParameterCounts", "size_deployment")}

arch = {arch_source}
counts = {counts!r}
machine = {machine!r}  # FLOP/s, bytes/s, bytes
how = {how!r}

for convention in {CONVENTIONS}:
    size = size_deployment(arch, counts, replace(how, convention=convention), machine)
    limits = f"longest context: {{size.longest_context}}, largest batch: {{size.largest_batch}}"
    print(f"{{convention}} cache: {{size.cache_bytes}}, {{limits}}")
size = size_deployment(arch, counts, how, machine)
print("weights:", size.weight_bytes, "all of it fits" if size.fits else "this does not fit: no step is made")
print("seconds to compute and to read:", size.step.compute_seconds, size.step.memory_seconds)
print("tokens a second, of each and of all:", size.tokens_per_second, how.batch * size.tokens_per_second)
print("no batch helps from:", size.bandwidth_limit)
"""


def encoder_program(counts: ParameterCounts, how: Deployment, machine: Machine) -> str:
    """Program: an encoder's bytes, which are weights only."""
    return f"""\
from attnviz.core.precision import stored_bytes

weights = stored_bytes({counts.total}, {how.weight_dtype!r}, {how.group})
print("weights:", weights)
print("left:", max(0, {machine.memory} - weights))
"""


def proof_program(arch_source: str, total: int, tokens: int, batch: int) -> str:
    """Program: the formula's bytes beside those of transformers' own code on the meta device."""
    return f"""\
{_imports(arch_source, "measure_on_meta")}

arch = {arch_source}
tokens, batch = {tokens}, {batch}
encoder = arch.encoder_tokens(tokens)
caches = any(layer.cached or layer.fixed for layer in arch.layers)
measured = measure_on_meta(arch.config, tokens if caches else 0, batch, encoder_tokens=encoder)
print("attention parameters:", arch.attention_parameters(), measured.attention_parameters)
print("parameters:", {total}, measured.total_parameters)
if measured.failure is None:
    print("cache bytes:", arch.kv_cache_bytes(tokens, batch, "bfloat16", "transformers", encoder), measured.cache_bytes)
"""


def latents_program(name: str, context: int) -> str:
    """The forms of MLA and what they are compared with."""
    return f"""\
from attnviz.core.costs import count_pairs
from attnviz.models.architecture import Architecture

arch, context = Architecture.preset({name!r}), {context}
latent = arch.layers[0].compressed  # its widths


def flop(form, new):  # of `new` tokens at the end of the context, in one layer
    return latent.flops(new, context, count_pairs(new, context), form).total


numbers = {{form: latent.elements(form) for form in ("expanded", "re-expanded", "absorbed")}}
for form, each in numbers.items():
    print(f"{{form}}: {{each}} numbers a token, FLOP a byte {{float(latent.intensity(form)):.1f}}")
    print(f"    prefill {{flop(form, context)}}, one token {{flop(form, 1)}}")
print("expanding again at every step:", flop("re-expanded", 1) / flop("absorbed", 1))
print("expanded prefill:", flop("expanded", context) / flop("absorbed", context))
heads, wide = latent.n_heads, latent.d_nope
for against in (2 * heads * wide, numbers["expanded"], 2 * 8 * wide, 2 * wide):  # MHA, its own K and V, GQA, MQA
    kept = numbers["absorbed"] / against
    print(f"against {{against}} numbers: MLA keeps {{kept:.1%}}, {{1 / kept:.2f}} times smaller")
print("cache bytes:", arch.kv_cache_bytes(context))
"""


#: every published number beside the one that its architecture gives
def _imports(arch_source: str, *more: str) -> str:
    """The import line for `arch_source` and the program."""
    names = [
        name
        for name in ("Architecture", "CustomShape", "config_from_text")
        if f"{name}(" in arch_source or f"{name}." in arch_source
    ]
    in_order = sorted([*names, *more], key=lambda name: (name[0].islower(), name))  # as import sorters have it
    return f"from attnviz.models.architecture import {', '.join(in_order)}"


def sharing_program(run: ModelRun, result: head_sharing.Result, scope: head_sharing.Scope, predicts: bool) -> str:
    """Pools the recorded keys and values, attends again, and runs the model with them.

    `predicts` says whether the model predicts a next token.
    """
    config = result.config
    pool = {
        "mean": "t.unflatten(1, (G, -1)).mean(2)",
        "first": "t.unflatten(1, (G, -1))[:, :, 0]",
        "random": "torch.randn(1, G, *t.shape[2:], generator=torch.Generator().manual_seed(seed)) * t.std()",
    }[config.method]
    if config.n_kv_heads > result.trained_kv_heads:
        pool = "t.repeat_interleave(G // t.shape[1], 1)"
    return f"""\
import attnviz as av
import torch
from attnviz.models.capture import find_output_projection
from attnviz.models.tokens import encode

loaded = av.load({run.request.model!r})
tokens = encode(loaded, {run.request.text!r})
before = av.capture(loaded.model, **tokens.inputs)
layer = before.layers[{config.layer}]
G = {config.n_kv_heads}  # K/V heads; the layer was trained with {result.trained_kv_heads}


def pooled(t, seed):
    return t if G == t.shape[1] else {pool}


def share(q, k, v):
    return q, pooled(k, {config.seed}), pooled(v, {config.seed + 1})


def output(of, weights, v):  # what a layer adds to the sentence, (1, Q, M)
    modules = dict(loaded.model.named_modules())
    module, around = modules[of.name], modules[of.name.rpartition(".")[0]]
    w_o = find_output_projection(module, around, of.n_heads * v.shape[-1])
    return (weights @ v.repeat_interleave(of.n_heads // v.shape[1], 1)).transpose(1, 2).flatten(2) @ w_o.float().T


q, k, v = share(layer.q, layer.k, layer.v)
scores = (q.unflatten(1, (G, -1)) @ k.unsqueeze(2).mT * layer.scale).flatten(1, 2)  # (B, H, Q, K)
old, new = layer.weights(), scores.masked_fill(~layer.mask, -torch.inf).softmax(-1)
moved = (new - old).abs().sum(-1) / 2  # how much of each row went elsewhere
print([round(m, 4) for m in moved.mean(-1)[0].tolist()])  # of each head: the mean over all rows
print("K/V bytes at 16 bits:", (k.numel() + v.numel()) * 2)
old, new = output(layer, old, layer.v), output(layer, new, v)
print("change of the layer's output:", ((new - old).norm() / old.norm()).item())

edit = av.Edit(layers={config.layer if scope == "layer" else "all"!r}, change=share)
after = av.intervene(loaded.model, edit, **tokens.inputs)
{_GUESS if predicts else _LAST}"""


_GUESS = """\
old, new = (trace.logits[0].double().softmax(-1) for trace in (before, after))
for name, chances in (("trained", old), ("shared", new)):
    print(f"likeliest next token, {name}: {loaded.tokenizer.decode(chances.argmax())!r} {chances.max():.4f}")
print("KL(trained|shared) in nats:", (old * (old / new).log()).sum().item())
"""
_LAST = """\
old, new = (output(last, last.weights(), last.v) for last in (before.layers[-1], after.layers[-1]))
print("change of the last layer's output:", ((new - old).norm() / old.norm()).item())
"""
