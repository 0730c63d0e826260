"""The numbers of each section again, as a short program for the state on screen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attnviz.models.capture import RecordedLayer
from attnviz.pages.scaling.maths import growing_width, jacobian, real_head, retrieval_training, saturation, variance

MOST_SCORES = 200  #: for more, the program of section 7 would be mostly a list of numbers


#: a function of the programs of sections 2, 4 and 5; they import `stages`
_WEIGHTS = """\
def weights(q, k, way, parameter):  # raw and scaled by hand, an alternative as the page computes it
    if way in ("raw", "sqrt"):
        return (q @ k.mT * (1.0 if way == "raw" else 1 / math.sqrt(q.shape[-1]))).softmax(-1)
    q, k = q.unsqueeze(-3), k.unsqueeze(-3)  # one head
    return stages(q, k, torch.zeros_like(k[..., :1]), way, parameter).weights.squeeze(-3)
"""


def of_variance(config: variance.Config) -> str:
    """Prints mean, standard deviation and variance, raw and scaled, and the variance at every d_k of the curve."""
    block = variance.per_block(config)
    return f"""\
import math

import torch
from attnviz.pages.scaling.maths.draws import pair

components, strength = {config.distribution!r}, {config.strength}
d_k, pairs, products = {config.d_k}, {config.pairs}, []
g = torch.Generator().manual_seed({config.seed})
for start in range(0, pairs, {block}):
    q, k = pair(components, strength, (min({block}, pairs - start), d_k), g)
    products.append((q * k).sum(-1))
raw = torch.cat(products)
scaled = raw * (1 / math.sqrt(d_k))
for name, x in (("raw", raw.double()), ("scaled", scaled.double())):
    spread = x.var(correction=0).item()
    print(f"{{name}}: mean {{x.mean():.2g}}, deviation {{spread ** 0.5:.4g}}, variance {{spread:.4f}}")
raw_variance = raw.double().var(correction=0).item()
scaled_variance = scaled.double().var(correction=0).item()

g = torch.Generator().manual_seed({config.seed})
q, k = pair(components, strength, ({variance.GRID_PAIRS}, {variance.GRID[-1]}), g)  # the same, cut off at each d_k
running = (q * k).cumsum(-1).double()
grown = {{d: running[:, d - 1].var(correction=0).item() for d in {variance.GRID}}}
for d, found in grown.items():
    print(f"d_k {{d}}: raw {{found:,.2f}}, scaled {{found / d:.2f}}")
"""


def of_saturation(config: growing_width.Config) -> str:
    """Prints the row of section 2, and the medians of its curves at the measured d_k that is nearest."""
    parameters = {"raw": 1.0, "sqrt": 1.0, config.alternative: config.parameter}
    return f"""\
{_row(config, parameters, tuple(parameters))}
for way, parameter in parameters.items():
    bands = saturation.run(saturation.Config({config.n_keys}, {config.seed}, way, parameter), vectors).bands
    medians[way] = {{name: band.middle[at].item() for name, band in bands.items()}}
    means[way] = {{name: bands[name].mean[at].item() for name in ("to_q", "to_k")}}
    print(d, way, {{name: f"{{x:.3g}}" for name, x in medians[way].items()}})
    print(f"  means of the gradients: {{means[way]['to_q']:.2g}}, {{means[way]['to_k']:.2g}}")
"""


def of_gradient(config: growing_width.Config) -> str:
    """Prints the norm, the largest diagonal entry and the eigenvalues of section 3's Jacobians."""
    shown = min(config.n_keys, jacobian.MOST_SHOWN)
    return f"""\
import math

import torch
from attnviz.pages.scaling.maths import growing_width

d_k = {config.d_k}
vectors = growing_width.draw({config.n_keys}, {config.seed})
q, k = vectors.q[0, 0, :1, :d_k], vectors.k[0, 0, :, :d_k]  # one query, all its keys
found = {{}}
for way, scale in (("raw", 1.0), ("scaled", 1 / math.sqrt(d_k))):
    z = ((q @ k.mT) * scale)[0].double()
    J = torch.func.jacrev(lambda z: z.softmax(-1))(z)  # by autograd, n x n
    eigenvalues = torch.linalg.eigvalsh(J).flip(0)
    found[way] = (J.norm().item(), J.diagonal().max().item(), eigenvalues[0].item())
    print(way, "norm %.4f, largest diagonal entry %.4f, largest eigenvalue %.2g" % found[way])
    print("the largest:", eigenvalues[:{shown}].tolist())
print("ratio of the largest eigenvalues", found["scaled"][2] / max(found["raw"][2], 1e-300))
"""


def of_training(config: retrieval_training.Config) -> str:
    """Prints what each way of scaling ends at, and the first gradient of each."""
    labels, width, learned = retrieval_training.LABELS, retrieval_training.WIDTH, config.alternative == "qk-norm"
    return f"""\
import math

import torch
import torch.nn.functional as F
from attnviz.core.measures import entropy
from attnviz.pages.scaling.maths.alternatives import stages

seeds, names, d_k, labels, width = {config.seeds}, {config.names}, {config.d_k}, {labels}, {width}
parameter = {f"torch.full((seeds, 1, 1, 1), {config.parameter}, requires_grad=True)" if learned else config.parameter}


{_WEIGHTS}

def start(seed):
    g = torch.Generator().manual_seed(seed)
    q, k = torch.randn(names, d_k, generator=g), torch.randn(names, d_k, generator=g)
    values = torch.randn(labels, width, generator=g)
    return q, k, values, torch.randn(width, labels, generator=g) / width**0.5


def train(way):
    made = zip(*(start({config.seed} + s) for s in range(seeds)))
    q, k, values, out = learned = [torch.stack(part).requires_grad_() for part in made]
    learned += [parameter] if way == "qk-norm" else []
    optimizer = torch.optim.{"SGD" if config.optimizer == "sgd" else "Adam"}(learned, lr={config.rate})
    data = [torch.Generator().manual_seed(10_000 + {config.seed} + s) for s in range(seeds)]
    history = []
    for _ in range({config.steps}):
        drawn = [torch.randint(0, labels, ({retrieval_training.SEQUENCES}, names), generator=g) for g in data]
        wanted = torch.stack(drawn).movedim(1, 2)  # (seeds, names, sequences)
        v = (F.one_hot(wanted, labels).float() @ values[:, None]).flatten(2)
        p = weights(q, k, way, parameter)  # (seeds, names, names)
        guessed = (p @ v).unflatten(-1, (-1, width)) @ out[:, None]
        each = F.cross_entropy(guessed.flatten(0, 2), wanted.flatten(), reduction="none")
        loss = each.reshape(seeds, -1).mean(-1)
        optimizer.zero_grad()
        loss.sum().backward()
        gradient = (q.grad.square().sum((-1, -2)) + k.grad.square().sum((-1, -2))).sqrt()
        optimizer.step()
        right = (guessed.argmax(-1) == wanted).float().mean((-1, -2))
        history.append(torch.stack([loss.detach(), right, entropy(p.detach()).mean(-1), gradient]))
    return torch.stack(history, -1)  # (4, seeds, steps)


ends, first = {{}}, {{}}
for way in {tuple(dict.fromkeys(("raw", "sqrt", config.alternative)))}:
    history = train(way)
    ends[way] = tuple(history[:3, :, -{retrieval_training.LAST}:].mean((-1, -2)).tolist())  # the last steps
    first[way] = history[3, :, 0].mean().item()
    loss, right, spread = ends[way]
    print(f"{{way}}: {{right:.1%}} right, loss {{loss:.3f}}, entropy {{spread:.2f}}")
    print(f"    first gradient {{first[way]:.2g}}")
"""


def of_alternatives(config: growing_width.Config, parameters: Mapping[str, float]) -> str:
    """Prints the row of section 5, the medians of all alternatives at the nearest d_k, and those over 4,096 keys.

    `parameters`: of every alternative, raw and scaled among them, as last set.
    """
    return f"""\
{_row(config, parameters, ("raw", "sqrt", config.alternative))}
for way, parameter in parameters.items():
    bands = saturation.run(saturation.Config({config.n_keys}, {config.seed}, way, parameter), vectors).bands
    medians[way] = {{name: bands[name].middle[at].item() for name in ("largest", "entropy", "jacobian", "to_q")}}
    print(d, way, {{name: f"{{x:.3g}}" for name, x in medians[way].items()}})

effective = {{}}  # of other queries, over 4,096 keys
for way in ("raw", "sqrt", "log-n", "qk-norm"):
    longer = length.run(length.Config({config.d_k}, {config.seed}, way, parameters[way]))
    effective[way] = longer.effective[-1].item()
    print(f"{{way}}: over 4,096 keys as spread as {{effective[way]:,.0f}}")
"""


def _row(config: growing_width.Config, parameters: Mapping[str, float], shown: tuple[str, ...]) -> str:
    """The beginning of sections 2 and 5: the vectors, the row of one query, and the nearest measured d_k."""
    nearest = min(saturation.GRID, key=lambda d: (max(d, config.d_k) / min(d, config.d_k), d))
    return f"""\
import math

import torch
from attnviz.core.measures import effective_keys, entropy
from attnviz.pages.scaling.maths import growing_width, length, saturation
from attnviz.pages.scaling.maths.alternatives import stages

parameters = {dict(parameters)}
vectors = growing_width.draw({config.n_keys}, {config.seed})  # sets of queries that share keys
q, k = vectors.q[0, 0, :1, :{config.d_k}], vectors.k[0, 0, :, :{config.d_k}]  # one query, all its keys


{_WEIGHTS}

row = {{}}
for way in {shown}:
    p = weights(q, k, way, parameters[way])[0].double()
    row[way] = (p.max().item(), entropy(p).item(), effective_keys(p).item())
    print(way, "largest weight %.6f, entropy %.6f, effective keys %.4f" % row[way])

medians, means, d = {{}}, {{}}, {nearest}  # the measured d_k that is nearest
at = saturation.GRID.index(d)"""


def of_head(model: str, text: str, layer: RecordedLayer, config: real_head.Config) -> str | None:
    """Prints the variances of q.k and of its dimensions, and spread and entropy at each scale.

    None for a layer that does more to its scores than scale them: the page says what, and the program could not.
    """
    if not layer.exact or any(extra is not None for extra in (layer.softcap, layer.sinks, layer.bias)):
        return None
    kv = config.head * layer.n_kv_heads // layer.n_heads
    return f"""\
import attnviz as av
import torch
from attnviz.core.measures import entropy, entropy_share
from attnviz.models.tokens import encode

loaded = av.load({model!r})
layer = av.capture(loaded.model, **encode(loaded, {text!r}).inputs).layers[{config.layer}]
q, k = layer.q[0, {config.head}].double(), layer.k[0, {kv}].double()  # (Q, D), (K, D)
seen = layer.mask.expand(1, layer.n_heads, *layer.mask.shape[2:])[0, {config.head}]
by_dimension = (q[:, None] * k)[seen].var(0, correction=0)
total = (q @ k.mT)[seen].var(correction=0).item()
print(f"variance of q.k {{total:.4g}}; of its dimensions, added up, {{by_dimension.sum():.4g}}")

found = {{}}
for name, scale in (("raw", 1.0), ("model", layer.scale), ("yours", layer.scale * {config.factor})):
    z = (q @ k.mT) * scale
    p = z.masked_fill(~seen, -torch.inf).softmax(-1)
    rows = seen.sum(-1) > 1  # that have a choice
    share, spread = entropy_share(p, seen)[rows].mean().item(), entropy(p)[rows].mean().item()
    found[name] = (share, spread, z[seen].var(correction=0).item())
    print(f"{{name}}: {{share:.0%}} as spread as it could be, entropy {{spread:.2f}} nats, ", end="")
    print(f"logits vary by {{found[name][2]:.3g}}")
"""


def of_softmax(scores: Sequence[float], temperature: float, block: int) -> str | None:
    """Prints the weights and their entropy, where exp overflows, the running sums of blocks, and the two mixtures.

    None for too many scores.
    """
    if len(scores) > MOST_SCORES:
        return None
    return f"""\
import math

import torch
from attnviz.core.measures import entropy as entropy_of
from attnviz.pages.scaling.maths import softmax_numerics as numerics

scores, T = {list(scores)}, float("{temperature!r}")
p = numerics.weights(scores, T)
entropy = entropy_of(torch.tensor(p)).item()
print([f"{{w:.6f}}" for w in p], f"entropy {{entropy:.4f}} of at most {{math.log(len(p)):.4f}} nats")

broken = {{}}  # what must be added to the scores until exp, or its sum, overflows
for each in numerics.attempts(scores):
    broken[each.dtype] = math.inf if each.first_broken is None else each.first_broken
    print(each.dtype, f"exp overflows beyond {{each.overflow_at:.2f}}", f"naive breaks at +{{broken[each.dtype]:g}}")
    print("    naive, and with the maximum subtracted:", each.naive[:3], each.stable[:3])

values = numerics.arc(len(scores))  # on the upper half of a circle
*_, last = numerics.online(scores, values, {block})
output = last.output / last.total  # of online softmax: no block ever saw the whole row
print("block by block", output, "beside", numerics.weights(scores) @ values)

mixes = numerics.mixes(scores, T)
far = math.hypot(*mixes.by_scores)
near, moved = math.hypot(*mixes.by_weights), math.hypot(*(mixes.by_scores_shifted - mixes.by_scores))
print(f"mixed by weights {{near:.2f}} from the centre, by raw scores {{far:.3g}}, moved {{moved:.2f}} by adding 1")
"""
