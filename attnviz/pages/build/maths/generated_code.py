"""The building page's configuration as code: a module to paste, and torch's own attention calls where they allow it."""

import numpy as np

from attnviz.base.message import Message
from attnviz.core.positions import alibi_slopes
from attnviz.pages.build.maths.attention_by_hand import Result
from attnviz.pages.build.maths.inputs import Config, python_literal, vectors, widths

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

_FED = "print(layer.w2(layer.w1(layer.norm(x + out)).relu()))"


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


def _layers(config: Config) -> list[str]:
    m, bias, wide = config.d_model, config.bias, dict(zip("QKV", widths(config.layout), strict=True))
    axes = {"q": "H*D", "k": "G*D", "v": "G*Dv", "kv": "G*(D+Dv)", "qkv": "(H+G)*D + G*Dv"}
    return [
        *(
            f"self.{name} = nn.Linear({m}, {sum(wide[letter] for letter in parts)}, bias={bias})  # M -> {axes[name]}"
            for name, parts in _projections(config).items()
            if name != "o"
        ),
        f"self.o = nn.Linear({config.n_heads * config.d_value}, {m}, bias={bias})  # H*Dv -> M",
        f"self.norm = nn.LayerNorm({m}, elementwise_affine=False)",
        f"self.w1 = nn.Linear({m}, {config.d_ff})  # M -> F",
        f"self.w2 = nn.Linear({config.d_ff}, {m})  # F -> M",
    ]


def forward(config: Config) -> list[tuple[str, str]]:
    """The lines of `forward`, each with the id of the step that it belongs to."""
    layout, masked = config.layout, config.mask != "none"
    h, g, shared = layout.n_heads, layout.kv_heads, layout.heads_per_kv
    q, k, v = widths(config.layout)
    y = "y" if config.cross else "x"
    apart, all_packed = not config.packed, config.packed and not config.cross
    lines = (
        ("position", config.position == "sinusoidal", "x = x + places(*x.shape[1:])"),
        ("position", config.position == "sinusoidal" and config.cross, "y = y + places(*y.shape[1:])"),
        ("project", apart, "q = self.q(x)  # B, Q, H*D"),
        ("project", apart, f"k = self.k({y})  # B, K, G*D"),
        ("project", apart, f"v = self.v({y})  # B, K, G*Dv"),
        ("project", config.packed and config.cross, "q = self.q(x)"),
        ("project", config.packed and config.cross, f"k, v = self.kv(y).split([{k}, {v}], dim=-1)"),
        ("project", all_packed, f"q, k, v = self.qkv(x).split([{q}, {k}, {v}], dim=-1)"),
        ("split", True, f"q = q.unflatten(-1, ({h}, {layout.qk_width})).transpose(1, 2)  # B, H, Q, D"),
        ("split", True, f"k = k.unflatten(-1, ({g}, {layout.qk_width})).transpose(1, 2)  # B, G, K, D"),
        ("split", True, f"v = v.unflatten(-1, ({g}, {layout.v_width})).transpose(1, 2)  # B, G, K, Dv"),
        ("qk_norm", config.qk_norm, "q = F.rms_norm(q, q.shape[-1:], eps=1e-6)"),
        ("qk_norm", config.qk_norm, "k = F.rms_norm(k, k.shape[-1:], eps=1e-6)"),
        ("rotate", config.position == "rope", "q, k = rotate(q), rotate(k)"),
        ("scores", shared > 1, f"k, v = (t.repeat_interleave({shared}, dim=1) for t in (k, v))  # B, H, K, D"),
        ("scores", True, "scores = q @ k.mT  # B, H, Q, K"),
        ("scale", config.scaled, "scores = scores / q.shape[-1] ** 0.5"),
        *(("bias", True, line) for line in _alibi(config)),
        ("bias", config.position == "alibi", "scores = scores + bias"),
        ("mask", masked, _mask(config)),
        ("mask", masked, "scores = scores.masked_fill(~mask, -torch.inf)"),
        ("softmax", True, "weights = scores.softmax(dim=-1)  # rows sum to 1"),
        ("dropout", config.dropout > 0, f"dropped = F.dropout(weights, {config.dropout:g}, self.training)"),
        ("sum", True, f"out = {'dropped' if config.dropout else 'weights'} @ v  # B, H, Q, Dv"),
        ("merge", True, "out = out.transpose(1, 2).flatten(2)  # B, Q, H*Dv"),
        ("output", True, "out = self.o(out)  # B, Q, M"),
        ("residual", True, "x = x + out"),
        ("norm", True, "x = self.norm(x)"),
        ("ffn", True, "hidden = self.w1(x).relu()  # B, Q, F"),
        ("ffn", True, "return self.w2(hidden), weights"),
    )
    return [(step, line) for step, applies, line in lines if applies]


def _lines(config: Config, *steps: str) -> list[str]:
    return [line for step, line in forward(config) if step in steps]


def _alibi(config: Config) -> list[str]:
    """The lines that make ALiBi's bias; none where there is none."""
    if config.position != "alibi":
        return []
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
    copies = []
    for name, parts in (_projections(config) | {"w1": "1", "w2": "2"}).items():
        for kind, letter in (("weight", "W"), ("bias", "b"))[: 1 + (config.bias or parts in "12")]:
            numbers = np.concatenate([result.weights[f"{letter}_{projection}"] for projection in parts], -1).T
            copies.append(f"    layer.{name}.{kind}.copy_(torch.tensor({python_literal(numbers)}))")
    x, y = (python_literal(side.numpy()) for side in vectors(config))
    lines = [
        f"layer = Attention().{'train' if config.training else 'eval'}()",
        "with torch.no_grad():",
        *copies,
        "",
        f"x = torch.tensor({x})",
        *([f"y = torch.tensor({y})"] if config.cross else []),
        *([f"torch.manual_seed({config.seed})  # dropout draws from here"] if _has_dropout(config) else []),
        f"output, weights = {'layer(x, y)' if config.cross else 'layer(x)'}",
        "print(output, weights, sep='\\n')",
    ]
    return module(config) + "\n\n" + "\n".join(lines) + "\n"


def _has_dropout(config: Config) -> bool:
    return config.training and config.dropout > 0


def _projections(config: Config) -> dict[str, str]:
    """Letters (of Q, K, V, O) by linear layer."""
    if not config.packed:
        return {"q": "Q", "k": "K", "v": "V", "o": "O"}
    return {"q": "Q", "kv": "KV", "o": "O"} if config.cross else {"qkv": "QKV", "o": "O"}


def scaled_dot_product(config: Config) -> str:
    """Source that computes the same with F.scaled_dot_product_attention, to be run after `program`."""
    before = _lines(config, "position", "project", "split", "qk_norm", "rotate")
    mask = {"causal": "is_causal=True", "window": "attn_mask=mask", "padding": "attn_mask=mask.expand(q.shape[-2], -1)"}
    arguments = ["q, k, v", mask.get(config.mask, "")]
    if config.position == "alibi":
        before += _masked_bias(config)
        arguments[1] = "attn_mask=bias"
    elif config.mask in ("window", "padding"):
        before.append(_mask(config))
    arguments += [
        f"dropout_p={config.dropout:g}" if _has_dropout(config) else "",
        "" if config.scaled else "scale=1.0",
        "enable_gqa=True" if config.layout.heads_per_kv > 1 else "",
    ]
    lines = [
        *(line.replace("self.", "layer.") for line in before),
        f"out = F.scaled_dot_product_attention({', '.join(filter(None, arguments))})",
        "out = layer.o(out.transpose(1, 2).flatten(2))",
        _FED,
    ]
    return "\n".join(lines) + "\n"


def _masked_bias(config: Config) -> list[str]:
    """ALiBi's bias as the one mask that torch's calls take."""
    hidden = [_mask(config), "bias = bias.masked_fill(~mask, -torch.inf)"]
    return [*_alibi(config), *(hidden if config.mask != "none" else [])]


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
                "Its heads are always M/H wide; here {h} {h:head|heads} of {d} {h:does|do} not make {m}.",
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
    m, y = config.d_model, "y" if config.cross else "x"
    bias, drops = config.bias, f"dropout={config.dropout:g}"
    mask, prepared = _multihead_mask(config, y)
    lines = [
        f"mha = nn.MultiheadAttention({m}, {config.n_heads}, {drops}, bias={bias}, batch_first=True)",
        f"mha.train({config.training})",
        "with torch.no_grad():  # its weights stand one under the other: W_Q, W_K, W_V",
        *(f"    {line}" for line in _copies(config)),
        *_lines(config, "position"),
        *prepared,
        *([f"torch.manual_seed({config.seed})"] if _has_dropout(config) else []),
        f"out, weights = mha(x, {y}, {y}{mask}, average_attn_weights=False)",
        _FED,
    ]
    return "\n".join(lines) + "\n"


def _copies(config: Config) -> list[str]:
    lines = []
    for kind in ("weight", "bias") if config.bias else ("weight",):
        stacked = ", ".join(f"layer.{name}.{kind}" for name in _projections(config) if name != "o")
        lines += [f"mha.in_proj_{kind}.copy_(torch.cat([{stacked}]))", f"mha.out_proj.{kind}.copy_(layer.o.{kind})"]
    return lines


def _multihead_mask(config: Config, y: str) -> tuple[str, list[str]]:
    """The call's mask argument, and the lines that prepare it. For nn.MultiheadAttention True means hidden."""
    arguments = {"none": "", "padding": ", key_padding_mask=~mask.expand(x.shape[0], -1)"}
    argument, lines = arguments.get(config.mask, ", attn_mask=~mask"), [_mask(config)] if config.mask != "none" else []
    if config.position == "alibi":
        argument, lines = ", attn_mask=bias.repeat(x.shape[0], 1, 1)", _masked_bias(config)
    return argument, [
        line.replace("q.shape[-2]", "x.shape[1]").replace("k.shape[-2]", f"{y}.shape[1]") for line in lines
    ]
