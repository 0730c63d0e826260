"""The building page's configuration as code: a module to paste, and torch's own attention calls where they allow it."""

from __future__ import annotations

import numpy as np

from attnviz.base.message import Message
from attnviz.core.positions import alibi_slopes
from attnviz.pages.build.maths.attention_by_hand import Result
from attnviz.pages.build.maths.inputs import Config, literal, vectors

_ROTATE = """
def rotate(x):  # pair (i, i + D/2) turned by place * 10000^(-2i/D)
    half = x.shape[-1] // 2
    angle = torch.arange(x.shape[-2])[:, None] * 10000 ** (-torch.arange(half) / half)
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()], dim=-1)

"""
_PLACES = """
def places(length, width):  # sin, cos, sin, cos, ... of the place at width/2 speeds
    angle = torch.arange(length)[:, None] * 10000 ** (-torch.arange(0, width, 2) / width)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)

"""


def module(config: Config) -> str:
    """Source of a self-contained nn.Module that holds only what this configuration uses."""
    functions = {"rope": _ROTATE, "sinusoidal": _PLACES}.get(config.position, "")
    lines = [
        "class Attention(nn.Module):",
        "    def __init__(self):",
        "        super().__init__()",
        *(f"        {line}" for line in _layers(config)),
        "",
        f"    def forward(self, x{', y' if config.cross else ''}):",
        *(f"        {line}" for _, line in forward(config)),
    ]
    head = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n\n"
    return head + functions + "\n" + "\n".join(lines) + "\n"


def _widths(config: Config) -> tuple[int, int, int]:
    """Columns of Q, K and V, all heads side by side."""
    layout = config.layout
    return layout.n_heads * layout.qk_width, layout.kv_heads * layout.qk_width, layout.kv_heads * layout.v_width


def _layers(config: Config) -> list[str]:
    m, bias = config.d_model, config.bias
    q, k, v = _widths(config)
    made = {"q": (q, "H*D"), "k": (k, "G*D"), "v": (v, "G*Dv")}
    if config.packed and config.cross:
        made = {"q": made["q"], "kv": (k + v, "G*(D+Dv)")}
    elif config.packed:
        made = {"qkv": (q + k + v, "(H+G)*D + G*Dv")}
    return [
        *(f"self.{name} = nn.Linear({m}, {out}, bias={bias})  # M -> {axes}" for name, (out, axes) in made.items()),
        f"self.o = nn.Linear({config.n_heads * config.d_value}, {m}, bias={bias})  # H*Dv -> M",
        f"self.norm = nn.LayerNorm({m}, elementwise_affine=False)",
    ]


def forward(config: Config) -> list[tuple[str, str]]:
    """The lines of `forward`, each with the id of the step that it belongs to."""
    return [
        *_queries_keys_values(config),
        *_attention(config),
        ("merge", "out = out.transpose(1, 2).flatten(2)  # B, Q, H*Dv"),
        ("output", "out = self.o(out)  # B, Q, M"),
        ("residual", "x = x + out"),
        ("norm", "return self.norm(x), weights"),
    ]


def _queries_keys_values(config: Config) -> list[tuple[str, str]]:
    """From x (and y) to q, k, v as the scores read them."""
    layout = config.layout
    q, k, v = _widths(config)
    y = "y" if config.cross else "x"
    project = ["q = self.q(x)  # B, Q, H*D", f"k = self.k({y})  # B, K, G*D", f"v = self.v({y})  # B, K, G*Dv"]
    if config.packed and config.cross:
        project = ["q = self.q(x)", f"k, v = self.kv(y).split([{k}, {v}], dim=-1)"]
    elif config.packed:
        project = [f"q, k, v = self.qkv(x).split([{q}, {k}, {v}], dim=-1)"]
    lines = [("position", line) for line in _placed(config)]
    lines += [("project", line) for line in project]
    lines += [
        ("split", f"q = q.unflatten(-1, ({layout.n_heads}, {layout.qk_width})).transpose(1, 2)  # B, H, Q, D"),
        ("split", f"k = k.unflatten(-1, ({layout.kv_heads}, {layout.qk_width})).transpose(1, 2)  # B, G, K, D"),
        ("split", f"v = v.unflatten(-1, ({layout.kv_heads}, {layout.v_width})).transpose(1, 2)  # B, G, K, Dv"),
    ]
    if config.qk_norm:
        lines += [("qk_norm", f"{name} = F.rms_norm({name}, {name}.shape[-1:], eps=1e-6)") for name in ("q", "k")]
    if config.position == "rope":
        lines.append(("rotate", "q, k = rotate(q), rotate(k)"))
    return lines


def _placed(config: Config) -> list[str]:
    """Where sines and cosines of the place are added to what comes in."""
    if config.position != "sinusoidal":
        return []
    return [f"{name} = {name} + places(*{name}.shape[1:])" for name in ("xy" if config.cross else "x")]


def _attention(config: Config) -> list[tuple[str, str]]:
    lines = []
    if config.layout.heads_per_kv > 1:
        shared = config.layout.heads_per_kv
        lines.append(("scores", f"k, v = (t.repeat_interleave({shared}, dim=1) for t in (k, v))  # B, H, K, D"))
    lines.append(("scores", "scores = q @ k.mT  # B, H, Q, K"))
    if config.scaled:
        lines.append(("scale", "scores = scores / q.shape[-1] ** 0.5"))
    if config.position == "alibi":
        lines += [("bias", line) for line in (*_alibi(config), "scores = scores + bias")]
    if config.mask != "none":
        lines += [("mask", _mask(config)), ("mask", "scores = scores.masked_fill(~mask, -torch.inf)")]
    lines.append(("softmax", "weights = scores.softmax(dim=-1)  # rows sum to 1"))
    if config.dropout:
        lines.append(("dropout", f"dropped = F.dropout(weights, {config.dropout:g}, self.training)"))
    return [*lines, ("sum", f"out = {'dropped' if config.dropout else 'weights'} @ v  # B, H, Q, Dv")]


def _alibi(config: Config) -> list[str]:
    slopes = ", ".join(f"{s:.9g}" for s in alibi_slopes(config.n_heads).tolist())
    return [
        "place = torch.arange(q.shape[-2])",
        f"bias = -torch.tensor([{slopes}])[:, None, None] * (place[:, None] - place).abs()  # H, Q, K",
    ]


def _mask(config: Config) -> str:
    if config.mask == "padding":
        return "mask = torch.arange(k.shape[-2]) < max(1, k.shape[-2] - 1)  # the last key is padding"
    near = f".triu({1 - config.window})" if config.mask == "window" else ""
    return f"mask = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool).tril(){near}  # True: may attend"


def program(result: Result) -> str:
    """`module`, then lines that set the page's weights and vectors and print its numbers: it runs as it is."""
    config = result.config
    lines = [f"layer = Attention().{'train' if config.training else 'eval'}()", "with torch.no_grad():"]
    for name, parts in _parts(config).items():
        wide = np.concatenate([result.weights[f"W_{p}"] for p in parts], 1)
        lines.append(f"    layer.{name}.weight.copy_(torch.tensor({literal(wide.T)}))")
        if config.bias:
            row = np.concatenate([result.weights[f"b_{p}"] for p in parts])
            lines.append(f"    layer.{name}.bias.copy_(torch.tensor({literal(row)}))")
    x, y = vectors(config)
    lines += ["", f"x = torch.tensor({literal(x.numpy())})"]
    if config.cross:
        lines.append(f"y = torch.tensor({literal(y.numpy())})")
    if config.dropout and config.training:
        lines.append(f"torch.manual_seed({config.seed})  # dropout draws from here")
    call = "layer(x, y)" if config.cross else "layer(x)"
    lines += [f"output, weights = {call}", "print(output, weights, sep='\\n')"]
    return module(config) + "\n\n" + "\n".join(lines) + "\n"


def _parts(config: Config) -> dict[str, str]:
    """Which of Q, K, V, O each linear layer holds."""
    if not config.packed:
        return {"q": "Q", "k": "K", "v": "V", "o": "O"}
    return {"q": "Q", "kv": "KV", "o": "O"} if config.cross else {"qkv": "QKV", "o": "O"}


def scaled_dot_product(config: Config) -> str:
    """Source that computes the same with F.scaled_dot_product_attention, to be run after `program`."""
    arguments = ["q, k, v"]
    before = []
    if config.position == "alibi":
        before += _alibi(config)
        if config.mask != "none":
            before += [_mask(config), "bias = bias.masked_fill(~mask, -torch.inf)"]
        arguments.append("attn_mask=bias")
    elif config.mask == "causal":
        arguments.append("is_causal=True")
    elif config.mask != "none":
        before.append(_mask(config))
        arguments.append("attn_mask=mask" if config.mask == "window" else "attn_mask=mask.expand(q.shape[-2], -1)")
    if config.dropout and config.training:
        arguments.append(f"dropout_p={config.dropout:g}")
    if not config.scaled:
        arguments.append("scale=1.0")
    if config.layout.heads_per_kv > 1:
        arguments.append("enable_gqa=True")
    lines = [line.replace("self.", "layer.") for _, line in _queries_keys_values(config)]
    lines += [*before, f"out = F.scaled_dot_product_attention({', '.join(arguments)})"]
    lines += ["out = layer.o(out.transpose(1, 2).flatten(2))", "print(layer.norm(x + out))"]
    return "\n".join(lines) + "\n"


def multihead_refusals(config: Config) -> tuple[Message, ...]:
    """Why nn.MultiheadAttention cannot compute this configuration; empty when it can."""
    layout = config.layout
    obstacles = (
        (
            layout.heads_per_kv > 1,
            Message(
                "It gives each of the {h} query heads keys and values of its own; here they share {g}.",
                {"h": layout.n_heads, "g": layout.kv_heads},
            ),
        ),
        (
            layout.n_heads * layout.qk_width != layout.d_model,
            Message(
                "Its heads are always M/H wide; here {h} heads of {d} do not make {m}.",
                {"h": layout.n_heads, "d": layout.qk_width, "m": layout.d_model},
            ),
        ),
        (
            layout.v_width != layout.qk_width,
            Message(
                "Its value heads are as wide as its query heads; here they are {dv} and {d}.",
                {"dv": layout.v_width, "d": layout.qk_width},
            ),
        ),
        (
            config.position == "rope",
            Message("It projects and scores in one call, with no place to rotate Q and K in between."),
        ),
        (
            config.qk_norm,
            Message("It projects and scores in one call, with no place to normalise Q and K in between."),
        ),
        (not config.scaled, Message("It always divides by √D; only √D times larger queries would undo that.")),
    )
    return tuple(message for applies, message in obstacles if applies)


def multihead(config: Config) -> str | None:
    """Source that computes the same with nn.MultiheadAttention, to be run after `program`; None when it cannot."""
    if multihead_refusals(config):
        return None
    m, h = config.d_model, config.n_heads
    y = "y" if config.cross else "x"
    lines = [
        f"mha = nn.MultiheadAttention({m}, {h}, dropout={config.dropout:g}, bias={config.bias}, batch_first=True)",
        f"mha.train({config.training})",
        "with torch.no_grad():  # its weights stand one under the other: W_Q, W_K, W_V",
        *(f"    {line}" for line in _copies(config)),
        *_placed(config),
    ]
    mask, prepared = _multihead_mask(config, y)
    lines += prepared
    if config.dropout and config.training:
        lines.append(f"torch.manual_seed({config.seed})")
    lines += [f"out, weights = mha(x, {y}, {y}{mask}, average_attn_weights=False)", "print(layer.norm(x + out))"]
    return "\n".join(lines) + "\n"


def _copies(config: Config) -> list[str]:
    lines = []
    for kind in ("weight", "bias") if config.bias else ("weight",):
        stacked = ", ".join(f"layer.{name}.{kind}" for name in _parts(config) if name != "o")
        lines.append(f"mha.in_proj_{kind}.copy_(torch.cat([{stacked}]))")
        lines.append(f"mha.out_proj.{kind}.copy_(layer.o.{kind})")
    return lines


def _multihead_mask(config: Config, y: str) -> tuple[str, list[str]]:
    """The call's mask argument, and the lines that prepare it. For nn.MultiheadAttention True means hidden."""
    masked, alibi = config.mask != "none", config.position == "alibi"
    lines = [*(_alibi(config) if alibi else ()), *([_mask(config)] if masked else ())]
    lines = [line.replace("q.shape[-2]", "x.shape[1]").replace("k.shape[-2]", f"{y}.shape[1]") for line in lines]
    if alibi:
        lines += ["bias = bias.masked_fill(~mask, -torch.inf)"] if masked else []
        return ", attn_mask=bias.repeat(x.shape[0], 1, 1)", lines
    if config.mask == "padding":
        return ", key_padding_mask=~mask.expand(x.shape[0], -1)", lines
    return (", attn_mask=~mask" if masked else ""), lines
