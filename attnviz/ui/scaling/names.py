"""Names and formulas of the alternatives and distributions, in the visitor's language."""

from __future__ import annotations

from attnviz.experiments.scaling import alternatives
from attnviz.figures.theme import ALTERNATIVE, K_VERMILION, Q_BLUE, RAW, SCALED
from attnviz.words import _

Q = rf"\textcolor{{{Q_BLUE}}}{{q}}"
K = rf"\textcolor{{{K_VERMILION}}}{{k}}"
COLOURS = {"raw": RAW, "sqrt": SCALED}


def colour(name: str) -> str:
    """The line colour of raw, scaled, or whichever alternative is chosen."""
    return COLOURS.get(name, ALTERNATIVE)


def alternative_names() -> dict[str, str]:
    """Id to words, for raw, scaled and every alternative."""
    return {
        "raw": _("raw"),
        "sqrt": _("scaled"),
        "temperature": _("temperature"),
        "inverse": _("1/d_k"),
        "qk-norm": _("QK-norm, learned scale"),
        "softcap": _("soft-cap"),
        "log-n": _("log n, length-aware"),
        "sink": _("sink"),
    }


def plain_formula(name: str) -> str:
    """The argument of softmax under an alternative, as one line of text."""
    return {
        "raw": "q·k",
        "sqrt": "q·k / √d_k",
        "temperature": "q·k / (√d_k T)",
        "inverse": "a q·k / d_k",
        "qk-norm": "g cos(q, k)",
        "softcap": "c tanh(q·k / (√d_k c))",
        "log-n": "ln n / ln N × q·k / √d_k",
        "sink": "q·k / √d_k, b",
    }[name]


def formula(name: str, d_k: int, n_keys: int, parameter: float) -> str:
    """Softmax under an alternative as LaTeX, with the numbers of the current choices."""
    dot, root, p = f"{Q}\\cdot {K}", rf"\sqrt{{{d_k}}}", f"{parameter:.4g}"
    return {
        "raw": rf"\mathrm{{softmax}}({dot})",
        "sqrt": rf"\mathrm{{softmax}}\left(\frac{{{dot}}}{{{root}}}\right)",
        "temperature": rf"\mathrm{{softmax}}\left(\frac{{{dot}}}{{{root}\cdot {p}}}\right)",
        "inverse": rf"\mathrm{{softmax}}\left(\frac{{{p}\,{dot}}}{{{d_k}}}\right)",
        "qk-norm": rf"\mathrm{{softmax}}\left({p}\,\frac{{{dot}}}{{|{Q}||{K}|}}\right)",
        "softcap": rf"\mathrm{{softmax}}\left({p}\tanh\frac{{{dot}}}{{{root}\cdot {p}}}\right)",
        "log-n": rf"\mathrm{{softmax}}\left(\frac{{\ln {n_keys}}}{{\ln {p}}}\,\frac{{{dot}}}{{{root}}}\right)",
        "sink": rf"\mathrm{{softmax}}\left(\left[\frac{{{dot}}}{{{root}}},\ {p}\right]\right)",
    }[name]


def letter(name: str) -> str:
    """The letter of an alternative's parameter; empty where it has none."""
    return alternatives.ALTERNATIVES[name].parameter or ""


def distribution_names() -> dict[str, str]:
    """Id to words, for every distribution of the components of q and k."""
    return {
        "normal": _("normal"),
        "uniform": _("uniform"),
        "rademacher": _("Rademacher, ±1"),
        "heavy-tailed": _("heavy-tailed, t with 4 degrees of freedom"),
        "correlated": _("correlated q and k"),
        "shifted": _("mean not zero"),
    }
