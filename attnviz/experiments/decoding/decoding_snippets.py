"""The page's numbers again, as short programs."""

from __future__ import annotations

from attnviz.experiments.decoding import token_by_token
from attnviz.experiments.decoding.decoders import CORE, CORE_LAYERS


def steps(model: str, config: token_by_token.Config, result: token_by_token.Result) -> str:
    """Generate with a cache, and check each step's logits against a pass without one."""
    prompt = _core_prompt(config) if model == CORE else _model_prompt(model, config)
    written = [step.token for step in result.steps if step.token is not None]
    return f"""{prompt}
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
