"""Section 1: from products that spread to a gradient that dries up, and the same counted on many pairs and rows."""

from typing import Any

from attnviz.app import page_parts, show
from attnviz.app.links import link_state
from attnviz.base.rounding import Rounded
from attnviz.base.words import _
from attnviz.canvas import score_walk
from attnviz.live.scene_figure import SceneFigure
from attnviz.pages.scaling import choices
from attnviz.pages.scaling.maths import growing_width
from attnviz.pages.scaling.panels import saturation, scaling_form, variance


def panel() -> str:
    """Draw the section; the program that prints its numbers."""
    picture_slot = page_parts.main_picture()
    spread_config, n_keys = variance.draw_controls()
    config = growing_width.Config(spread_config.d_k, n_keys, spread_config.seed, "sqrt", 1.0)
    with picture_slot:
        _draw_walk(config)
    saturation_program = saturation.draw_measures(config)
    return f"{variance.draw(spread_config)}\n\n{saturation_program}"


def _draw_walk(config: growing_width.Config) -> None:
    film = scaling_form.width_film(config.n_keys, config.seed, config.d_k)
    raw, scaled = saturation.measure_schemes(config).values()
    medians = (raw.d_k, raw.rows, raw.bands["jacobian"].middle, scaled.bands["jacobian"].middle)
    figure = score_walk.ScoreWalkFigure(film.d_k, film.scores, film.d_k.tolist().index(config.d_k), medians)

    def on_release(at: int) -> None:
        link_state.set_and_push(choices.D_K, int(film.d_k[at]))

    score_walk.score_walk("s_walk", figure, on_release=on_release)
    result = scaling_form.one_query_result(config)
    caption = describe_row(result)
    table: dict[str, Any] = {"key": range(1, config.n_keys + 1)}
    for name, row in result.rows.items():
        table |= {f"{name}_logit": row.logits, f"{name}_weight": row.weights}
    show.footer(
        lambda: SceneFigure((figure,), film=figure),
        name=f"scaling-dk{config.d_k}",
        key="s_walk_picture",
        canvas=show.live_canvas("s_walk"),
        table=table,
        caption=caption,
        sentence=caption,
    )


def describe_row(result: growing_width.Result) -> str:
    """The sentence under the picture: the largest weight and what softmax lets through, raw and scaled."""
    config, raw, scaled = result.config, result.raw, result.scaled
    return _(
        "**Scores are random (seed {seed}).** At d_k = {d_k} the raw row gives {raw:.1%} to one of the keys (n = {n}), "
        "the scaled row {scaled:.1%}. Of a small change in the scores softmax lets through {norm_raw:.3f} raw "
        "and {norm_scaled:.3f} scaled (the norm of its Jacobian)."
    ).format(
        seed=config.seed,
        d_k=config.d_k,
        n=config.n_keys,
        raw=raw.largest,
        scaled=scaled.largest,
        norm_raw=Rounded(raw.jacobian),
        norm_scaled=Rounded(scaled.jacobian),
    )
