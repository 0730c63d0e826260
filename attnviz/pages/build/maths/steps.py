"""The walk from X to the output: which steps a configuration has, and how each changes the axes."""

from __future__ import annotations

from dataclasses import dataclass

from attnviz.pages.build.maths.attention_by_hand import AXES, Result
from attnviz.pages.build.maths.inputs import Config


@dataclass(frozen=True)
class WalkStep:
    """One stop on the walk. `tensors` are names in Result.tensors; `chain` says how the axes change."""

    id: str
    tensors: tuple[str, ...]
    chain: tuple[tuple[str, ...] | str, ...]  #: axes before, verb, axes after, verb, ...


def steps(config: Config) -> tuple[WalkStep, ...]:
    """The steps of this configuration, in order."""
    found = [_embed(config)]
    if config.position == "sinusoidal":
        found.append(
            WalkStep("position", ("X", "Y") if config.cross else ("X",), (("B", "Q", "M"), "+", ("B", "Q", "M")))
        )
    found.append(_project(config))
    found.append(_split())
    before: tuple[str, ...] = ("Q", "K")
    if config.qk_norm:
        before = ("Q_norm", "K_norm")
        found.append(WalkStep("qk_norm", before, (AXES["Q"], "rms_norm", AXES["Q"])))
    if config.position == "rope":
        found.append(WalkStep("rotate", ("Q_turned", "K_turned"), (AXES["Q"], "rotate", AXES["Q"])))
    square = AXES["scores"]
    found.append(WalkStep("scores", ("scores",), (AXES["Q"], "@", ("B", "G", "D", "K"), "→", square)))
    found.append(WalkStep("scale", ("scaled",), (square, "/ √D", square)))
    if config.position == "alibi":
        found.append(WalkStep("bias", ("biased",), (square, "+", AXES["bias"], "→", square)))
    if config.mask != "none":
        found.append(WalkStep("mask", ("masked",), (square, "masked_fill", square)))
    found.append(WalkStep("softmax", ("weights",), (square, "softmax", square)))
    if config.dropout:
        found.append(WalkStep("dropout", ("dropped",), (square, "dropout", square)))
    found += [
        WalkStep("sum", ("heads",), (square, "@", AXES["V"], "→", AXES["heads"])),
        WalkStep("merge", ("merged",), (AXES["heads"], "transpose", ("B", "Q", "H", "Dv"), "flatten", AXES["merged"])),
        WalkStep("output", ("output",), (AXES["merged"], "linear", AXES["output"])),
        WalkStep("residual", ("residual",), (AXES["X"], "+", AXES["output"])),
        WalkStep("norm", ("normed",), (AXES["X"], "layer_norm", AXES["X"])),
    ]
    return tuple(found)


def _embed(config: Config) -> WalkStep:
    return WalkStep("embed", ("E", "E_kv") if config.cross else ("E",), (("B", "Q"), "lookup", ("B", "Q", "M")))


def _project(config: Config) -> WalkStep:
    if config.packed and not config.cross:
        return WalkStep("project", ("packed",), (("B", "Q", "M"), "linear", ("B", "Q", "C")))
    names = ("Q_flat", "packed") if config.packed else ("Q_flat", "K_flat", "V_flat")
    return WalkStep("project", names, (AXES["X"], "linear", AXES["Q_flat"]))


def _split() -> WalkStep:
    four = ("B", "Q", "H", "D")
    return WalkStep("split", ("Q", "K", "V"), (AXES["Q_flat"], "view", four, "transpose", AXES["Q"]))


def sizes(result: Result) -> dict[str, int]:
    """The size of every axis, by its letter."""
    config, layout = result.config, result.config.layout
    h, g, d, dv = layout.n_heads, layout.kv_heads, layout.qk_width, layout.v_width
    packed = (0 if config.cross else h * d) + g * (d + dv)
    return {
        "B": config.batch, "Q": len(result.q_words[0]), "K": len(result.k_words[0]), "M": config.d_model,
        "H": h, "G": g, "D": d, "Dv": dv, "HD": h * d, "GD": g * d, "GV": g * dv, "HV": h * dv, "C": packed,
    }  # fmt: skip


#: part -> axis letters of the query side, and the letters that replace them in this part.
_SIDES = {
    "q": {},
    "k": {"Q": "K", "H": "G", "HD": "GD"},
    "v": {"Q": "K", "H": "G", "HD": "GV", "D": "Dv"},
    "qkv": {"HD": "C", "K": "Q"},
    "kv": {"Q": "K", "HD": "C"},
    "y": {"Q": "K"},
}


def chain(step: WalkStep, part: str) -> tuple[tuple[str, ...] | str, ...]:
    """How the axes change in one part of the step, such as the keys' projection."""
    side = _SIDES.get(part, {})
    return tuple(link if isinstance(link, str) else tuple(side.get(a, a) for a in link) for link in step.chain)
