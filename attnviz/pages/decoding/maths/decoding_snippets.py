"""Programs to copy that print the page's numbers again."""

from attnviz.core.costs import Machine
from attnviz.core.precision import PLAIN_BITS
from attnviz.pages.decoding.maths import growing_bytes, kept_positions, quantised_cache, token_by_token
from attnviz.pages.decoding.maths.decoders import CORE, CORE_LAYERS
from attnviz.pages.decoding.maths.prefill_and_decode import PassPoint


def steps_program(model: str, config: token_by_token.Config, result: token_by_token.Result) -> str:
    """Program that generates with a cache and checks each step's logits against a pass without one."""
    beginning = _core_prompt(config) if model == CORE else _model_prompt(model, config)
    written = [step.token for step in result.steps if step.token is not None]
    return f"""{beginning}
written = {written}  # what was written above, token by token
cache, new, worst = None, ids, 0.0
with torch.no_grad():
    for token in written:
        cached, cache = with_cache(new, cache)
        anew = without(ids)
        worst = max(worst, (cached - anew).abs().max().item())
        new = torch.tensor([[token]])
        ids = torch.cat([ids, new], 1)
print("tokens processed:", {len(result.prompt.ids)} + len(written) - 1, "with a cache")
print(f"largest difference of a logit: {{worst:.1e}}")
"""


def growing_program(result: growing_bytes.Result, at: int) -> str:
    """Program that prints the bytes of Llama-3.1-8B's cache at `result.tokens[at]` tokens."""
    tokens, bits = result.tokens[at], PLAIN_BITS[result.config.dtype]
    heads = {scheme.name: scheme.kv_heads for scheme in result.models[-1].schemes if scheme.kv_heads}
    return f"""\
import torch

layers, d_head, tokens = 32, 128, {tokens}  # Llama-3.1-8B
bits = {bits.numerator} / {bits.denominator}  # of a number as {result.config.dtype}, scales included
for name, kv_heads in {heads}.items():
    keys = torch.empty(layers, kv_heads, tokens, d_head, device="meta")
    print(f"{{name}}, {{kv_heads}} K/V heads: {{2 * keys.numel() * bits / 8:,.0f}} bytes")  # as many values as keys
latents = torch.empty(layers, tokens, {growing_bytes.LATENT_HEADS} * d_head + d_head // 2, device="meta")
print(f"MLA, one latent and a rotary key: {{latents.numel() * bits / 8:,.0f}} bytes")
"""


def policy_program(
    model: str,
    text: str,
    result: kept_positions.Result,
    kind: str,
    budget: int,
    selected: tuple[int, int] = (0, 0),
) -> str:
    """Program that reads the text under one policy. `selected`: layer and K/V head to print."""
    layer, group = selected
    return f"""\
{_decoder(model)}
from attnviz.core.cache import Eviction
from attnviz.pages.decoding.maths import kept_positions

reading = decoders.read(decoder, {text!r})
logits, visible = kept_positions.decode(reading, Eviction({kind!r}, {budget}, seed={result.config.seed}))
shift = decoders.compare_predictions(reading, logits)
print(f"KL {{shift.kl.mean():.4f}} nats, loss {{shift.loss:.4f}}")
print(f"the likeliest token stays in {{shift.same.mean():.0%}} of rows")
positions = visible[{layer}, {group}]  # of this layer and K/V head: (tokens read under the policy, all tokens)
print("the first token is held in", int(positions[:, 0].sum()), "of", len(positions), "rows")
print("positions that the last token sees:", positions[-1].nonzero()[0].tolist())
"""


def quantised_program(model: str, text: str, result: quantised_cache.Result) -> str:
    """Program that reads the text with the cache rounded to each format of `result`."""
    formats = ", ".join(f"({cache.bits}, {cache.axis!r})" for cache in result.formats)
    return f"""\
{_decoder(model)}
from attnviz.pages.decoding.maths import quantised_cache

reading = decoders.read(decoder, {text!r})
for bits, axis in ({formats},):
    cache = quantised_cache.read_with_rounding(reading, bits, axis)
    shift = cache.shift
    print(f"int{{bits}} by {{axis}}: {{cache.nbytes}} bytes, a logit moves by up to {{shift.largest.mean():.4f}}")
    print(f"    KL {{shift.kl.mean():.3g}}, loss {{shift.loss:.3f}}, same likeliest token {{shift.same.mean():.0%}}")
    print(f"    keys off by {{cache.k_error.mean():.1%}}, values by {{cache.v_error.mean():.1%}}")
"""


def roofline_program(machine: Machine, points: tuple[PassPoint, ...]) -> str:
    """Program that prints the shortest possible time of each pass on `machine`."""
    rows = "".join(f"    ({p.kind!r}, {p.tokens}, {p.flops}, {p.nbytes}),\n" for p in points)
    return f"""\
peak, bandwidth = {machine.peak}, {machine.bandwidth}  # FLOP/s, bytes/s
passes = [  # kind, new tokens, FLOPs, bytes read
{rows}]
for kind, tokens, flops, nbytes in passes:
    computing, reading = flops / peak, nbytes / bandwidth
    bound = "computing" if computing > reading else "reading"
    print(f"{{kind}} of {{tokens}}: {{flops / nbytes:.3g}} FLOPs a byte, {{max(computing, reading):.3g}} s, {{bound}}")
"""


def _decoder(model: str) -> str:
    if model == CORE:
        return "from attnviz.pages.decoding.maths import decoders\n\ndecoder = decoders.CoreDecoder(seed=0)\n"
    return f"""\
from attnviz.models.loading import load
from attnviz.pages.decoding.maths import decoders

decoder = decoders.ModelDecoder(load({model!r}))
"""


def _model_prompt(model: str, config: token_by_token.Config) -> str:
    return f"""\
import torch
from attnviz.models.loading import load
from attnviz.models.tokens import encode

loaded = load({model!r})
ids = encode(loaded, {config.text!r}).inputs["input_ids"]


def with_cache(new, cache):
    out = loaded.model(new, past_key_values=cache, use_cache=True, logits_to_keep=1)
    return out.logits[0, -1], out.past_key_values


def without(ids):
    return loaded.model(ids, use_cache=False, logits_to_keep=1).logits[0, -1]

"""


def _core_prompt(config: token_by_token.Config) -> str:
    return f"""\
import torch
from attnviz.core.decoder import ByteDecoder
from attnviz.core.heads import HeadLayout

model = ByteDecoder(HeadLayout(64, 4, 2), n_layers={CORE_LAYERS}, seed=0).eval()
ids = torch.tensor([list({config.text!r}.encode())])


def with_cache(new, cache):
    cache = cache or model.caches()
    return model(new, cache)[0, -1], cache


def without(ids):
    return model(ids)[0, -1]

"""
