"""The numbers of the sections on rotation again, one program of a few lines for each."""

from __future__ import annotations

from attnviz.pages.positions.maths import longer_context, pair_rotation, qk_norm_growth, video_axes
from attnviz.runs import changed_rope


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

import torch

D, base, L, s = {config.width}, {config.base!r}, {config.length}, {config.factor!r}
target = round(s * L)
i = torch.arange(0, D, 2, dtype=torch.float64)
theta = base ** -(i / D)


def raised(times):  # NTK: another base, so that the slowest pair turns that many times slower
    return (base * times ** (D / (D - 2)) if D > 2 else base) ** -(i / D)


def yarn_kept():  # the share of each pair's own frequency: 1 above 32 turns within L positions, 0 below 1
    low, high = (D * math.log(L / (turns * 2 * math.pi)) / (2 * math.log(base)) for turns in (32, 1))
    low, high = max(math.floor(low), 0), min(math.ceil(high), D - 1)
    return 1 - ((i / 2 - low) / (high - low if high != low else 0.001)).clamp(0, 1)


def mixed(kept):
    return kept * theta + (1 - kept) * theta / s


scaled = {{
    "none": theta,
    "linear": theta / s,
    "ntk": raised(s),
    "dynamic": raised(s * max(target, L) / L - (s - 1)),  # while a text of the target length is read
    "yarn": mixed(yarn_kept()),
    "llama3": mixed(((L * theta / (2 * math.pi) - 1) / (4 - 1)).clamp(0, 1)),
}}
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
from attnviz.models.capture import Edit, capture, intervene, rotary_of
from attnviz.models.loading import load
from attnviz.models.tokens import encode

loaded = load({model!r})
tokens = encode(loaded, {text!r})
rotary = rotary_of(loaded.model)  # its pairs turn by rotary.turns radians per position
edit = Edit({layers}, {heads}, change=rotary.changed({base}))  # undone, and turned anew if there is a base

before = capture(loaded.model, **tokens.inputs)
after = intervene(loaded.model, edit, **tokens.inputs)
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
    d, heads = config.d_head, qk_norm_growth.HEADS
    whole = config.norm == "full"
    return f"""\
import math

import torch

D, H, growth = {d}, {heads}, {config.growth!r}
grid = torch.cartesian_prod(*(torch.arange(n) for n in {qk_norm_growth.GRID}))
x = torch.randn(len(grid), H * D, generator=torch.Generator().manual_seed({config.seed})).double()
g = torch.Generator().manual_seed({config.seed + 1})
w_q, w_k = growth * torch.randn(2, H * D, H * D, generator=g).double() / math.sqrt(H * D)
side = 2 * (D // 6)
widths = (D - 2 * side, side, side)  # of a head, for time, height and width


def turned(x):  # (H, patches, D), neighbours are pairs
    thetas = [10_000.0 ** -(torch.arange(0, w, 2, dtype=torch.float64) / w) for w in widths]
    angles = torch.cat([grid[:, axis, None] * theta for axis, theta in enumerate(thetas)], -1)
    pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(pairs * torch.exp(1j * angles)).flatten(-2)


def heads(x, normed):
    x = x if {whole} else x.unflatten(-1, (H, D))
    x = x * (x.square().mean(-1, keepdim=True) + 1e-6).rsqrt() if normed else x
    return turned(x.reshape(len(grid), H, D).transpose(0, 1))


found = []
for normed in (False, True):
    logits = heads(x @ w_q, normed) @ heads(x @ w_k, normed).mT / math.sqrt(D)
    p = logits.softmax(-1)
    share = -torch.special.xlogy(p, p).sum(-1).mean() / math.log(len(grid))
    found.append((logits.abs().max().item(), share.item()))
    logit, spread = found[-1]
    print(f"{{'with' if normed else 'without'}} the norm: largest logit {{logit:.4g}}, entropy {{spread:.1%}}")
"""
