"""The formula of each step, with this page's numbers beside the symbols."""

import math
from collections.abc import Callable

from attnviz.base.rounding import Rounded
from attnviz.figures.theme import K_VERMILION, Q_BLUE, V_GREEN
from attnviz.pages.build.maths.attention_by_hand import Result

COLOURS = {"Q": Q_BLUE, "K": K_VERMILION, "V": V_GREEN}


def coloured_symbol(symbol: str, letter: str) -> str:
    """A symbol as LaTeX, in the colour of Q, K or V."""
    return rf"\textcolor{{{COLOURS[letter]}}}{{{symbol}}}"


Q, K, V = (coloured_symbol(letter, letter) for letter in COLOURS)


def step_formula(step: str, result: Result) -> str:
    """LaTeX of one step."""
    return _FORMULAS[step](result)


def _scaled_name(result: Result) -> str:
    return r"S_{\text{scaled}}" if result.config.scaled else "S"


def _project(result: Result) -> str:
    config = result.config
    y = "Y" if config.cross else "X"
    if not config.packed:
        sides = {"Q": ("X", Q), "K": (y, K), "V": (y, V)}
        bias = {n: coloured_symbol(f"+ b_{n}", n) if config.bias else "" for n in sides}
        return r",\; ".join(
            rf"{name} = {side}\,{coloured_symbol(f'W_{n}', n)} {bias[n]}" for n, (side, name) in sides.items()
        )
    parts = "KV" if config.cross else "QKV"
    names = r"\;".join(coloured_symbol(n, n) for n in parts)
    added = f" + b_{{{parts}}}" if config.bias else ""
    together = rf"[{names}] = {y}\,W_{{{parts}}}{added}"
    return rf"{Q} = X\,{coloured_symbol('W_Q', 'Q')},\quad {together}" if config.cross else together


def _split(result: Result) -> str:
    layout = result.config.layout
    sizes = rf"H={layout.n_heads},\; G={layout.kv_heads},\; D={layout.qk_width},\; D_v={layout.v_width}"
    return rf"{Q}_h = {Q}[:,\, hD : (h{{+}}1)D],\quad {sizes}"


def _qk_norm(result: Result) -> str:
    mean = rf"\tfrac{{1}}{{{result.config.d_head}}}\sum_c {Q}_{{ic}}^2"
    return rf"\hat{{{Q}}}_i = \frac{{{Q}_i}}{{\sqrt{{{mean} + \varepsilon}}}},\quad \varepsilon = 10^{{-6}}"


def _rotate(result: Result) -> str:
    turned = r"(a, b) \to (a\cos\theta - b\sin\theta,\; b\cos\theta + a\sin\theta)"
    angle = rf"\theta_{{p,i}} = p \cdot 10000^{{-2i/{result.config.d_head}}}"
    return rf"\begin{{gathered}} {angle} \\ {turned} \end{{gathered}}"


def _scale(result: Result) -> str:
    d = result.config.d_head
    if not result.config.scaled:
        return rf"S \;\text{{unscaled}},\quad \sqrt{{D}} = \sqrt{{{d}}} = {Rounded(math.sqrt(d)):.3f}"
    fraction = rf"\frac{{S}}{{\sqrt{{D}}}} = \frac{{S}}{{\sqrt{{{d}}}}} = {Rounded(1 / math.sqrt(d)):.3f}\, S"
    return rf"{_scaled_name(result)} = {fraction}"


def _bias(result: Result) -> str:
    farthest = max(1, len(result.k_words[0]) - 1)
    slopes = ",\\;".join(f"{Rounded(-float(bias[0, -1]) / farthest):.4g}" for bias in result.tensors["bias"])
    before = rf"\left({_scaled_name(result)}\right)_{{ij}}" if result.config.scaled else "S_{ij}"
    return rf"{before} - m_h\,|i - j|,\quad m = ({slopes})"


def _mask(result: Result) -> str:
    mask = result.tensors["mask"]
    hidden = rf"\text{{mask}}_{{ij}} = 0 \quad ({int((~mask).sum())}/{mask.size})"
    return rf"\left(S_{{\text{{masked}}}}\right)_{{ij}} = -\infty \;\text{{where}}\; {hidden}"


def _softmax(result: Result) -> str:
    before = next((rf"S_{{\text{{{n}}}}}" for n in ("masked", "biased") if n in result.tensors), _scaled_name(result))
    score, meaning = ("S", "") if before == "S" else ("s", rf",\quad s = {before}")
    keys = len(result.k_words[0])
    return rf"A_{{ij}} = \frac{{e^{{{score}_{{ij}}}}}}{{\sum_{{j'=1}}^{{{keys}}} e^{{{score}_{{ij'}}}}}}{meaning}"


_FORMULAS: dict[str, Callable[[Result], str]] = {
    "embed": lambda result: (
        ("E" if "P" in result.tensors else "X")
        + rf" = W_E[\text{{words}}] \in \mathbb{{R}}^{{{len(result.q_words[0])} \times {result.config.d_model}}}"
    ),
    "position": lambda result: (
        rf"X = E + P,\quad P_{{p,2i}} = \sin\frac{{p}}{{10000^{{2i/M}}}},\; M={result.config.d_model}"
    ),
    "project": _project,
    "split": _split,
    "qk_norm": _qk_norm,
    "rotate": _rotate,
    "scores": lambda result: (
        rf"S = {Q}_h {K}_g^{{\top}} \in \mathbb{{R}}^{{{len(result.q_words[0])} \times {len(result.k_words[0])}}}"
    ),
    "scale": _scale,
    "bias": _bias,
    "mask": _mask,
    "softmax": _softmax,
    "dropout": lambda result: rf"A \odot \frac{{\text{{kept}}}}{{1-p}},\quad p = {result.config.dropout:g}",
    "sum": lambda result: rf"O_h = A_h {V}_g",
    "merge": lambda result: r"O = [\," + ",\\, ".join(f"O_{h + 1}" for h in range(result.config.n_heads)) + r"\,]",
    "output": lambda result: r"\text{Out} = O\,W_O" + (" + b_O" if result.config.bias else ""),
    "residual": lambda result: r"Z = X + \text{Out}",
    "norm": lambda result: (
        r"N = \frac{Z - \mu}{\sqrt{\sigma^2 + \varepsilon}},\quad \mu, \sigma^2 \;\text{over}\; M = "
        f"{result.config.d_model}"
    ),
    "ffn": lambda result: (
        r"\begin{gathered} \text{FFN} = \max(0,\, N W_1 + b_1)\,W_2 + b_2 \\ "
        rf"F = {result.config.widening}M = {result.config.d_ff} \end{{gathered}}"
    ),
}
