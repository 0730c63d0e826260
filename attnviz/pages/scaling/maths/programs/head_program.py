"""Section 6 as a program: a trained head at three scales."""

from __future__ import annotations

from attnviz.models.capture import RecordedLayer
from attnviz.pages.scaling.maths import real_head


def of_head(model: str, text: str, layer: RecordedLayer, config: real_head.Config) -> str | None:
    """Prints the variances of q.k and of its dimensions, and spread and entropy at each scale.

    None for a layer that does more to its scores than scale them: the lines would have to do it too.
    """
    if not layer.exact or any(extra is not None for extra in (layer.softcap, layer.sinks, layer.bias)):
        return None
    kv = config.head * layer.n_kv_heads // layer.n_heads
    lines = [
        "import torch",
        "from attnviz.models.capture import capture",
        "from attnviz.models.loading import load",
        "from attnviz.models.tokens import encode",
        "",
        f"loaded = load({model!r})",
        f"tokens = encode(loaded, {text!r})",
        f"layer = capture(loaded.model, **tokens.inputs).layers[{config.layer}]",
        f"q, k = layer.q[0, {config.head}].double(), layer.k[0, {kv}].double()  # (Q, D), (K, D)",
        f"seen = layer.mask.expand(1, layer.n_heads, *layer.mask.shape[2:])[0, {config.head}]",
        "keys = seen.sum(-1)  # that each query may see",
        "by_dimension = (q[:, None] * k)[seen].var(0, correction=0)",
        "total = (q @ k.mT)[seen].var(correction=0).item()",
        'print(f"variance of q.k {total:.4g}; of its dimensions, added up, {by_dimension.sum():.4g}")',
        "",
        "found = {}",
        f'for name, scale in (("raw", 1.0), ("model", layer.scale), ("yours", layer.scale * {config.factor})):',
        "    z = (q @ k.mT) * scale",
        "    p = z.masked_fill(~seen, -torch.inf).softmax(-1)",
        "    entropy = -torch.special.xlogy(p, p).sum(-1)[keys > 1]",
        "    share = (entropy / keys[keys > 1].log()).mean().item()",
        "    found[name] = (share, entropy.mean().item(), z[seen].var(correction=0).item())",
        '    print(name, "%.0f%% as spread as it could be, entropy %.2f nats, logits vary by %.3g"',
        "          % (100 * found[name][0], *found[name][1:]))",
    ]
    return "\n".join(lines)
