"""Section 4: why the maximum is subtracted, and what running sums and their rescaling do to rounding."""

import math

import streamlit as st

from attnviz.app import page_parts, show, widgets
from attnviz.app.cache.shared_results import shared
from attnviz.base import units
from attnviz.base.rounding import Rounded
from attnviz.base.words import _, join_sentences
from attnviz.figures.cost_charts import draw_byte_curves
from attnviz.figures.theme import Figure
from attnviz.pages.fast import choices
from attnviz.pages.fast.maths import numerics

LARGEST = 65504  #: of float16
cached_run = shared(numerics.run)


def panel() -> None:
    """Draw the section."""
    container = page_parts.main_picture()
    with page_parts.paired_columns("fast-numerics"):
        size = widgets.slider(
            choices.SCORES, _("How large scores are"), step=0.5, help=_("The standard deviation of a score.")
        )
        block = widgets.select_one(choices.BLOCK_ROUNDED, _("Keys in a tile"), choices.BLOCK_IDS)
        with page_parts.more_menu():
            seed = widgets.number_box(choices.SEED, _("Scores: random, seed"), step=1)
    result = cached_run(numerics.Config(size, int(block), seed))
    with container:
        show.figure(
            error_curves(result),
            name=f"rounding-scores-{size:g}-tile-{block}",
            key="fast-rounding",
            sentence=_describe_errors(result),
            table={"keys": list(numerics.LENGTHS), **_error_lines(result)},
        )
    _draw_log_sums(result)


def _error_lines(result: numerics.Result) -> dict[str, list[float | None]]:
    """Errors of each way by its label, one per length; None where a sum is not finite."""
    names = {
        "float32": _("float32, in tiles"),
        "mixed": _("bfloat16 weights, float32 sums"),
        "bfloat16": _("bfloat16 sums"),
        "float16": _("float16 sums"),
        "bfloat16-raw": _("bfloat16, no maximum"),
        "float16-raw": _("float16, no maximum"),
    }
    errors = {_("float32, the whole row at once"): result.whole_row_errors}
    errors |= {name: result.errors[way] for way, name in names.items()}
    return {name: [None if math.isnan(error) else float(error) for error in values] for name, values in errors.items()}


def error_curves(result: numerics.Result) -> Figure:
    """Draw the error of each way over the number of keys."""
    titles = (_("keys of a row"), _("error of the output"))
    return show.chart_of(
        draw_byte_curves,
        numerics.LENGTHS,
        _error_lines(result),
        *titles,
        here=None,
        text="{:.1e}".format,
        dots=True,
        height=420,
    )


def _describe_errors(result: numerics.Result) -> str:
    most, ends = numerics.LENGTHS[-1], result.first_lost_length("float16-raw")
    errors = {way: errors[-1] for way, errors in result.errors.items()}
    if ends is None:
        lost = _("Without the maximum float16 still has numbers: no sum reaches 65,504. Make scores larger.")
    else:
        power = math.exp(result.largest[numerics.LENGTHS.index(ends)])
        lost = (
            _("Without the maximum float16 loses a row by {n:,} keys: one e^x alone is {power:.2g}, above 65,504.")
            if power > LARGEST
            else _(
                "Without the maximum float16 loses a row by {n:,} keys: a sum passes 65,504, though no e^x is above "
                "{power:,.0f}."
            )
        ).format(n=ends, power=power)
    rescaled = _(
        "At {n:,} keys in {tiles:,} tiles a row is rescaled {times:,} times at most. Float32 is off by {tiled:.1e} so, "
        "by {whole:.1e} for the whole row at once."
    ).format(
        n=most,
        tiles=most // result.config.block,
        times=result.rescaled,
        tiled=errors["float32"],
        whole=result.whole_row_errors[-1],
    )
    rounded = _(
        "Sums kept in bfloat16 are off by **{low:.1%}**, the same weights summed in float32 by {mixed:.2%}."
    ).format(low=errors["bfloat16"], mixed=errors["mixed"])
    return join_sentences(lost, rescaled, rounded)


def _draw_log_sums(result: numerics.Result) -> None:
    """Draw a table of one log-sum-exp in both 16-bit formats, with and without the maximum subtracted."""
    sums = result.log_sums
    st.markdown(
        _(
            "The same row of {n:,} keys, the logarithm of its sum of exponentials; in float64 it is {exact:.4f}. Its "
            "scores and those of the other rows reach {largest:.1f}."
        ).format(n=numerics.LENGTHS[-1], exact=result.exact_log_sum, largest=result.largest[-1])
    )
    formats = ("bfloat16", "float16")
    show.table_with_downloads(
        {
            _("format"): list(formats),
            _("maximum subtracted"): [_format_logarithm(sums[name]) for name in formats],
            _("not subtracted"): [_format_logarithm(sums[f"{name}-raw"]) for name in formats],
        },
        "log-sum-exp",
        "fast-log-sums",
    )


def _format_logarithm(value: float) -> str:
    """Format a logarithm with ∞ on screen; files hold inf, which pandas, NumPy and R can parse."""
    return units.format_quantity(f"{Rounded(value):.4f}".replace("inf", "∞"), value, "")
