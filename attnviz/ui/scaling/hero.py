"""One query and n keys: bars of weights, raw, scaled and the alternative, moved by the browser."""

from __future__ import annotations

from typing import Any

from attnviz.experiments.scaling import alternatives, growing_width
from attnviz.figures.scaling_bars import rows_of_bars
from attnviz.ui.canvas import softmax_slider
from attnviz.ui.scaling import results, scaling_controls
from attnviz.ui.scaling.names import alternative_names, colour, letter, plain_formula
from attnviz.ui.shared import show


def bars(key: str, alternative: str) -> None:
    """The three rows of bars for the d_k, keys and seed that the controls say."""
    d_k, n_keys, seed = (scaling_controls.whole(name) for name in ("s_dk", "s_keys", "s_seed"))
    film = results.film(n_keys, seed, d_k)
    names = alternative_names()
    panels = [
        softmax_slider.Panel(name, names[name], plain_formula(name), colour(name))
        for name in ("raw", "sqrt", alternative)
    ]

    def picked(pick: softmax_slider.Picked) -> None:
        scaling_controls.put("s_dk", pick.d_k)
        if alternatives.ALTERNATIVES[alternative].parameter:
            scaling_controls.put(f"s_{alternative}", pick.parameter)

    softmax_slider.softmax_slider(
        key,
        film.d_k,
        film.scores,
        panels,
        at=d_k,
        cosines=film.cosines if alternative == "qk-norm" else None,
        parameter=slider(alternative),
        about=alternative,
        on_pick=picked,
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


def slider(alternative: str) -> softmax_slider.SliderParameter | None:
    """The alternative's slider, where it has a parameter."""
    one = alternatives.ALTERNATIVES[alternative]
    if not one.parameter:
        return None
    return softmax_slider.SliderParameter(
        letter(alternative), scaling_controls.parameter(alternative), one.low, one.high, linear=one.low < 0
    )
