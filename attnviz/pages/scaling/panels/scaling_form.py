"""Controls that several sections share, and one query's row of bars with its sentence."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, TypeVar

import streamlit as st

from attnviz.app import page_parts, show, widget_values, widgets
from attnviz.app.cache.shared_results import shared
from attnviz.app.links import link_state
from attnviz.app.links.choices import Choice
from attnviz.base.rounding import Rounded
from attnviz.base.words import _
from attnviz.canvas import softmax_slider
from attnviz.figures.theme import ALTERNATIVE, K_VERMILION, Q_BLUE, RAW, SCALED
from attnviz.live.scene_figure import SceneFigure
from attnviz.pages.scaling import choices
from attnviz.pages.scaling.maths import growing_width
from attnviz.pages.scaling.maths.alternatives import ALTERNATIVES, CHOICES

N = TypeVar("N", int, float)

#: Where the d_k slider stops; the box beside it takes any whole number.
STOPS = sorted({round(2 ** (i / 4)) for i in range(49)})
SLIDER = "s_dk_slider"
BOX = 150  #: pixels, so that two boxes fit beside each other on a phone
Q = rf"\textcolor{{{Q_BLUE}}}{{q}}"
K = rf"\textcolor{{{K_VERMILION}}}{{k}}"


def page_number_box(
    choice: Choice[N], label: str, step: N | None = None, help: str | None = None, high: N | None = None
) -> N:
    """A number box in the width that all boxes of this page have."""
    return widgets.number_box(choice, label, step=step, high=high, help=help, width=BOX)


def d_k_control() -> int:
    """Draw a slider for d_k, even on a log scale, and a box for any whole number; returns d_k."""
    now = link_state.value(choices.D_K)
    slider_arguments = widget_values.bind_widget(
        SLIDER, now, lambda picked: link_state.set_and_push(choices.D_K, picked)
    )
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.select_slider(_("d_k, the width of a query"), sorted({*STOPS, now}), **slider_arguments)
        return page_number_box(choices.D_K, "d_k", 1)


def scheme_names(ids: Iterable[str] = ALTERNATIVES) -> dict[str, str]:
    """Id -> name on screen, for raw, scaled and every alternative."""
    return {scheme: _(ALTERNATIVES[scheme].name) for scheme in ids}


def alternative_control() -> tuple[str, float]:
    """Draw the choice of an alternative; returns its id and its parameter, 1 for one that has none."""
    picked = widgets.select_one(choices.ALTERNATIVE, _("Alternative"), scheme_names(CHOICES), style="select")
    return picked, last_parameter(picked)


def third_control() -> tuple[str, float]:
    """Draw the choice of what stands beside raw and scaled: nothing, or an alternative.

    Returns an id and its parameter; for nothing "sqrt", which stands there already.
    """
    picked = widgets.select_one(
        choices.BESIDE,
        _("Show beside raw and scaled"),
        {choices.NOTHING_BESIDE: _("nothing more"), **scheme_names(CHOICES)},
        usual=choices.NOTHING_BESIDE,
        style="select",
    )
    return ("sqrt", 1.0) if picked == choices.NOTHING_BESIDE else (picked, last_parameter(picked))


def last_parameter(name: str) -> float:
    """The parameter that was last set for an alternative."""
    return link_state.value(choices.PARAMETERS[name]) if name in choices.PARAMETERS else 1.0


def softmax_formula(name: str, d_k: int, n_keys: int, parameter: float) -> str:
    """Softmax under an alternative as LaTeX, with the numbers of the current choices."""
    dot, root, p = f"{Q}\\cdot {K}", rf"\sqrt{{{d_k}}}", f"{Rounded(parameter):.4g}"
    inside = {
        "raw": rf"({dot})",
        "sqrt": rf"\left(\frac{{{dot}}}{{{root}}}\right)",
        "temperature": rf"\left(\frac{{{dot}}}{{{root}\cdot {p}}}\right)",
        "inverse": rf"\left(\frac{{{p}\,{dot}}}{{{d_k}}}\right)",
        "qk-norm": rf"\left({p}\,\frac{{{dot}}}{{|{Q}||{K}|}}\right)",
        "softcap": rf"\left({p}\tanh\frac{{{dot}}}{{{root}\cdot {p}}}\right)",
        "log-n": rf"\left(\frac{{\ln {n_keys}}}{{\ln {p}}}\,\frac{{{dot}}}{{{root}}}\right)",
        "sink": rf"\left(\left[\frac{{{dot}}}{{{root}}},\ {p}\right]\right)",
    }
    return rf"\mathrm{{softmax}}{inside[name]}"


def scheme_colour(name: str) -> str:
    """The line colour of raw, scaled, or whichever alternative is chosen."""
    return {"raw": RAW, "sqrt": SCALED}.get(name, ALTERNATIVE)


# The weights of one query over n keys, as bars that move in the browser.
#: The random queries and keys: up to 70 MB each, so only a few are kept.
vectors = shared(growing_width.draw)


@shared
def width_film(n_keys: int, seed: int, also: int) -> growing_width.Film:
    if also != 1 and also in growing_width.film_grid(n_keys):
        return width_film(n_keys, seed, 1)
    return growing_width.make_film(n_keys, seed, also, vectors(n_keys, seed))


@shared
def one_query_result(config: growing_width.Config) -> growing_width.Result:
    return growing_width.run(config, vectors(config.n_keys, config.seed))


def one_query_config() -> growing_width.Config:
    """Draw the controls of one query's weights under an alternative."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        alternative, parameter = alternative_control()
        d_k, n_keys = page_number_box(choices.D_K, "d_k", 1), page_number_box(choices.KEYS, _("Keys, n"), 1)
        with page_parts.more_menu():
            seed = page_number_box(choices.SEED, _("Seed"), 1)
        return growing_width.Config(d_k, n_keys, seed, alternative, parameter)


def slider_panels(ids: Iterable[str]) -> list[softmax_slider.Panel]:
    """Rows of bars, by the ids of their alternatives."""
    schemes = [ALTERNATIVES[name] for name in ids]
    return [
        softmax_slider.Panel(scheme.id, _(scheme.name), scheme.formula, scheme_colour(scheme.id)) for scheme in schemes
    ]


def draw_bars(key: str, config: growing_width.Config) -> None:
    """Draw the rows of bars, two where the alternative is scaling itself. A slider that is let go keeps its value."""
    alternative = ALTERNATIVES[config.alternative]
    film = width_film(config.n_keys, config.seed, config.d_k)

    def on_release(pick: softmax_slider.Release) -> None:
        picked: dict[Choice[Any], Any] = {choices.D_K: pick.d_k}
        if alternative.parameter:
            picked[choices.PARAMETERS[alternative.id]] = pick.parameter
        link_state.set_many(picked)

    softmax_slider.softmax_slider(
        key,
        film.d_k,
        film.scores,
        slider_panels(dict.fromkeys(("raw", "sqrt", alternative.id))),
        at=config.d_k,
        cosines=film.cosines if alternative.id == "qk-norm" else None,
        parameter=_slider(config),
        about=alternative.id,
        on_pick=on_release,
    )


def _slider(config: growing_width.Config) -> softmax_slider.SliderParameter | None:
    """The slider of the alternative's own number, if it has one."""
    alternative = ALTERNATIVES[config.alternative]
    if not alternative.parameter:
        return None
    return softmax_slider.SliderParameter(
        alternative.parameter, config.parameter, alternative.low, alternative.high, linear=alternative.low < 0
    )


def bars_figure(config: growing_width.Config) -> SceneFigure:
    """The bars for export, at the value at which the slider was released. The film has all values."""
    film = width_film(config.n_keys, config.seed, config.d_k)
    at = film.d_k.tolist().index(config.d_k)
    cosines = film.cosines if config.alternative == "qk-norm" else None
    panels = slider_panels(dict.fromkeys(("raw", "sqrt", config.alternative)))
    film_figure = softmax_slider.SoftmaxFigure(
        film.scores, panels, config.d_k, cosines, _slider(config), film.d_k.tolist()
    )
    current = replace(film_figure, scores=film.scores[at], cosines=None if cosines is None else cosines[at], widths=())
    return SceneFigure((current,), film=film_figure)


def bars_footer(key: str, result: growing_width.Result, caption: str) -> None:
    """Draw the sentence and the export below the bars, for the value at which the slider was released."""
    config = result.config
    table: dict[str, Any] = {"key": range(1, config.n_keys + 1)}
    for name, row in result.rows.items():
        table |= {f"{name}_logit": row.logits, f"{name}_weight": row.weights}
    show.footer(
        lambda: bars_figure(config),
        name=f"weights-dk{config.d_k}",
        key=key + "_picture",
        canvas=show.live_canvas(key),
        table=table,
        caption=caption,
        sentence=caption,
    )
