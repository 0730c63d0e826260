"""Attention by hand: every tensor from a sentence's vectors to the FFN's output, and the steps of that walk."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from attnviz.core import masks
from attnviz.core.attention import Scale, attend, scale_factor
from attnviz.core.modules import Attention, seeded_generator
from attnviz.core.positions import ALiBi, Position, Sinusoidal, sinusoidal
from attnviz.core.projections import join_heads, split_heads
from attnviz.core.rope import RoPE
from attnviz.pages.build.maths.inputs import Config, check, vectors, weights

NORM_EPS = 1e-6  #: added to the mean square in QK norm, so that a row of zeros can be divided
LAYER_NORM_EPS = 1e-5  #: the same in the layer norm after the residual


@dataclass(frozen=True)
class Result:
    """Every tensor by name (axes in AXES), the weights, and the words on the query and key sides.

    `difference` is the largest distance between "output" and what `attnviz.core.modules.Attention`
    gives with the same weights; None when dropout is active, because each pass drops other weights.
    """

    config: Config
    tensors: dict[str, np.ndarray]
    weights: dict[str, np.ndarray]
    q_words: tuple[tuple[str, ...], ...]  #: (B, Q)
    k_words: tuple[tuple[str, ...], ...]  #: (B, K)
    difference: float | None


#: The axes of each tensor. HD is H*D, GD is G*D, GV is G*Dv, HV is H*Dv, C is the packed width, F the FFN's.
AXES: dict[str, tuple[str, ...]] = {
    "E": ("B", "Q", "M"),
    "P": ("Q", "M"),
    "X": ("B", "Q", "M"),
    "E_kv": ("B", "K", "M"),
    "P_kv": ("K", "M"),
    "Y": ("B", "K", "M"),
    "packed": ("B", "K", "C"),
    "Q_flat": ("B", "Q", "HD"),
    "K_flat": ("B", "K", "GD"),
    "V_flat": ("B", "K", "GV"),
    "Q": ("B", "H", "Q", "D"),
    "K": ("B", "G", "K", "D"),
    "V": ("B", "G", "K", "Dv"),
    "Q_norm": ("B", "H", "Q", "D"),
    "K_norm": ("B", "G", "K", "D"),
    "angles": ("Q", "D"),
    "Q_turned": ("B", "H", "Q", "D"),
    "K_turned": ("B", "G", "K", "D"),
    "scores": ("B", "H", "Q", "K"),
    "scaled": ("B", "H", "Q", "K"),
    "bias": ("H", "Q", "K"),
    "biased": ("B", "H", "Q", "K"),
    "mask": ("Q", "K"),
    "masked": ("B", "H", "Q", "K"),
    "weights": ("B", "H", "Q", "K"),
    "kept": ("B", "H", "Q", "K"),
    "dropped": ("B", "H", "Q", "K"),
    "heads": ("B", "H", "Q", "Dv"),
    "merged": ("B", "Q", "HV"),
    "output": ("B", "Q", "M"),
    "residual": ("B", "Q", "M"),
    "normed": ("B", "Q", "M"),
    "hidden": ("B", "Q", "F"),
    "active": ("B", "Q", "F"),
    "fed": ("B", "Q", "M"),
}


Chain = tuple[tuple[str, ...] | str, ...]  #: how a step changes the axes: axes before, verb, axes after, verb, ...


def steps(config: Config) -> dict[str, Chain]:
    """The steps of this configuration by id, in order, each with how it changes the axes."""
    x, q, square, side_by_side = AXES["X"], AXES["Q"], AXES["scores"], AXES["Q_flat"]
    all_steps: dict[str, Chain] = {
        "embed": (("B", "Q"), "lookup", x),
        "position": (x, "+", x),
        "project": (x, "linear", ("B", "Q", "C") if config.packed and not config.cross else side_by_side),
        "split": (side_by_side, "view", ("B", "Q", "H", "D"), "transpose", q),
        "qk_norm": (q, "rms_norm", q),
        "rotate": (q, "rotate", q),
        "scores": (q, "@", ("B", "G", "D", "K"), "→", square),
        "scale": (square, "/ √D", square),
        "bias": (square, "+", AXES["bias"], "→", square),
        "mask": (square, "masked_fill", square),
        "softmax": (square, "softmax", square),
        "dropout": (square, "dropout", square),
        "sum": (square, "@", AXES["V"], "→", AXES["heads"]),
        "merge": (AXES["heads"], "transpose", ("B", "Q", "H", "Dv"), "flatten", AXES["merged"]),
        "output": (AXES["merged"], "linear", AXES["output"]),
        "residual": (x, "+", AXES["output"]),
        "norm": (x, "layer_norm", x),
        "ffn": (x, "linear", AXES["hidden"], "relu", AXES["active"], "linear", AXES["fed"]),
    }
    switched_on = {
        "position": config.position == "sinusoidal",
        "qk_norm": config.qk_norm,
        "rotate": config.position == "rope",
        "bias": config.position == "alibi",
        "mask": config.mask != "none",
        "dropout": config.dropout > 0,
    }
    return {step: chain for step, chain in all_steps.items() if switched_on.get(step, True)}


#: part of a step -> axis letters of the query side, and the letters that replace them in this part
_SIDES = {
    "k": {"Q": "K", "H": "G", "HD": "GD"},
    "v": {"Q": "K", "H": "G", "HD": "GV", "D": "Dv"},
    "qkv": {"HD": "C", "K": "Q"},
    "kv": {"Q": "K", "HD": "C"},
    "y": {"Q": "K"},
}


def axis_changes(tensor_id: str, chain: Chain) -> Chain:
    """The axes chain of a step for one tensor, such as the keys' projection."""
    side = _SIDES.get(tensor_id, {})
    return tuple(link if isinstance(link, str) else tuple(side.get(a, a) for a in link) for link in chain)


def axis_sizes(result: Result) -> dict[str, int]:
    """The size of every axis, by its letter."""
    config, layout = result.config, result.config.layout
    h, g, d, dv = layout.n_heads, layout.kv_heads, layout.qk_width, layout.v_width
    packed = (0 if config.cross else h * d) + g * (d + dv)
    return {
        "B": config.batch, "Q": len(result.q_words[0]), "K": len(result.k_words[0]), "M": config.d_model,
        "H": h, "G": g, "D": d, "Dv": dv, "HD": h * d, "GD": g * d, "GV": g * dv, "HV": h * dv, "C": packed,
        "F": config.d_ff,
    }  # fmt: skip


@lru_cache(maxsize=64)
def run(config: Config) -> Result:
    """Compute every tensor of one forward pass. The result is cached and shared: do not write into its arrays."""
    check(config)
    parameters = weights(config)
    t: dict[str, Tensor] = {}
    with torch.no_grad():
        _embed(config, t)
        _project(config, parameters, t)
        _attend(config, t)
        _project_output(parameters, t)
        difference = (
            None
            if config.dropout and config.training
            else float(
                (module(config, parameters)(t["E"], t.get("E_kv"), mask=t.get("mask")) - t["output"]).abs().max()
            )
        )
    q_words, k_words = (
        tuple(sentence[b % len(sentence) :] + sentence[: b % len(sentence)] for b in range(config.batch))
        for sentence in (config.tokens, config.kv_tokens or config.tokens)
    )
    tensors, matrices = ({name: tensor.numpy() for name, tensor in side.items()} for side in (t, parameters))
    return Result(config, tensors, matrices, q_words, k_words, difference)


def _embed(config: Config, t: dict[str, Tensor]) -> None:
    x, y = vectors(config)
    t["E"] = t["X"] = x
    if config.cross:
        t["E_kv"] = t["Y"] = y
    if config.position == "sinusoidal":
        for input_name, name in (("X", "P"), ("Y", "P_kv")):
            if input_name in t:
                positions = torch.arange(t[input_name].shape[1])
                t[name] = sinusoidal(positions, config.d_model).float()
                t[input_name] = Sinusoidal().add(t[input_name], positions)


def _project(config: Config, parameters: dict[str, Tensor], t: dict[str, Tensor]) -> None:
    """Add Q, K and V to `t`: projected, then split into heads (B, H, Q, D)."""
    x, layout = t["X"], config.layout
    y = t.get("Y", x)
    for name, source, heads in (("Q", x, layout.n_heads), ("K", y, layout.kv_heads), ("V", y, layout.kv_heads)):
        t[f"{name}_flat"] = source @ parameters[f"W_{name}"] + parameters.get(f"b_{name}", torch.zeros(()))
        t[name] = split_heads(t[f"{name}_flat"], heads)
    if config.packed:
        t["packed"] = torch.cat([t[f"{name}_flat"] for name in ("KV" if config.cross else "QKV")], -1)
    if config.qk_norm:
        for name in ("Q", "K"):
            t[f"{name}_norm"] = torch.nn.RMSNorm(config.d_head, NORM_EPS)(t[name])


def _attend(config: Config, t: dict[str, Tensor]) -> None:
    q, k = t.get("Q_norm", t["Q"]), t.get("K_norm", t["K"])
    positions = torch.arange(q.shape[-2])
    if config.position == "rope":
        rope = RoPE()
        q, k = t["Q_turned"], t["K_turned"] = rope.rotate(q, positions), rope.rotate(k, positions)
        t["angles"] = rope.angles(positions, config.d_head).repeat(1, 2).float()  # both numbers of a pair turn alike
    bias = ALiBi(config.n_heads).bias(positions, positions).float() if config.position == "alibi" else None
    mask = _mask(config, q.shape[-2], k.shape[-2])
    scale: Scale = "sqrt" if config.scaled else None
    with seeded_generator(config.seed):  # dropout draws from the generator that the whole process shares
        stages = attend(q, k, t["V"], mask, scale, bias, dropout=config.dropout, training=config.training)
    t["scores"], t["scaled"] = stages.scores, stages.scores * scale_factor(scale, q.shape[-1])
    if bias is not None:
        t["bias"], t["biased"] = bias, stages.scaled
    if mask is not None:
        t["mask"], t["masked"] = mask, stages.masked
    t["weights"], t["heads"] = stages.weights, stages.output
    if config.dropout:
        t["dropped"] = stages.weights if stages.dropped is None else stages.dropped
        t["kept"] = (t["dropped"] != 0) | (stages.weights == 0)


def _mask(config: Config, q_len: int, k_len: int) -> Tensor | None:
    """(Q, K), True where a query may look; None when every query may look everywhere."""
    match config.mask:
        case "causal":
            return masks.causal(q_len, k_len)
        case "window":
            return masks.sliding_window(q_len, k_len, config.window)
        case "padding":
            return (torch.arange(k_len) < max(1, k_len - 1)).expand(q_len, k_len)
    return None


def _project_output(parameters: dict[str, Tensor], t: dict[str, Tensor]) -> None:
    t["merged"] = join_heads(t["heads"])  # (B, Q, H*Dv)
    t["output"] = t["merged"] @ parameters["W_O"] + parameters.get("b_O", torch.zeros(()))
    t["residual"] = t["X"] + t["output"]
    t["normed"] = torch.nn.functional.layer_norm(t["residual"], t["residual"].shape[-1:], eps=LAYER_NORM_EPS)
    t["hidden"] = t["normed"] @ parameters["W_1"] + parameters["b_1"]
    t["active"] = t["hidden"].relu()
    t["fed"] = t["active"] @ parameters["W_2"] + parameters["b_2"]


def module(config: Config, parameters: dict[str, Tensor]) -> Attention:
    """The same layer as an attnviz.core module that uses `parameters`."""
    position: dict[str, Position] = {"sinusoidal": Sinusoidal(), "rope": RoPE(), "alibi": ALiBi(config.n_heads)}
    layer = Attention(
        config.layout,
        packed=config.packed,
        qkv_bias=config.bias,
        out_bias=config.bias,
        qk_norm="head" if config.qk_norm else None,
        norm_eps=NORM_EPS,
        position=position.get(config.position),
        scale="sqrt" if config.scaled else None,
        dropout=config.dropout,
    ).train(config.training)
    joined = {"qkv.qkv_proj": "QKV"} if config.packed else {f"qkv.{n.lower()}_proj": n for n in "QKV"}
    state = {}
    for name, letters in (joined | {"o_proj": "O"}).items():
        state[f"{name}.weight"] = torch.cat([parameters[f"W_{n}"] for n in letters], -1).T  # nn.Linear keeps (out, in)
        if config.bias:
            state[f"{name}.bias"] = torch.cat([parameters[f"b_{n}"] for n in letters])
    layer.load_state_dict(layer.state_dict() | state)
    return layer
