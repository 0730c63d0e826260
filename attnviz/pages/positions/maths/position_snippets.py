"""The numbers of each section again, one short program for each: attention and positions are the package's own."""

from __future__ import annotations

from attnviz.pages.positions.maths import (
    longer_context,
    pair_rotation,
    position_kinds,
    position_scores,
    qk_norm_growth,
    shuffled_words,
    video_axes,
)
from attnviz.runs import changed_rope


def order(config: shuffled_words.Config) -> str:
    """Prints the largest change of any output when the words change places."""
    seed, heads, width = config.seed, shuffled_words.HEADS, shuffled_words.WIDTH
    order = shuffled_words.ordering(config.order, len(config.words), seed).tolist()
    return f"""\
import math
import zlib

import torch
from attnviz.core import masks
from attnviz.core.attention import attend
from attnviz.core.projections import join_heads, split_heads
from attnviz.pages.positions.maths.position_kinds import position
from attnviz.runs.word_vectors import drawn

words, H, M = {list(config.words)!r}, {heads}, {width}
order = {order}
encoding = position({config.kind!r}, M, H, seed={seed})


def attention(x):
    n, at = len(x), torch.arange(len(x))
    q, k, v = (split_heads(encoding.add(x, at) @ w, H) for w in (w_q, w_k, w_v))
    q, k = encoding.rotate(q, at), encoding.rotate(k, at)
    mask = {"masks.causal(n, n)" if config.causal else "None"}
    return join_heads(attend(q, k, v, mask, bias=encoding.bias(at, at)).output)


x = torch.stack([drawn(zlib.crc32(f"{seed}/{{word}}".encode()), M) for word in words]).double()
w_q, w_k, w_v = (drawn(zlib.crc32(f"{seed}/{{name}}".encode()), M, M).double() / math.sqrt(M) for name in "qkv")
moved = (attention(x[order]) - attention(x)[order]).abs().amax(-1)  # of each word
change = moved.max().item()
print(f"largest change of an output: {{change:.3g}}")
"""


def scores(config: position_scores.Config, trained: bool = False) -> str:
    """Prints scores over the distance, and how much they change when all positions are shifted."""
    return f"""\
import math

import torch
{_scores_of(config, trained)}

n, shift = {config.n}, {config.shift}
at = torch.arange(n)
found = scores(at)
for back in sorted({{0, 1, n // 2, n - 1}}):
    print(f"{{back:>4}} back: mean score {{found.diagonal(-back).mean().item():.4f}}")
try:
    shifted = (scores(at + shift) - found).abs().max().item()
    print(f"all positions shifted by {{shift}}: scores change by up to {{shifted:.3g}}")
except IndexError:
    shifted = None
    print(f"position {{n - 1 + shift}} has no learned vector")
"""


def _scores_of(config: position_scores.Config, trained: bool) -> str:
    """The imports and the function `scores(positions)`, (n, n), that the kind of encoding needs."""
    kind, seed, random = config.kind, config.seed, config.content == "random"
    if kind in position_kinds.BIASED:
        made = f"ALiBi({config.heads})"
        module = "attnviz.core.positions import ALiBi"
        if kind == "t5":
            made = f"t5({config.heads}, {seed}, bidirectional={config.bidirectional})"  # its table is random
            module = "attnviz.pages.positions.maths.position_kinds import t5"
        return f"""\
from {module}

encoding = {made}


def scores(positions):
    return encoding.bias(positions, positions)[{config.head}].double()
"""
    if kind in position_kinds.ROTATED:
        vectors = f"drawn({seed}, 2, D).double()" if random else "torch.ones(2, D).double()"
        return f"""\
from attnviz.core.rope import RoPE
from attnviz.runs.word_vectors import drawn

D = {config.width}
rope = RoPE(base={config.base!r}, pairing={kind.removeprefix("rope-")!r})


def scores(positions):
    q, k = (rope.rotate(x.expand(1, len(positions), D), positions)[0] for x in {vectors})
    return q @ k.T / math.sqrt(D)
"""
    projected = f"    w_q, w_k = drawn({seed + 1}, 2, D, D).double() / math.sqrt(D)\n" if random else ""
    return f"""\
{_added(config, trained)}
    D = x.shape[1]
{projected}    return {"(x @ w_q) @ (x @ w_k).T" if random else "x @ x.T"} / math.sqrt(D)
"""


def _added(config: position_scores.Config, trained: bool) -> str:
    """From the imports to the line that makes x (n, D), what an encoding adds to the inputs."""
    table = f"drawn({config.seed}, {position_kinds.LONGEST}, {config.width}).double()"
    modules = drawn = "from attnviz.runs.word_vectors import drawn"
    if config.kind == "sinusoidal":
        return f"""\
from attnviz.core.positions import sinusoidal
{modules}


def scores(positions):
    x = sinusoidal(positions, {config.width}, {config.base!r})"""
    if trained:
        table = f"learned_positions(load({position_kinds.MODEL!r}).model).double()"
        modules = "from attnviz.models.capture import learned_positions\nfrom attnviz.models.loading import load"
        modules += f"\n{drawn}" if config.content == "random" else ""
    return f"""\
{modules}

table = {table}


def scores(positions):
    x = table[positions]"""


def circle(config: pair_rotation.Config) -> str:
    """Prints the pair's part of q.k and the whole of it, with pairs as complex numbers: turning is a multiplication."""
    return f"""\
import torch

D, base, pair, m, n = {config.width}, {config.base!r}, {config.pair}, {config.q_at}, {config.k_at}
q, k = torch.randn(2, D, generator=torch.Generator().manual_seed({config.seed})).double()
q, k = (torch.view_as_complex(x.reshape(-1, 2)) for x in (q, k))  # each pair is one complex number
theta = base ** -(torch.arange(0, D, 2, dtype=torch.float64) / D)

q_m, k_n = (x * torch.polar(torch.ones_like(theta), at * theta) for x, at in ((q, m), (k, n)))
products = (q_m * k_n.conj()).real  # each pair's part of q.k
product, score, unturned = products[pair].item(), products.sum().item(), (q * k.conj()).real.sum().item()
print(f"pair {{pair}} turns by {{theta[pair]:.4g}} rad per position, {{((n - m) * theta[pair]).item():.4g}} rad in all")
print(f"its part of q.k: {{product:.4g}}; all pairs: {{score:.4g}}, and {{unturned:.4g}} before they are turned")
"""


def longer(config: longer_context.Config) -> str:
    """Prints the wavelengths of the fastest and the slowest pair under every scaling, and which angles are new."""
    return f"""\
import math

from attnviz.core.rope import NTK, DynamicNTK, Linear, Llama3, YaRN, frequencies

D, base, L, s = {config.width}, {config.base!r}, {config.length}, {config.factor!r}
target = round(s * L)
scalings = {{
    "none": None,
    "linear": Linear(s),
    "ntk": NTK(s),
    "dynamic": DynamicNTK(s, L, target),  # while a text of the target length is read
    "yarn": YaRN(s, L),
    "llama3": Llama3(s, L),
}}
theta = frequencies(D, base)
scaled = {{name: frequencies(D, base, scaling) for name, scaling in scalings.items()}}
wavelengths = {{name: 2 * math.pi / turns for name, turns in scaled.items()}}
new, slowed = {{}}, {{}}
for name, waves in wavelengths.items():
    further = scaled[name] * target > L * theta * (1 + 1e-9)  # than any angle of training
    new[name] = int((further & (L * theta < 2 * math.pi)).sum())  # a pair that had completed a turn knows them all
    slowed[name] = int((scaled[name] < 0.99 * theta).sum())
    print(f"{{name:>8}}: one turn in {{waves[0]:.4g}} to {{waves[-1]:,.0f}} positions, ", end="")
    print(f"{{new[name]}} pairs at new angles, {{slowed[name]}} slowed")
"""


def video(config: video_axes.Config) -> str:
    """Prints the split of the head, and the scores of the query's patch in its own frame."""
    asked = video_axes.split(config)
    grid = f"torch.cartesian_prod(*(torch.arange(n) for n in ({config.frames}, {config.height}, {config.width})))"
    at = f"torch.tensor({list(config.at)})"
    if config.split == "flat":
        places = f"torch.tensor([{config.height * config.width}, {config.width}, 1])"
        grid, at = f"({grid} * {places}).sum(-1, keepdim=True)", f"({at} * {places}).sum(-1, keepdim=True)"
    return f"""\
import math

import torch

D, base, widths = {config.d_head}, {config.base!r}, {list(asked)}
rotated = [w - w % 2 for w in widths]  # whole pairs only
left = D - sum(rotated)
print(f"rotated: {{rotated}}, left over: {{left}} of {{D}} numbers")

grid = {grid}
query = {at}
score = torch.full((len(grid),), float(left)).double()  # a number that nothing turns adds 1 to q.k of ones
for axis, width in enumerate(rotated):
    theta = base ** -(torch.arange(0, width, 2, dtype=torch.float64) / max(width, 1))
    score += 2 * ((grid[:, axis, None] - query[axis]) * theta).cos().sum(-1)  # and a pair 2 cos(angle)
scores = (score / math.sqrt(D)).reshape({config.frames}, {config.height}, {config.width})
print(scores[{config.at[0]}].numpy().round(3))
"""


def head(model: str, text: str, config: changed_rope.Config) -> str:
    """Prints how much weight moves, the last token's row, and what comes next, as trained and changed."""
    heads = config.head if config.where == "head" else '"all"'
    layers = "rotary.layers" if config.where == "all" else f"{config.layer}"
    base = "None" if config.change == "removed" else repr(config.base)
    return f"""\
import attnviz as av
from attnviz.models.capture import rotary_of
from attnviz.models.tokens import encode

loaded = av.load({model!r})
tokens = encode(loaded, {text!r})
rotary = rotary_of(loaded.model)  # its pairs turn by rotary.turns radians per position
edit = av.Edit({layers}, {heads}, change=rotary.changed({base}))  # undone, and turned anew if there is a base

before = av.capture(loaded.model, **tokens.inputs)
after = av.intervene(loaded.model, edit, **tokens.inputs)
weights = [trace.layers[{config.layer}].weights({config.head})[0, 0] for trace in (before, after)]
moved = (weights[0] - weights[1]).abs().sum(-1) / 2  # of each row
row = moved.argmax().item()
print(f"{{moved.mean():.1%}} of the weight goes to other tokens, most of {{tokens.labels[row]!r}}: {{moved[row]:.1%}}")
for name, w in zip(("as trained", "changed"), weights):
    print(f"{{name}}: {{w.diagonal(-1).mean():.1%}} on the token just before, {{w[:, 0].mean():.1%}} on the first")
for token, one, other in zip(tokens.labels, *(w[row].tolist() for w in weights)):
    print(f"{{token:>12}} {{one:.4f}} {{other:.4f}}")
if before.logits is not None:
    chances = [trace.logits[0].double().softmax(-1) for trace in (before, after)]
    print(f"next token: {{(chances[0] - chances[1]).abs().sum() / 2:.1%}} of the probability moves")
    print([(loaded.tokenizer.decode(each.argmax()), round(each.max().item(), 4)) for each in chances])
"""


def norm(config: qk_norm_growth.Config) -> str:
    """Prints the largest logit and the entropy at the chosen factor, without the norm and with it."""
    return f"""\
from attnviz.pages.positions.maths import qk_norm_growth

found = qk_norm_growth.run(qk_norm_growth.{config!r}).here
for name, (logit, spread) in zip(("without", "with"), found):
    print(f"{{name}} the norm: largest logit {{logit:.4g}}, entropy {{spread:.1%}}")
"""
