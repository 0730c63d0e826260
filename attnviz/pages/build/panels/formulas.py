"""The formula of each step, with this page's numbers beside the symbols."""

from __future__ import annotations

import math
from collections.abc import Callable

from attnviz.figures.theme import K_VERMILION, Q_BLUE, V_GREEN
from attnviz.pages.build.maths import attention_by_hand, steps


def coloured(letter: str, colour: str) -> str:
    """A symbol as LaTeX, in its colour (Q blue, K vermilion, V green)."""
    return rf"\textcolor{{{colour}}}{{{letter}}}"


Q, K, V = coloured("Q", Q_BLUE), coloured("K", K_VERMILION), coloured("V", V_GREEN)


def formula(step: str, result: attention_by_hand.Result) -> str:
    """LaTeX of one step."""
    return _FORMULAS[step](result)


def _before_softmax(result: attention_by_hand.Result) -> str:
    """The symbol of what softmax takes, as its board calls it."""
    for name in ("masked", "biased"):
        if name in result.tensors:
            return rf"S_{{\text{{{name}}}}}"
    return _scaled_name(result)


def _scaled_name(result: attention_by_hand.Result) -> str:
    return r"S_{\text{scaled}}" if result.config.scaled else "S"


def _embed(result: attention_by_hand.Result) -> str:
    n = steps.sizes(result)
    made = "E" if "P" in result.tensors else "X"
    return rf"{made} \in \mathbb{{R}}^{{{n['Q']} \times {n['M']}}}"


def _position(result: attention_by_hand.Result) -> str:
    m = result.config.d_model
    return rf"X = E + P,\quad P_{{p,2i}} = \sin\frac{{p}}{{10000^{{2i/M}}}},\; M={m}"


def _project(result: attention_by_hand.Result) -> str:
    config = result.config
    y = "Y" if config.cross else "X"
    colours = {"Q": Q_BLUE, "K": K_VERMILION, "V": V_GREEN}
    made = {n: coloured(n, c) for n, c in colours.items()}
    if not config.packed:
        sides = {"Q": "X", "K": y, "V": y}
        bias = {n: coloured(f"+ b_{n}", c) if config.bias else "" for n, c in colours.items()}
        return r",\; ".join(rf"{made[n]} = {sides[n]}\,{coloured(f'W_{n}', c)} {bias[n]}" for n, c in colours.items())
    parts = "KV" if config.cross else "QKV"
    names = r"\;".join(made[n] for n in parts)
    added = f" + b_{{{parts}}}" if config.bias else ""
    together = rf"[{names}] = {y}\,W_{{{parts}}}{added}"
    return rf"{made['Q']} = X\,{coloured('W_Q', Q_BLUE)},\quad {together}" if config.cross else together


def _split(result: attention_by_hand.Result) -> str:
    n = steps.sizes(result)
    return rf"{Q}_h = {Q}[:,\, hD : (h{{+}}1)D],\quad H={n['H']},\; G={n['G']},\; D={n['D']},\; D_v={n['Dv']}"


def _qk_norm(result: attention_by_hand.Result) -> str:
    d = result.config.d_head
    mean = rf"\tfrac{{1}}{{{d}}}\sum_c {Q}_{{ic}}^2"
    return rf"\hat{{{Q}}}_i = \frac{{{Q}_i}}{{\sqrt{{{mean} + \varepsilon}}}},\quad \varepsilon = 10^{{-6}}"


def _rotate(result: attention_by_hand.Result) -> str:
    d = result.config.d_head
    turned = r"(a, b) \to (a\cos\theta - b\sin\theta,\; b\cos\theta + a\sin\theta)"
    angle = rf"\theta_{{p,i}} = p \cdot 10000^{{-2i/{d}}}"
    return rf"\begin{{gathered}} {angle} \\ {turned} \end{{gathered}}"


def _scores(result: attention_by_hand.Result) -> str:
    n = steps.sizes(result)
    return rf"S = {Q}_h {K}_g^{{\top}} \in \mathbb{{R}}^{{{n['Q']} \times {n['K']}}}"


def _scale(result: attention_by_hand.Result) -> str:
    d = result.config.d_head
    if not result.config.scaled:
        return rf"S \;\text{{unscaled}},\quad \sqrt{{D}} = \sqrt{{{d}}} = {math.sqrt(d):.3f}"
    return (
        rf"{_scaled_name(result)} = \frac{{S}}{{\sqrt{{D}}}} = \frac{{S}}{{\sqrt{{{d}}}}} = {1 / math.sqrt(d):.3f}\, S"
    )


def _bias(result: attention_by_hand.Result) -> str:
    slopes = [
        -float(result.tensors["bias"][h, 0, -1]) / max(1, len(result.k_words[0]) - 1)
        for h in range(result.config.n_heads)
    ]
    listed = ",\\;".join(f"{s:.4g}" for s in slopes)
    before = rf"\left({_scaled_name(result)}\right)_{{ij}}" if result.config.scaled else "S_{ij}"
    return rf"{before} - m_h\,|i - j|,\quad m = ({listed})"


def _mask(result: attention_by_hand.Result) -> str:
    kept, all_ = int(result.tensors["mask"].sum()), result.tensors["mask"].size
    hidden = rf"\text{{mask}}_{{ij}} = 0 \quad ({all_ - kept}/{all_})"
    return rf"\left(S_{{\text{{masked}}}}\right)_{{ij}} = -\infty \;\text{{where}}\; {hidden}"


def _softmax(result: attention_by_hand.Result) -> str:
    keys = len(result.k_words[0])
    if (before := _before_softmax(result)) == "S":
        return rf"A_{{ij}} = \frac{{e^{{S_{{ij}}}}}}{{\sum_{{j'=1}}^{{{keys}}} e^{{S_{{ij'}}}}}}"
    return rf"A_{{ij}} = \frac{{e^{{s_{{ij}}}}}}{{\sum_{{j'=1}}^{{{keys}}} e^{{s_{{ij'}}}}}},\quad s = {before}"


def _dropout(result: attention_by_hand.Result) -> str:
    p = result.config.dropout
    return rf"A \odot \frac{{\text{{kept}}}}{{1-p}},\quad p = {p:g}"


def _sum(result: attention_by_hand.Result) -> str:
    return rf"O_h = A_h {V}_g"


def _merge(result: attention_by_hand.Result) -> str:
    parts = ",\\, ".join(f"O_{h + 1}" for h in range(result.config.n_heads))
    return rf"O = [\,{parts}\,]"


def _output(result: attention_by_hand.Result) -> str:
    return r"\text{Out} = O\,W_O" + (" + b_O" if result.config.bias else "")


def _residual(result: attention_by_hand.Result) -> str:
    return r"Z = X + \text{Out}"


def _norm(result: attention_by_hand.Result) -> str:
    m = result.config.d_model
    return rf"N = \frac{{Z - \mu}}{{\sqrt{{\sigma^2 + \varepsilon}}}},\quad \mu, \sigma^2 \;\text{{over}}\; M = {m}"


_FORMULAS: dict[str, Callable[[attention_by_hand.Result], str]] = {
    "embed": _embed,
    "position": _position,
    "project": _project,
    "split": _split,
    "qk_norm": _qk_norm,
    "rotate": _rotate,
    "scores": _scores,
    "scale": _scale,
    "bias": _bias,
    "mask": _mask,
    "softmax": _softmax,
    "dropout": _dropout,
    "sum": _sum,
    "merge": _merge,
    "output": _output,
    "residual": _residual,
    "norm": _norm,
}
