"""Attention by hand: every tensor between a sentence's vectors and the layer's output."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from attnviz.core import masks
from attnviz.core.attention import Scale, Stages, attend, scale_factor
from attnviz.core.modules import Attention, seeded
from attnviz.core.positions import ALiBi, Position, Sinusoidal, sinusoidal
from attnviz.core.projections import PackedQKV, RMSNorm, SeparateQKV, join_heads, split_heads
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


#: The axes of each tensor. HD is H*D, GD is G*D, GV is G*Dv, HV is H*Dv, C is the packed width.
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
}


@lru_cache(maxsize=64)
def run(config: Config) -> Result:
    """Compute every tensor of one forward pass. The result is cached and shared: do not write into its arrays."""
    check(config)
    made = weights(config)
    t: dict[str, Tensor] = {}
    with torch.no_grad():
        _embed(config, t)
        _project(config, made, t)
        _split(config, t)
        _attend(config, t)
        _finish(made, t)
        difference = _difference(config, made, t)
    words = tuple(_rolled(config.words, b) for b in range(config.batch))
    others = tuple(_rolled(config.other, b) for b in range(config.batch)) if config.cross else words
    arrays = {name: tensor.numpy() for name, tensor in t.items()}
    return Result(config, arrays, {name: w.numpy() for name, w in made.items()}, words, others, difference)


def _rolled(words: tuple[str, ...], by: int) -> tuple[str, ...]:
    by %= len(words)
    return words[by:] + words[:by]


def _embed(config: Config, t: dict[str, Tensor]) -> None:
    x, y = vectors(config)
    t["E"] = t["X"] = x
    if config.cross:
        t["E_kv"] = t["Y"] = y
    if config.position == "sinusoidal":
        for given, name in (("X", "P"), ("Y", "P_kv")):
            if given in t:
                places = torch.arange(t[given].shape[1])
                t[name] = sinusoidal(places, config.d_model).float()
                t[given] = Sinusoidal().add(t[given], places)


def _project(config: Config, made: dict[str, Tensor], t: dict[str, Tensor]) -> None:
    x = t["X"]
    y = t.get("Y", x)
    for name, source in (("Q", x), ("K", y), ("V", y)):
        t[f"{name}_flat"] = source @ made[f"W_{name}"] + made.get(f"b_{name}", torch.zeros(()))
    if config.packed:
        parts = ("K", "V") if config.cross else ("Q", "K", "V")
        t["packed"] = torch.cat([t[f"{name}_flat"] for name in parts], -1)


def _split(config: Config, t: dict[str, Tensor]) -> None:
    layout = config.layout
    heads = {"Q": layout.n_heads, "K": layout.kv_heads, "V": layout.kv_heads}
    for name, n in heads.items():
        t[name] = split_heads(t[f"{name}_flat"], n)  # (B, H, Q, D)
    if config.qk_norm:
        for name in ("Q", "K"):
            t[f"{name}_norm"] = RMSNorm(config.d_head, NORM_EPS)(t[name])


def _attend(config: Config, t: dict[str, Tensor]) -> None:
    q, k = t.get("Q_norm", t["Q"]), t.get("K_norm", t["K"])
    if config.position == "rope":
        _turn(config, q, k, t)
        q, k = t["Q_turned"], t["K_turned"]
    length, keys = q.shape[-2], k.shape[-2]
    places = torch.arange(length)
    bias = ALiBi(config.n_heads).bias(places, places).float() if config.position == "alibi" else None
    mask = _mask(config, length, keys)
    scale: Scale = "sqrt" if config.scaled else None
    with seeded(config.seed):  # dropout draws from the generator that the whole process shares
        stages = attend(q, k, t["V"], mask, scale, bias, dropout=config.dropout, training=config.training)
    t["scores"], t["scaled"] = stages.scores, stages.scores * scale_factor(scale, q.shape[-1])
    if bias is not None:
        t["bias"], t["biased"] = bias, stages.scaled
    if mask is not None:
        t["mask"], t["masked"] = mask, stages.masked
    t["weights"], t["heads"] = stages.weights, stages.output
    if config.dropout:
        _note_dropout(stages, t)


def _note_dropout(stages: Stages, t: dict[str, Tensor]) -> None:
    dropped = stages.weights if stages.dropped is None else stages.dropped
    t["dropped"] = dropped
    t["kept"] = (dropped != 0) | (stages.weights == 0)


def _turn(config: Config, q: Tensor, k: Tensor, t: dict[str, Tensor]) -> None:
    rope, places = RoPE(), torch.arange(q.shape[-2])
    t["Q_turned"], t["K_turned"] = rope.rotate(q, places), rope.rotate(k, places)
    t["angles"] = rope.angles(places, config.d_head).repeat(1, 2).float()  # both numbers of a pair turn alike


def _mask(config: Config, q_len: int, k_len: int) -> Tensor | None:
    """(Q, K), True where a query may look; None when every query may look everywhere."""
    match config.mask:
        case "causal":
            return masks.causal(q_len, k_len)
        case "window":
            return masks.sliding_window(q_len, k_len, config.window)
        case "padding":
            return masks.padding(q_len, k_len, attention_mask=(torch.arange(k_len) < max(1, k_len - 1)).int())
    return None


def _finish(made: dict[str, Tensor], t: dict[str, Tensor]) -> None:
    t["merged"] = join_heads(t["heads"])  # (B, Q, H*Dv)
    t["output"] = t["merged"] @ made["W_O"] + made.get("b_O", torch.zeros(()))
    t["residual"] = t["X"] + t["output"]
    t["normed"] = torch.nn.functional.layer_norm(t["residual"], t["residual"].shape[-1:], eps=LAYER_NORM_EPS)


def module(config: Config, made: dict[str, Tensor] | None = None) -> Attention:
    """The same layer as a module of the core, with the same weights."""
    made = weights(config) if made is None else made
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
    separate = SeparateQKV(config.layout, (config.d_model,) * 3, bias=config.bias)
    linears = dict(zip("QKVO", (separate.q_proj, separate.k_proj, separate.v_proj, layer.o_proj), strict=True))
    with torch.no_grad():
        for letter, linear in linears.items():
            linear.weight.copy_(made[f"W_{letter}"].T)  # nn.Linear keeps (out, in)
            if config.bias:
                linear.bias.copy_(made[f"b_{letter}"])
    if isinstance(layer.qkv, PackedQKV):
        layer.qkv.pack(separate)
    else:
        layer.qkv = separate
    return layer


def _difference(config: Config, made: dict[str, Tensor], t: dict[str, Tensor]) -> float | None:
    if config.dropout and config.training:
        return None
    context = t["E_kv"] if config.cross else None
    given = module(config, made)(t["E"], context, mask=t.get("mask"))
    return float((given - t["output"]).abs().max())
