"""One query and n keys: bars of weights, raw, scaled and the alternative, moved by the browser."""

from __future__ import annotations

from typing import Any

from attnviz.experiments.scaling import growing_width
from attnviz.experiments.scaling.alternatives import ALTERNATIVES
from attnviz.figures.scaling_bars import rows_of_bars
from attnviz.ui.canvas.softmax_slider import Panel, Parameter, Picked, softmax_slider
from attnviz.ui.scaling import choices, results
from attnviz.ui.scaling.names import alternative_names, colour, letter, plain_formula
from attnviz.ui.shared import link_state, show
from attnviz.ui.shared.choices import Choice


def bars(key: str, config: growing_width.Config) -> None:
    """The three rows of bars of `config`; where the slider is let go, the choices follow."""
    d_k, n_keys, seed, alternative = config.d_k, config.n_keys, config.seed, config.alternative
    film = results.film(n_keys, seed, d_k)
    names = alternative_names()
    panels = [Panel(name, names[name], plain_formula(name), colour(name)) for name in ("raw", "sqrt", alternative)]

    def let_go(pick: Picked) -> None:
        picked: dict[Choice[Any], Any] = {choices.D_K: pick.d_k}
        if alternative in choices.PARAMETERS:
            picked[choices.PARAMETERS[alternative]] = pick.parameter
        link_state.put_all(picked)

    softmax_slider(
        key,
        film.d_k,
        film.scores,
        panels,
        at=d_k,
        cosines=film.cosines if alternative == "qk-norm" else None,
        parameter=slider(alternative, config.parameter),
        about=alternative,
        on_pick=let_go,
    )


def under(key: str, row: growing_width.Result, words: str) -> None:
    """The sentence below the bars, and their export: as they stand where the slider was let go."""
    names = alternative_names()
    config = row.config
    drawn = {"raw": row.raw, "sqrt": row.scaled, config.alternative: row.alternative}
    fig = rows_of_bars([(names[name], colour(name), one.weights) for name, one in drawn.items()])
    table: dict[str, Any] = {"key": range(1, config.n_keys + 1)}
    for name, one in drawn.items():
        table |= {f"{name}_logit": one.logits, f"{name}_weight": one.weights}
    show.under(fig, name=f"weights-dk{config.d_k}", key=key + "_picture", table=table, caption=words, words=words)


def slider(alternative: str, value: float) -> Parameter | None:
    """The alternative's slider, where it has a parameter."""
    one = ALTERNATIVES[alternative]
    if not one.parameter:
        return None
    return Parameter(letter(alternative), value, one.low, one.high, linear=one.low < 0)
