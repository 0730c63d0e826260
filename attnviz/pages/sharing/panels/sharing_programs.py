"""The programs of the views that count: each prints the numbers of its view in the state that it is in."""

from __future__ import annotations

from collections import Counter

from attnviz.core.latent import LatentLayout
from attnviz.core.roofline import Machine
from attnviz.models.architecture import CONVENTIONS, Architecture, Deployment, Paged, ParameterCounts


def of_count(arch: Architecture, context: int, batch: int) -> str:
    """Attention parameters, and the cache by all three conventions, in 16 bits."""
    counts: Counter[tuple[int, int, int, tuple[tuple[int, int], ...]]] = Counter()
    for layer in arch.layers:
        length = arch.encoder_tokens(context) if layer.role == "cross" else context
        kept = []
        for convention in CONVENTIONS:
            each = layer.cached if layer.held is None or convention != "transformers" else layer.held
            kept.append((each, layer.tokens_kept(length, convention, Paged())))
        counts[layer.parameters.total, layer.fixed, layer.fixed_float32, tuple(kept)] += 1
    rows = "\n".join(
        f"    ({n}, {total}, {fixed}, {fixed32}, {dict(zip(CONVENTIONS, kept, strict=True))}),"
        for (total, fixed, fixed32, kept), n in counts.items()
    )
    return f"""\
import torch

# {arch.name}: how many layers are alike, attention parameters of one, numbers that it keeps whatever the length
# (16 bit, 32 bit), and by each convention: numbers a token leaves in its cache, tokens kept of {context:,}
layers = [
{rows}
]


def nbytes(numbers, dtype):
    return torch.empty(numbers, dtype=dtype, device="meta").nbytes


print("attention parameters:", sum(n * count for n, count, *_ in layers))
for convention in {CONVENTIONS}:
    cache = {batch} * sum(
        n * (nbytes(kept[convention][0] * kept[convention][1] + fixed, torch.bfloat16) + nbytes(fixed32, torch.float32))
        for n, _, fixed, fixed32, kept in layers
    )
    print(f"{{convention}} cache bytes:", cache)
"""


def of_size(made: str, arch: Architecture, counts: ParameterCounts, how: Deployment, machine: Machine) -> str:
    """What a deployment needs, how far it goes, and how fast a step can be; `made` is code that makes `arch`."""
    read = counts.active if how.batch == 1 else counts.read
    return f"""\
from bisect import bisect_left

{_imports(made, "Paged")}
from attnviz.core.precision import stored_bytes

arch = {made}
peak, bandwidth, memory = {machine.peak}, {machine.bandwidth}, {machine.memory}  # FLOP/s, bytes/s, bytes
context, batch, heard = {how.context}, {how.batch}, {how.encoder_tokens}  # heard: what an encoder has read
active = {counts.active}  # parameters that one token is multiplied with


def cache(tokens, sequences=1, convention={how.convention!r}):
    paged = Paged(hybrid={how.hybrid})
    return arch.kv_cache_bytes(tokens, sequences, {how.cache_dtype!r}, convention, heard, {how.group}, paged)


def work(tokens):  # FLOP of one decoded token
    attention = arch.decode_flops(tokens, encoder_tokens=heard)
    return 2 * active + attention.scores + attention.values


far = 1 << 30  # farther is called no limit
weights = stored_bytes({counts.total}, {how.weight_dtype!r}, {how.group})
room = memory - weights
print("weights:", weights)
for convention in {CONVENTIONS}:
    longest = bisect_left(range(1, far + 1), True, key=lambda t: cache(t, batch, convention) > room)
    each = cache(context, 1, convention)
    most = max(0, room // each) if each else far * (room >= 0)
    print(f"{{convention}} cache: {{batch * each}}, longest context: {{longest}}, largest batch: {{most}}")
compute = batch * work(context) / peak
reading = (stored_bytes({read}, {how.weight_dtype!r}, {how.group}) + batch * cache(context)) / bandwidth
step = max(compute, reading)
print("seconds to compute and to read:", compute, reading)
print("tokens a second, of each and of all:", 1 / step, batch / step)
limit = 1 + bisect_left(range(1, far + 1), True, key=lambda t: work(t) * bandwidth <= cache(t) * peak)
print("no batch helps from:", limit if limit <= far else None)
"""


def of_encoder(counts: ParameterCounts, how: Deployment, machine: Machine) -> str:
    """An encoder has weights only."""
    return f"""\
from attnviz.core.precision import stored_bytes

weights = stored_bytes({counts.total}, {how.weight_dtype!r}, {how.group})
print("weights:", weights)
print("left:", max(0, {machine.memory} - weights))
"""


def of_proof(made: str, total: int, tokens: int, batch: int) -> str:
    """The formula's numbers beside those of transformers' own code on the meta device."""
    return f"""\
{_imports(made, "measure_on_meta")}

arch = {made}
tokens, batch = {tokens}, {batch}
heard = arch.encoder_tokens(tokens)
caches = any(layer.cached or layer.fixed for layer in arch.layers)
found = measure_on_meta(arch.config, tokens if caches else 0, batch, encoder_tokens=heard)
print("attention parameters:", arch.attention_parameters(), found.attention_parameters)
print("parameters:", {total}, found.total_parameters)
if found.failure is None:
    print("cache bytes:", arch.kv_cache_bytes(tokens, batch, "bfloat16", "transformers", heard), found.cache_bytes)
"""


def of_latents(name: str, latent: LatentLayout, layers: int, context: int) -> str:
    """The forms of MLA and what they are compared with, from the widths alone."""
    return f"""\
# {name}: layers, model width, heads, widths of the query latent, of the latent, of its rotary key, of a head
layers, d_model, heads, q_rank = {layers}, {latent.d_model}, {latent.n_heads}, {latent.q_rank}
rank, rope, nope, value = {latent.kv_rank}, {latent.d_rope}, {latent.d_nope}, {latent.d_value}
context = {context}

q_width = heads * (nope + rope)
w_q = d_model * q_width if q_rank is None else q_rank * (d_model + q_width)
up = rank * heads * (nope + value)  # makes keys and values of all heads from a latent
others = w_q + d_model * (rank + rope) + heads * value * d_model
numbers = {{"expanded": heads * (nope + rope + value), "re-expanded": rank + rope, "absorbed": rank + rope}}
pair = {{"expanded": nope + rope + value, "re-expanded": nope + rope + value, "absorbed": rank + rope + rank}}


def flop(form, new):  # of `new` tokens at the end of the context, in one layer
    times = context if form == "re-expanded" else new
    return 2 * new * others + 2 * times * up + 2 * heads * new * context * pair[form]


for form in numbers:
    print(f"{{form}}: {{numbers[form]}} numbers a token, FLOP a byte {{heads * pair[form] / numbers[form]:.1f}}")
    print(f"    prefill {{flop(form, context)}}, one token {{flop(form, 1)}}")
print("expanding again at every step:", flop("re-expanded", 1) / flop("absorbed", 1))
print("expanded prefill:", flop("expanded", context) / flop("absorbed", context))
for against in (2 * heads * nope, numbers["expanded"], 2 * 8 * nope, 2 * nope):
    kept = numbers["absorbed"] / against
    print(f"against {{against}} numbers: MLA keeps {{kept:.1%}}, {{1 / kept:.2f}} times smaller")
print("cache bytes:", 2 * layers * context * numbers["absorbed"])
"""


def of_published() -> str:
    """Every published number beside the one that its architecture gives."""
    return """\
from attnviz.models.architecture import claims

for claim in claims():
    print(f"{claim.said}: {claim.found:,.4g} {claim.unit}, {claim.verdict}")
"""


def _imports(made: str, *more: str) -> str:
    """The line that imports what `made` and the program need from the architecture."""
    names = {
        name for name in ("Architecture", "CustomShape", "config_from_text") if f"{name}(" in made or f"{name}." in made
    }
    return f"from attnviz.models.architecture import {', '.join(sorted(names | set(more), key=_as_sorted))}"


def _as_sorted(name: str) -> tuple[bool, str]:
    """Classes before functions, as import sorters have it."""
    return name[0].islower(), name
