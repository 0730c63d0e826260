"""Of section 2: prefill is bound by computing, decode by reading, under the roofline of a machine."""

from typing import cast

import streamlit as st

from attnviz.app import show, widgets
from attnviz.app.cache.shared_results import shared
from attnviz.app.text import escape_markdown
from attnviz.base import units
from attnviz.base.rounding import Rounded
from attnviz.base.words import _
from attnviz.core.costs import Machine
from attnviz.models.architecture import gpus
from attnviz.pages.decoding import choices, figures
from attnviz.pages.decoding.maths import decoding_snippets, prefill_and_decode
from attnviz.pages.decoding.panels import decoder_form


def draw_passes(name: str) -> None:
    """Draw prefill and decode of a decoder under the roofline of a machine."""
    st.subheader(_("Prefill and decode"), anchor=False)
    picture = st.container()
    machines = {gpu: machine.name for gpu, machine in gpus().items()}
    chosen = widgets.select_one(choices.MACHINE, _("Machine"), machines, style="select", width=280)
    gpu, points = gpus()[chosen], time_formula(decoder_form.decoder_key(name))
    with picture:
        _draw_roofline(gpu.machine, points, chosen)
    source = _("By formula at 16 bits, from the maker’s numbers: no pass was run on it. Source: {source}.")
    st.caption(source.format(source=escape_markdown(gpu.source)))
    _draw_table(gpu.machine, points)
    show.program(
        decoding_snippets.roofline_program(gpu.machine, points),
        "decoding-speed",
        about=_("Paste this code into a notebook: it prints the FLOPs a byte of each pass, and its time at best."),
    )


@shared
def time_formula(identity: tuple[str, str]) -> tuple[prefill_and_decode.PassPoint, ...]:
    return prefill_and_decode.ideal_passes(decoder_form.get_decoder(identity[0]), 2)


def _draw_roofline(machine: Machine, points: tuple[prefill_and_decode.PassPoint, ...], where: str) -> None:
    points_by_kind = {}
    for kind in ("prefill", "decode"):
        kind_points = [point for point in points if point.kind == kind]
        points_by_kind[kind] = (
            [point.intensity for point in kind_points],
            [point.flops / point.best_case(machine).seconds for point in kind_points],
            _label_points(kind, kind_points),
        )
    show.figure(
        show.chart_of(figures.roofline, machine.peak, machine.bandwidth, points_by_kind),
        name=f"roofline-{where}",
        key="d_roofline",
        sentence=_roofline_caption(machine, points),
        table={
            "pass": [point.kind for point in points],
            "new tokens": [point.tokens for point in points],
            "context": [point.context for point in points],
            "FLOPs": [point.flops for point in points],
            "bytes": [point.nbytes for point in points],
            "seconds": [point.best_case(machine).seconds for point in points],
        },
    )


def _label_points(kind: str, points: list[prefill_and_decode.PassPoint]) -> list[str]:
    """Labels of the points: tokens of each prompt. Decode's points lie close together and share one."""
    if kind == "prefill":
        return [str(point.tokens) for point in points]
    contexts = [point.context - 1 for point in points]
    return [f"{min(contexts)}…{max(contexts)}", *[""] * (len(points) - 1)]


def _roofline_caption(machine: Machine, points: tuple[prefill_and_decode.PassPoint, ...]) -> str:
    prefill = max((p for p in points if p.kind == "prefill"), key=lambda p: p.tokens)
    decode = min((p for p in points if p.kind == "decode"), key=lambda p: p.context)
    limits = {"compute": _("computing"), "memory": _("reading")}
    return _(
        "A prompt of {tokens:,} tokens reads each weight once for all of them: **{high:,g}** FLOPs a byte, bound by "
        "{first}, {each} a token. One decoded token reads just as many weights for itself: **{low:.2g}**, bound by "
        "{second}, **{alone}**, {times:.1f} times as long. Above {ridge:.3g} FLOPs a byte this machine computes longer "
        "than it reads."
    ).format(
        tokens=prefill.tokens,
        high=_round_to_three_digits(prefill.intensity),
        low=decode.intensity,
        first=limits[cast(str, prefill.best_case(machine).bound)],
        second=limits[cast(str, decode.best_case(machine).bound)],
        each=units.duration(prefill.best_case(machine).seconds / prefill.tokens),
        alone=units.duration(decode.best_case(machine).seconds),
        times=decode.best_case(machine).seconds * prefill.tokens / prefill.best_case(machine).seconds,
        ridge=machine.peak / machine.bandwidth,
    )


def _draw_table(machine: Machine, points: tuple[prefill_and_decode.PassPoint, ...]) -> None:
    kinds = {"prefill": _("prefill"), "decode": _("decode")}
    limits = {"compute": _("computing"), "memory": _("reading")}
    rows: list[dict[str, object]] = [
        {
            _("pass"): kinds[point.kind],
            _("new tokens"): point.tokens,
            _("in the cache before"): point.context - point.tokens,
            _("work"): units.flop(point.flops),
            _("read"): units.binary(point.nbytes),
            _("FLOPs a byte"): _round_to_three_digits(point.intensity),
            _("at best"): units.duration(point.best_case(machine).seconds),
            _("bound by"): limits[point.best_case(machine).bound],
        }
        for point in points
    ]
    show.draw_table(show.to_columns(rows))


def _round_to_three_digits(value: float) -> float:
    return float(f"{Rounded(value):.3g}".replace(",", ""))
