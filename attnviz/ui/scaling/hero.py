"""The weights of one query over n keys as bars: raw, scaled and the alternative, moved by the browser."""

from __future__ import annotations

from typing import Any

from attnviz.experiments.scaling import alternatives, growing_width
from attnviz.figures.scaling_bars import rows_of_bars
from attnviz.ui.canvas import softmax_slider
from attnviz.ui.scaling import results, scaling_choices
from attnviz.ui.scaling.names import alternative_names, colour, letter, plain_formula
from attnviz.ui.shared import Choice, link_state, show


def bars(key: str, config: growing_width.Config) -> None:
    """Draw the rows of bars, two where the alternative is scaling itself. A slider that is let go keeps its value."""
    d_k, n_keys, seed, alternative = config.d_k, config.n_keys, config.seed, config.alternative
    film = results.film(n_keys, seed, d_k)
    names = alternative_names()
    panels = [
        softmax_slider.Panel(name, names[name], plain_formula(name), colour(name))
        for name in dict.fromkeys(("raw", "sqrt", alternative))
    ]

    def let_go(pick: softmax_slider.Picked) -> None:
        picked: dict[Choice[Any], Any] = {scaling_choices.D_K: pick.d_k}
        if alternative in scaling_choices.PARAMETERS:
            picked[scaling_choices.PARAMETERS[alternative]] = pick.parameter
        link_state.put_all(picked)

    softmax_slider.softmax_slider(
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
    """Draw the sentence and the export below the bars, for the value at which the slider was released."""
    names = alternative_names()
    config = row.config
    drawn = {"raw": row.raw, "sqrt": row.scaled, config.alternative: row.alternative}
    fig = rows_of_bars([(names[name], colour(name), one.weights) for name, one in drawn.items()])
    table: dict[str, Any] = {"key": range(1, config.n_keys + 1)}
    for name, one in drawn.items():
        table |= {f"{name}_logit": one.logits, f"{name}_weight": one.weights}
    show.under(fig, name=f"weights-dk{config.d_k}", key=key + "_picture", table=table, caption=words, words=words)


def slider(alternative: str, value: float) -> softmax_slider.SliderParameter | None:
    """The slider for the alternative's parameter; None if it has none."""
    one = alternatives.ALTERNATIVES[alternative]
    if not one.parameter:
        return None
    return softmax_slider.SliderParameter(letter(alternative), value, one.low, one.high, linear=one.low < 0)
