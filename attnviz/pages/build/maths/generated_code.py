"""The building page's configuration as code: a module to paste, and torch's own attention calls where they allow it."""

from __future__ import annotations

import numpy as np

from attnviz.base.message import Message
from attnviz.core.positions import alibi_slopes
from attnviz.pages.build.maths.attention_by_hand import Result
from attnviz.pages.build.maths.inputs import Config, vectors

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
    functions = (_ROTATE if config.position == "rope" else "") + (_PLACES if config.position == "sinusoidal" else "")
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


def _layers(config: Config) -> list[str]:
    m, bias = config.d_model, config.bias
    layout = config.layout
    q, k = layout.n_heads * layout.qk_width, layout.kv_heads * layout.qk_width
    v, o = layout.kv_heads * layout.v_width, layout.n_heads * layout.v_width
    made = {"q": (m, q, "H*D"), "k": (m, k, "G*D"), "v": (m, v, "G*Dv")}
    if config.packed and not config.cross:
        made = {"qkv": (m, q + k + v, "(H+G)*D + G*Dv")}
    elif config.packed:
        made = {"q": made["q"], "kv": (m, k + v, "G*(D+Dv)")}
    lines = [
        f"self.{name} = nn.Linear({into}, {out}, bias={bias})  # M -> {letters}"
        for name, (into, out, letters) in made.items()
    ]
    lines.append(f"self.o = nn.Linear({o}, {m}, bias={bias})  # H*Dv -> M")
    lines.append(f"self.norm = nn.LayerNorm({m}, elementwise_affine=False)")
    return lines


def forward(config: Config) -> list[tuple[str, str]]:
    """The lines of `forward`, each with the id of the step that it belongs to."""
    return [*_queries_keys_values(config), *_attention(config), *_end()]


def _queries_keys_values(config: Config) -> list[tuple[str, str]]:
    """From x (and y) to q, k, v as the scores read them."""
    layout = config.layout
    q, k, v = layout.n_heads * layout.qk_width, layout.kv_heads * layout.qk_width, layout.kv_heads * layout.v_width
    y = "y" if config.cross else "x"
    lines = []
    if config.position == "sinusoidal":
        names = ("x", "y") if config.cross else ("x",)
        lines += [("position", f"{name} = {name} + places(*{name}.shape[1:])") for name in names]
    if config.packed and not config.cross:
        project = [f"q, k, v = self.qkv(x).split([{q}, {k}, {v}], dim=-1)"]
    elif config.packed:
        project = ["q = self.q(x)", f"k, v = self.kv(y).split([{k}, {v}], dim=-1)"]
    else:
        project = ["q = self.q(x)  # B, Q, H*D", f"k = self.k({y})  # B, K, G*D", f"v = self.v({y})  # B, K, G*Dv"]
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
    used = "weights"
    if config.dropout:
        lines.append(("dropout", f"dropped = F.dropout(weights, {config.dropout:g}, self.training)"))
        used = "dropped"
    return [*lines, ("sum", f"out = {used} @ v  # B, H, Q, Dv")]


def _alibi(config: Config) -> list[str]:
    slopes = ", ".join(f"{s:.9g}" for s in alibi_slopes(config.n_heads).tolist())
    return [
        "place = torch.arange(q.shape[-2])",
        f"bias = -torch.tensor([{slopes}])[:, None, None] * (place[:, None] - place).abs()  # H, Q, K",
    ]


def _mask(config: Config) -> str:
    square = "torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool)"
    match config.mask:
        case "causal":
            return f"mask = {square}.tril()  # True: may attend"
        case "window":
            return f"mask = {square}.tril().triu({1 - config.window})  # True: may attend"
    return "mask = torch.arange(k.shape[-2]) < max(1, k.shape[-2] - 1)  # the last key is padding"


def _end() -> list[tuple[str, str]]:
    return [
        ("merge", "out = out.transpose(1, 2).flatten(2)  # B, Q, H*Dv"),
        ("output", "out = self.o(out)  # B, Q, M"),
        ("residual", "x = x + out"),
        ("norm", "return self.norm(x), weights"),
    ]


def numbers(result: Result) -> str:
    """Source that sets the page's weights and vectors; appended to `module`, it prints the page's numbers."""
    config = result.config
    lines = [f"layer = Attention().{'train' if config.training else 'eval'}()", "with torch.no_grad():"]
    for name, parts in _parts(config).items():
        wide = np.concatenate([result.weights[f"W_{p}"] for p in parts], 1)
        lines.append(f"    layer.{name}.weight.copy_(torch.tensor({_literal(wide.T)}))")
        if config.bias:
            row = np.concatenate([result.weights[f"b_{p}"] for p in parts])
            lines.append(f"    layer.{name}.bias.copy_(torch.tensor({_literal(row)}))")
    x, y = vectors(config)
    lines += ["", f"x = torch.tensor({_literal(x.numpy())})"]
    if config.cross:
        lines.append(f"y = torch.tensor({_literal(y.numpy())})")
    if config.dropout and config.training:
        lines.append(f"torch.manual_seed({config.seed})  # dropout draws from here")
    call = "layer(x, y)" if config.cross else "layer(x)"
    return "\n".join([*lines, f"output, weights = {call}", "print(output, weights, sep='\\n')"]) + "\n"


def _parts(config: Config) -> dict[str, str]:
    """Which of Q, K, V, O each linear layer holds."""
    if not config.packed:
        return {"q": "Q", "k": "K", "v": "V", "o": "O"}
    return {"q": "Q", "kv": "KV", "o": "O"} if config.cross else {"qkv": "QKV", "o": "O"}


def _literal(values: np.ndarray) -> str:
    if values.ndim == 0:
        return str(np.float32(values) + np.float32(0))  # shortest text of the same float32; no "-0.0"
    return "[" + ", ".join(_literal(v) for v in values) + "]"


def program(result: Result) -> str:
    """`module` and `numbers` in one program that runs as it is."""
    return module(result.config) + "\n\n" + numbers(result)


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
    layout, why = config.layout, []
    if layout.heads_per_kv > 1:
        why.append(
            Message(
                "It gives each of the {h} query heads keys and values of its own; here they share {g}.",
                {"h": layout.n_heads, "g": layout.kv_heads},
            )
        )
    if layout.n_heads * layout.qk_width != layout.d_model:
        why.append(
            Message(
                "Its heads are always M/H wide; here {h} heads of {d} do not make {m}.",
                {"h": layout.n_heads, "d": layout.qk_width, "m": layout.d_model},
            )
        )
    if layout.v_width != layout.qk_width:
        why.append(
            Message(
                "Its value heads are as wide as its query heads; here they are {dv} and {d}.",
                {"dv": layout.v_width, "d": layout.qk_width},
            )
        )
    if config.position == "rope":
        why.append(Message("It projects and scores in one call, with no place to rotate Q and K in between."))
    if config.qk_norm:
        why.append(Message("It projects and scores in one call, with no place to normalise Q and K in between."))
    if not config.scaled:
        why.append(Message("It always divides by √D; only √D times larger queries would undo that."))
    return tuple(why)


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
    ]
    if config.position == "sinusoidal":
        lines += [f"{name} = {name} + places(*{name}.shape[1:])" for name in (("x", "y") if config.cross else ("x",))]
    mask, prepared = _multihead_mask(config, y)
    lines += prepared
    if config.dropout and config.training:
        lines.append(f"torch.manual_seed({config.seed})")
    lines += [
        f"out, weights = mha(x, {y}, {y}{mask}, average_attn_weights=False)",
        "print(layer.norm(x + out))",
    ]
    return "\n".join(lines) + "\n"


def _copies(config: Config) -> list[str]:
    names = [name for name in _parts(config) if name != "o"]
    kinds = ("weight", "bias") if config.bias else ("weight",)
    lines = []
    for kind in kinds:
        stacked = ", ".join(f"layer.{name}.{kind}" for name in names)
        lines.append(f"mha.in_proj_{kind}.copy_(torch.cat([{stacked}]))")
        lines.append(f"mha.out_proj.{kind}.copy_(layer.o.{kind})")
    return lines


def _multihead_mask(config: Config, y: str) -> tuple[str, list[str]]:
    """The call's mask argument, and the lines that prepare it. For nn.MultiheadAttention True means hidden."""
    lines = []
    shapes = [("q.shape[-2]", "x.shape[1]"), ("k.shape[-2]", f"{y}.shape[1]")]
    if config.position == "alibi":
        lines += _alibi(config)
    if config.mask != "none":
        lines.append(_mask(config))
    for old, new in shapes:
        lines = [line.replace(old, new) for line in lines]
    if config.position == "alibi":
        if config.mask != "none":
            lines.append("bias = bias.masked_fill(~mask, -torch.inf)")
        return ", attn_mask=bias.repeat(x.shape[0], 1, 1)", lines
    if config.mask == "padding":
        return ", key_padding_mask=~mask.expand(x.shape[0], -1)", lines
    return (", attn_mask=~mask" if config.mask != "none" else ""), lines
