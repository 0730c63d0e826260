"""The page's numbers again in a few lines of PyTorch."""

from __future__ import annotations

from attnviz.app.code_snippet import snippet
from attnviz.base.words import _
from attnviz.core.latent import LatentLayout
from attnviz.core.roofline import Machine
from attnviz.models.architecture import Architecture, Deployment
from attnviz.pages.sharing.panels import sharing_programs
from attnviz.pages.sharing.panels.architecture_form import Chosen
from attnviz.runs import downstream
from attnviz.runs.head_sharing import Result
from attnviz.runs.model_run import ModelRun


def sharing(run: ModelRun, result: Result, found: downstream.Result) -> None:
    """Draw the code that pools the recorded keys and values, attends again, and runs the model with them."""
    if found.guesses:
        about = _(
            "Paste this code into a notebook: it prints how much of each head’s attention goes elsewhere, the bytes of "
            "K and V, the change of the layer’s output, and what comes next."
        )
    else:
        about = _(
            "Paste this code into a notebook: it prints how much of each head’s attention goes elsewhere, the bytes of "
            "K and V, and the change of this layer’s output and of the last one’s."
        )
    snippet(sharing_code(run, result, found.scope, bool(found.guesses)), "h-see", about=about)


def counting(arch: Architecture, context: int, batch: int) -> None:
    """Draw the code that counts parameters and cache bytes as tensors on the meta device."""
    about = _("Paste this code into a notebook: it prints the attention parameters and the three sizes of the cache.")
    snippet(sharing_programs.of_count(arch, context, batch), "h-count", about=about)


def sizing(chosen: Chosen, how: Deployment, machine: Machine) -> None:
    """Draw the code that works out what fits and how fast it can be."""
    code = (
        sharing_programs.of_size(chosen.code, chosen.arch, chosen.counts, how, machine)
        if chosen.arch.decodes
        else sharing_programs.of_encoder(chosen.counts, how, machine)
    )
    snippet(code, "h-size")


def proving(chosen: Chosen, tokens: int, batch: int) -> None:
    """Draw the code that builds the model without memory; what is timed here has other numbers every time."""
    about = _("Paste this code into a notebook: it prints the numbers by formula and as measured.")
    snippet(sharing_programs.of_proof(chosen.code, chosen.total, tokens, batch), "h-prove", about=about)


def latents(arch: Architecture, latent: LatentLayout, context: int) -> None:
    """Draw the code that works out the forms of MLA from its widths."""
    snippet(sharing_programs.of_latents(arch.name, latent, len(arch.layers), context), "h-latent")


def published() -> None:
    """Draw the code that works out what others print."""
    about = _("Paste this code into a notebook: it prints the table of published numbers.")
    snippet(sharing_programs.of_published(), "h-published", about=about)


def sharing_code(run: ModelRun, result: Result, scope: downstream.Scope, predicts: bool) -> str:
    """The code for `sharing`; `predicts` says whether the model predicts a next token."""
    config = result.config
    pool = {
        "mean": "t.unflatten(1, (G, -1)).mean(2)",
        "first": "t.unflatten(1, (G, -1))[:, :, 0]",
        "random": "torch.randn(1, G, *t.shape[2:], generator=torch.Generator().manual_seed(seed)) * t.std()",
    }[config.method]
    if config.n_kv_heads > result.trained_kv_heads:
        pool = "t.repeat_interleave(G // t.shape[1], 1)"
    return f"""\
import torch
from attnviz.models.capture import Edit, capture, intervene, output_projection_of
from attnviz.models.loading import load
from attnviz.models.tokens import encode

loaded = load({run.request.model!r})
tokens = encode(loaded, {run.request.text!r})
modules = dict(loaded.model.named_modules())
before = capture(loaded.model, **tokens.inputs)
layer = before.layers[{config.layer}]
G = {config.n_kv_heads}  # K/V heads; the layer was trained with {result.trained_kv_heads}


def pooled(t, seed):
    return t if G == t.shape[1] else {pool}


def output(of, weights, v):  # what a layer adds to the sentence, (1, Q, M)
    heads = weights @ v.repeat_interleave(of.n_heads // v.shape[1], 1)
    module, around = modules[of.name], modules[of.name.rpartition(".")[0]]
    w_o = output_projection_of(module, around, of.n_heads * v.shape[-1])
    return heads.transpose(1, 2).flatten(2) @ w_o.float().T


q, k, v = layer.q, pooled(layer.k, {config.seed}), pooled(layer.v, {config.seed + 1})
scores = (q.unflatten(1, (G, -1)) @ k.unsqueeze(2).mT * layer.scale).flatten(1, 2)  # (B, H, Q, K)
shared = scores.masked_fill(~layer.mask, -torch.inf).softmax(-1)
moved = (shared - layer.weights()).abs().sum(-1) / 2  # how much of each row went elsewhere
chose = (layer.mask.sum(-1) > 1).expand_as(moved)  # rows that had two keys or more
print([round(m, 4) for m in ((moved * chose).sum(-1) / chose.sum(-1))[0].tolist()])
print("K/V bytes at 16 bits:", (k.numel() + v.numel()) * 2)
old, new = output(layer, layer.weights(), layer.v), output(layer, shared, v)
print("change of the layer's output:", ((new - old).norm() / old.norm()).item())


def share(q, k, v):
    return q, pooled(k, {config.seed}), pooled(v, {config.seed + 1})


edit = Edit(layers={config.layer if scope == "layer" else "all"!r}, change=share)
after = intervene(loaded.model, edit, **tokens.inputs)
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
