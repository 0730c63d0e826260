"""The page's numbers again, one short program for each section, that needs PyTorch only."""

from __future__ import annotations

from attnviz.pages.compare.maths import counted_costs, heads_as_kernel, layer_costs, layer_timing, reach_training

_QUOTED = """\
n, d, k, r, heads = {n}, {d}, {k}, {window}, {heads}
operations = {{
    "attention": n * n * d,
    "window": r * n * d,
    "linear": n * d * d // heads,
    "rnn": n * d * d,
    "conv": k * n * d * d,
}}
for name, count in operations.items():
    print(f"{{name:10}} {{count:,}}")
print("attention costs as much as a recurrence at n =", d, "and as a convolution at n =", k * d)
"""

_COUNTED = """\
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.flop_counter import FlopCounterMode

n, d, k, heads = {n}, {d}, {k}, {heads}
steps = min(n, {steps})  # a recurrence costs the same at every step, so a few are enough

with torch.device("meta"):  # shapes without memory: nothing is computed
    x, short = torch.empty(1, n, d), torch.empty(1, steps, d)
    attention = nn.MultiheadAttention(d, heads, batch_first=True)
    conv = nn.Conv1d(d, d, k)
    rnn, lstm, gru = (cell(d, d, batch_first=True) for cell in (nn.RNN, nn.LSTM, nn.GRU))


def count(run):
    with FlopCounterMode(display=False) as counter:
        run()
    return counter.get_total_flops()


flops = {{
    "attention": count(lambda: attention(x, x, x)),
    "conv": count(lambda: conv(F.pad(x.mT, (k - 1, 0)))),
    "rnn": count(lambda: rnn(short)) * n // steps,
    "lstm": count(lambda: lstm(short)) * n // steps,
    "gru": count(lambda: gru(short)) * n // steps,
}}
for name, number in flops.items():
    print(f"{{name:10}} {{number:,}} FLOPs")
# attention is 8 n d^2 + 4 n^2 d, an LSTM 16 n d^2, a GRU 12 n d^2
print("attention costs as much as an LSTM at n =", (16 - 8) * d // 4, "and as a GRU at n =", (12 - 8) * d // 4)
"""

_TIMED = """\
import time

import torch
from torch import nn
from torch.nn import functional as F

torch.set_num_threads(1)
d, heads, k = {d}, {heads}, {k}
lengths = [n for n in {lengths} if n <= {longest}]
attention = nn.MultiheadAttention(d, heads, batch_first=True)
lstm, gru, conv = nn.LSTM(d, d, batch_first=True), nn.GRU(d, d, batch_first=True), nn.Conv1d(d, d, k)
packed, out = nn.Linear(d, 3 * d), nn.Linear(d, d)


def linear(x):  # (phi(Q) (phi(K)^T V)) / (phi(Q) sum of phi(K)), phi = elu + 1
    q, k_, v = (part.unflatten(-1, (heads, -1)).transpose(1, 2) for part in packed(x).chunk(3, -1))
    q, k_ = F.elu(q) + 1, F.elu(k_) + 1
    mixed = (q @ (k_.mT @ v)) / (q @ k_.sum(-2).unsqueeze(-1))
    return out(mixed.transpose(1, 2).flatten(2))


layers = {{
    "explicit": (attention, lambda x: attention(x, x, x, need_weights=True, average_attn_weights=False)[0]),
    "fused": (attention, lambda x: attention(x, x, x, need_weights=False)[0]),
    "linear": (nn.ModuleList([packed, out]), linear),
    "lstm": (lstm, lambda x: lstm(x)[0]),
    "gru": (gru, lambda x: gru(x)[0]),
    "conv": (conv, lambda x: conv(F.pad(x.mT, (k - 1, 0)))),
}}


def seconds(module, layer, x):
    best = float("inf")
    for _ in range(5):
        start = time.perf_counter()
{timed}
        best = min(best, time.perf_counter() - start)
    return best


took = {{name: [seconds(*layer, torch.randn(1, n, d)) for n in lengths] for name, layer in layers.items()}}
for name, times in took.items():
    late = [(n, t) for n, t in zip(lengths, times) if n >= lengths[-1] / {span}]
    x, y = (torch.tensor(part, dtype=torch.float64).log() for part in zip(*late))
    exponent = ((x - x.mean()) * (y - y.mean())).sum() / (x - x.mean()).square().sum()
    print(f"{{name:10}} {{times[-1] * 1e3:9.3f}} ms at n = {{lengths[-1]:,}}, grows as n^{{exponent:.2f}}")
"""
_FORWARD = """\
        with torch.inference_mode():
            layer(x)"""
_BACKWARD = """\
        torch.autograd.grad(layer(x).square().sum(), tuple(module.parameters()))"""

_REACH = """\
import torch
from torch import nn
from torch.nn import functional as F

n, d, heads, k, depth, labels = {n}, {d}, {heads}, {k}, {layers}, {labels}
steps, rate, seed, remember = {steps}, {rate}, {seed}, {remember}


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(d, heads, batch_first=True)

    def forward(self, x):
        return self.attention(x, x, x, need_weights=False)[0]


class Linear(nn.Module):
    def __init__(self):
        super().__init__()
        self.packed, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x):
        q, k_, v = (part.unflatten(-1, (heads, -1)).transpose(1, 2) for part in self.packed(x).chunk(3, -1))
        q, k_ = F.elu(q) + 1, F.elu(k_) + 1
        mixed = (q @ (k_.mT @ v)) / (q @ k_.sum(-2).unsqueeze(-1))
        return self.out(mixed.transpose(1, 2).flatten(2))


class Recurrence(nn.Module):
    def __init__(self, cell):
        super().__init__()
        self.cell = cell(d, d, batch_first=True)

    def forward(self, x):
        return self.cell(x)[0]


class Conv(nn.Module):
    def __init__(self, dilation=1):
        super().__init__()
        self.conv, self.before = nn.Conv1d(d, d, k, dilation=dilation), (k - 1) * dilation

    def forward(self, x):
        return self.conv(F.pad(x.mT, (self.before, 0))).mT


class Model(nn.Module):
    def __init__(self, make):
        super().__init__()
        self.tokens, self.places = nn.Embedding(labels + 1, d), nn.Parameter(0.02 * torch.randn(n, d))
        self.layers = nn.ModuleList(make())
        self.out = nn.Linear(d, labels)

    def last(self, x):
        for i, layer in enumerate(self.layers):
            x = layer(F.relu(x) if i else x)
        return x[:, -1]

    def forward(self, tokens):
        return self.out(self.last(self.tokens(tokens) + self.places))


makes = {{
    "attention": lambda: [Attention()],
    "linear": lambda: [Linear()],
    "lstm": lambda: [Recurrence(nn.LSTM)],
    "gru": lambda: [Recurrence(nn.GRU)],
    "conv": lambda: [Conv() for _ in range(depth)],
    "dilated": lambda: [Conv(k**i) for i in range({reaching})],  # so many see all n
}}


def sequences(count, generator):  # a label, noise, and the question
    tokens = torch.randint(0, labels, (count, n), generator=generator)
    tokens[:, -1] = labels
    return tokens, tokens[:, 0].clone()


def first_gradient(model):  # norm of d last output / d first input, mean over a few sequences
    with torch.no_grad():
        embedded = model.tokens(probes) + model.places
    norms = []
    for x in embedded:
        copies = x.expand(d, n, d).clone().requires_grad_()  # copy i: the gradient of output number i
        (gradient,) = torch.autograd.grad(model.last(copies).diagonal().sum(), copies)
        norms.append(gradient[:, 0].norm().item())
    return sum(norms) / len(norms)


probes, _ = sequences({probes}, torch.Generator().manual_seed(20_000 + seed))
before, after, right = {{}}, {{}}, {{}}
for name, make in makes.items():
    torch.manual_seed(seed)
    model = Model(make)
    if name == "lstm":
        with torch.no_grad():  # gates: input, forget, cell, output
            model.layers[0].cell.bias_ih_l0[d : 2 * d] += remember
    before[name] = first_gradient(model)
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    data, history = torch.Generator().manual_seed(10_000 + seed), []
    for _ in range(steps):
        tokens, wanted = sequences({sequences}, data)
        logits = model(tokens)
        optimizer.zero_grad()
        F.cross_entropy(logits, wanted).backward()
        optimizer.step()
        history.append((logits.argmax(-1) == wanted).float().mean().item())
    after[name], last = first_gradient(model), history[-{last}:]
    right[name] = sum(last) / len(last) if last else float("nan")
    print(f"{{name:10}} gradient at the first token {{before[name]:.3g}}, then {{after[name]:.3g}}")
    print(f"{{name:10}} {{right[name]:.1%}} right")
"""

_SHARED = """\
import torch
from torch import nn

n, d, k, heads = {n}, {d}, {k}, {heads}
with torch.device("meta"):
    layers = {{
        "attention": nn.MultiheadAttention(d, heads),
        "lstm": nn.LSTM(d, d),
        "gru": nn.GRU(d, d),
        "conv": nn.Conv1d(d, d, k),
        "dense": nn.Linear(n * d, n * d) if n * d <= 1 << 26 else None,
    }}
parameters = {{name: sum(p.numel() for p in layer.parameters()) for name, layer in layers.items() if layer}}
for name, count in parameters.items():
    print(f"{{name:10}} {{count:,}} parameters")

# one head averages places: the table of a random convolution, places x numbers, and its singular values
places, width = {places}, {kernel_width}
generator = torch.Generator().manual_seed({seed})
table = torch.randn(places, width, width, generator=generator, dtype=torch.float64).flatten(1)
squares = torch.linalg.svdvals(table).square()
missed = [((squares[h:].sum() / squares.sum()) ** 0.5).item() for h in range(1, places + 1)]
average = ((table - table.mean(0)).square().sum() / table.square().sum()).sqrt().item()
print("missed by the average of all places:", f"{{average:.1%}}")
print("missed by 1, 2, ... heads:", [f"{{each:.1%}}" for each in missed])
"""


def costs(config: layer_costs.Config) -> str:
    """Prints the operations of each layer: torch's count, or the quoted table's leading terms."""
    sizes = {"n": config.n, "d": config.d, "k": config.k, "heads": config.heads, "window": config.window}
    if config.counting == "table":
        return _QUOTED.format(**sizes)
    return _COUNTED.format(**sizes, steps=counted_costs.MOST_STEPS)


def timing(config: layer_timing.Config) -> str:
    """Prints the time of each layer at the longest sequence, and the exponent."""
    longest = min(config.longest, 4096)  # the weights of longer ones take gigabytes
    return _TIMED.format(
        d=config.d,
        heads=config.heads,
        k=config.k,
        lengths=list(layer_timing.LENGTHS),
        longest=longest,
        span=layer_timing.FITTED_SPAN,
        timed=_BACKWARD if config.training else _FORWARD,
    )


def reach(config: reach_training.Config) -> str:
    """Prints the gradient at the first token before and after training, and the share of labels right."""
    return _REACH.format(
        **{name: getattr(config, name) for name in ("n", "d", "heads", "k", "layers", "steps", "rate", "seed")},
        remember=config.remember,
        labels=reach_training.LABELS,
        reaching=reach_training.layers_of("dilated", config),
        probes=reach_training.PROBES,
        sequences=reach_training.SEQUENCES,
        last=reach_training.LAST,
    )


def shared(config: layer_costs.Config, kernel: heads_as_kernel.Config) -> str:
    """Prints the parameters of each layer, and what fewer heads than places miss of a convolution."""
    return _SHARED.format(
        n=config.n,
        d=config.d,
        k=config.k,
        heads=config.heads,
        places=kernel.k,
        kernel_width=kernel.d,
        seed=kernel.seed,
    )
