"""Section 5: prefill is bound by computing, decode by reading: the roofline of a machine."""

from typing import cast

import streamlit as st

from attnviz.app import live_run, page_parts, show, widgets
from attnviz.app.cache.shared_results import shared
from attnviz.app.text import escape_markdown
from attnviz.base import units
from attnviz.base.rounding import Rounded
from attnviz.base.words import _
from attnviz.core.costs import Machine
from attnviz.models.architecture import gpus
from attnviz.models.settings import current_settings
from attnviz.pages.decoding import choices, figures
from attnviz.pages.decoding.maths import decoding_snippets, prefill_and_decode
from attnviz.pages.decoding.panels import decoder_form

KEY = "d_measuring"


def panel() -> None:
    main_picture = page_parts.main_picture()
    which, where = st.columns(2, vertical_alignment="bottom")
    with which:
        name = decoder_form.choose()
    timings = _stored_or_measured_timings(name)
    with where:
        chosen = widgets.select_one(
            choices.MACHINE,
            _("Machine"),
            {choices.HERE: _("this server, measured")} | {gpu: gpu_machine.name for gpu, gpu_machine in gpus().items()},
            style="select",
            usual="a100-80gb" if timings is None else choices.HERE,
        )
    if chosen == choices.HERE and timings is None:
        st.info(
            _("The owner of this server has not measured it. Choose another machine above.")
            if current_settings().hosted
            else _("Nothing has been measured on this machine yet. It takes a few seconds.")
        )
        return
    if chosen == choices.HERE and timings is not None:
        machine, points = timings.machine, timings.points
        _draw_machine(machine)
    else:
        machine, points = gpus()[chosen].machine, time_formula(decoder_form.decoder_key(name))
        st.caption(
            _("By formula at 16 bits, from the maker’s numbers: no pass was run on it. Source: {source}.").format(
                source=escape_markdown(gpus()[chosen].source)
            )
        )
    with main_picture:
        _draw_roofline(machine, points, chosen)
    _draw_table(machine, points)
    show.program(
        decoding_snippets.roofline_program(machine, points),
        "decoding-speed",
        about=_("Paste this code into a notebook: it prints the FLOPs a byte of each pass, and its time at best."),
    )


@shared
def time_formula(identity: tuple[str, str]) -> tuple[prefill_and_decode.PassPoint, ...]:
    return prefill_and_decode.ideal_passes(decoder_form.get_decoder(identity[0]), 2)


def _stored_or_measured_timings(name: str) -> prefill_and_decode.MachineTimings | None:
    """The stored measurement, or None. Draws the button that measures, unless the server is hosted."""
    timings = prefill_and_decode.find_measurement(name)
    if current_settings().hosted:
        return timings
    if st.button(
        _("Measure on this machine") if timings is None else _("Measure again"),
        icon=":material/timer:",
        key="d_measure",
    ):
        st.session_state[KEY] = name
    if st.session_state.get(KEY) == name:
        live = live_run.advance(
            "speed",
            (decoder_form.decoder_key(name), None if timings is None else timings.points),
            lambda: prefill_and_decode.measure(decoder_form.get_decoder(name)),
            lambda measured: measured.done,
        )
        n, every = len(live.result.points), live.result.total
        live_run.draw_progress("speed", live, n / every, _("pass {n} of {all}").format(n=n, all=every))
        live_run.rerun_if_running(live)
        if not live.stopped:
            st.session_state.pop(KEY)
            prefill_and_decode.store_measurement(name, live.result)
            st.rerun()  # the button above was drawn before there was a measurement
    return timings


def _draw_machine(machine: Machine) -> None:
    peak, bandwidth, ridge = st.columns(3)
    peak.metric(
        _("Peak, measured"), f"{Rounded(machine.peak / 1e9):,.1f} GFLOP/s", help=_("A product of two square matrices.")
    )
    bandwidth.metric(
        _("Bandwidth, measured"), f"{Rounded(machine.bandwidth / 1e9):,.1f} GB/s", help=_("A matrix times one vector.")
    )
    ridge.metric(
        _("Both are busy at"),
        _("{n:.1f} FLOPs a byte").format(n=machine.peak / machine.bandwidth),
        help=_("With fewer, reading takes longer than computing; with more, computing does."),
    )


def _draw_roofline(machine: Machine, points: tuple[prefill_and_decode.PassPoint, ...], where: str) -> None:
    points_by_kind = {}
    for kind in ("prefill", "decode"):
        kind_points = [point for point in points if point.kind == kind]
        points_by_kind[kind] = (
            [point.intensity for point in kind_points],
            [point.flops / _pass_seconds(point, machine) for point in kind_points],
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
            "seconds": [_pass_seconds(point, machine) for point in points],
        },
    )


def _label_points(kind: str, points: list[prefill_and_decode.PassPoint]) -> list[str]:
    """Labels of the points: tokens of each prompt. Decode's points lie close together and share one."""
    if kind == "prefill":
        return [str(point.tokens) for point in points]
    contexts = [point.context - 1 for point in points]
    return [f"{min(contexts)}…{max(contexts)}", *[""] * (len(points) - 1)]


def _pass_seconds(point: prefill_and_decode.PassPoint, machine: Machine) -> float:
    """Seconds measured, or the shortest time possible."""
    return point.seconds if point.seconds is not None else point.best_case(machine).seconds


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
        each=units.duration(_pass_seconds(prefill, machine) / prefill.tokens),
        alone=units.duration(_pass_seconds(decode, machine)),
        times=_pass_seconds(decode, machine) * prefill.tokens / _pass_seconds(prefill, machine),
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
        | ({} if point.seconds is None else {_("measured"): units.duration(point.seconds)})
        for point in points
    ]
    show.draw_table(show.to_columns(rows))


def _round_to_three_digits(value: float) -> float:
    return float(f"{Rounded(value):.3g}".replace(",", ""))
