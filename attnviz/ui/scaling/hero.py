"""One query and n keys: bars of weights, raw, scaled and the alternative, moved by the browser."""

from __future__ import annotations

from attnviz.experiments.alternatives import ALTERNATIVES
from attnviz.ui.canvas.softmax_slider import Panel, Parameter, Picked, softmax_slider
from attnviz.ui.scaling import controls, results
from attnviz.ui.scaling.names import alternative_names, colour, letter, plain_formula


def bars(key: str, alternative: str) -> None:
    """The three rows of bars for the d_k, keys and seed that the controls say."""
    d_k, n_keys, seed = (controls.whole(name) for name in ("s_dk", "s_keys", "s_seed"))
    film = results.film(n_keys, seed, d_k)
    names = alternative_names()
    panels = [Panel(name, names[name], plain_formula(name), colour(name)) for name in ("raw", "sqrt", alternative)]

    def picked(pick: Picked) -> None:
        controls.put("s_dk", pick.d_k)
        if ALTERNATIVES[alternative].parameter:
            controls.put(f"s_{alternative}", pick.parameter)

    softmax_slider(
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


def slider(alternative: str) -> Parameter | None:
    """The alternative's slider, where it has a parameter."""
    one = ALTERNATIVES[alternative]
    if not one.parameter:
        return None
    return Parameter(letter(alternative), controls.parameter(alternative), one.low, one.high, linear=one.low < 0)
