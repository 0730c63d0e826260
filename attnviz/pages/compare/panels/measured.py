"""Section 2: time and memory of torch's layers over the length, prepared or measured on this server."""

import threading
from contextlib import closing

import numpy as np
import streamlit as st

from attnviz.analysis import own_process
from attnviz.app import page_parts, show, widgets
from attnviz.app.cache.shared_results import finished_results
from attnviz.app.panel import show_problems
from attnviz.app.text import translate_markdown
from attnviz.base import units
from attnviz.base.rounding import Rounded
from attnviz.base.words import _, join_sentences
from attnviz.models.settings import current_settings
from attnviz.pages.compare import choices, figures
from attnviz.pages.compare.maths import layer_costs, layer_timing

PARTIAL = "c_measured_so_far"  #: the session's measurements that were stopped


ONE_AT_A_TIME = threading.Lock()  #: held while this machine is measured: two at once would measure each other


def panel() -> None:
    main_picture = page_parts.main_picture()
    result, config = _choose_result()
    with show_problems():
        if result is not None:
            with main_picture:
                curves = _draw_charts(result)
            _draw_table(result, curves)
    show.program(
        layer_timing.program(config),
        "c-measured",
        _("Measure it yourself"),
        _("Paste this code into a notebook: it measures the same layers on your machine."),
    )


def _choose_result() -> tuple[layer_timing.Result | None, layer_timing.Config]:
    """Draw the choices. Returns the result or None, and the configuration of the program."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        one_pass = widgets.select_one(
            choices.PASS, _("One pass"), {"forward": _("forward"), "training": _("forward and backward")}
        )
        d = int(widgets.select_one(choices.WIDTH, _("width d"), {str(d): str(d) for d in layer_timing.WIDTHS}))
        where = widgets.select_one(
            choices.WHERE, _("Measured"), {"prepared": _("prepared"), "here": _("on this server")}
        )
    if where == "prepared":
        result = layer_timing.load_prepared()[d, one_pass == "training"]
        return result, result.config
    return _choose_measurement(d, one_pass == "training")


def _choose_measurement(d: int, training: bool) -> tuple[layer_timing.Result | None, layer_timing.Config]:
    """A measurement of this server, or None; draws the button that measures, or says why there is none."""
    if current_settings().hosted:
        st.info(
            _(
                "This server is shared: measuring would slow everybody down, so visitors cannot start it. “Prepared” "
                "shows what another machine measured, and the code below measures yours."
            )
        )
        return None, layer_timing.Config(d=d, training=training, longest=2048)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        lengths = {name: f"{int(name):,}" for name in choices.LONGEST.ids}
        longest = int(widgets.select_one(choices.LONGEST, _("Longest sequence, tokens"), lengths, style="select"))
        config = layer_timing.Config(d=d, training=training, longest=longest)
        known: layer_timing.Result | None = finished_results("c-measured").find(config)
        clicked = st.button(
            _("Measure again") if known else _("Measure on this server"),
            type="primary",
            icon=":material/timer:",
            key="c_measure",
        )
    if clicked:
        return _measure_live(config), config
    if known is not None:
        return known, config
    partial = st.session_state.get(PARTIAL)
    if partial is None or partial.config != config:
        st.info(_("Nothing of this configuration has been measured on this server yet."))
        return None, config
    st.caption(_("Stopped after {done} of {of} measurements.").format(done=len(partial.timings), of=partial.total))
    return partial, config


def _measure_live(config: layer_timing.Config) -> layer_timing.Result | None:
    """Measure with a progress bar and a stop. None if another visitor is measuring.

    Pressing Stop reruns the page, which finds the partial result in the session.
    """
    if not ONE_AT_A_TIME.acquire(blocking=False):
        st.warning(_("Another visitor is measuring this server. Two measurements would disturb each other."))
        return None
    try:
        at = st.empty()
        with at.container(horizontal=True, vertical_alignment="center"):
            st.button(_("Stop"), icon=":material/stop:", key="c_measure_stop")
            bar = st.progress(0.0)
        with closing(own_process.results(layer_timing, "measure", config)) as results:
            for result in results:
                st.session_state[PARTIAL] = result
                last = result.timings[-1]
                bar.progress(
                    len(result.timings) / result.total,
                    _("{name}, {n:,} tokens: {time}").format(
                        name=figures.kind_names()[last.way], n=last.n, time=units.duration(last.seconds)
                    ),
                )
        at.empty()
    finally:
        ONE_AT_A_TIME.release()
    finished_results("c-measured").forget(config)
    finished_results("c-measured").get(config, lambda: result)
    return result


def _draw_charts(result: layer_timing.Result) -> list[str]:
    """Draw time and memory; the kinds of layers that were measured."""
    names, config = figures.kind_names(), result.config
    curves = {kind: result.curve(kind) for kind in layer_timing.KINDS if len(result.curve(kind)[0])}
    seconds = [
        figures.KindCurve(kind, names[kind], n, layer_seconds, True, _fit_line(n, layer_seconds))
        for kind, (n, layer_seconds, _peak) in curves.items()
    ]
    nbytes = [
        figures.KindCurve(kind, names[kind], n, peak.clip(1), True, _fit_line(n, peak))
        for kind, (n, _seconds, peak) in curves.items()
    ]
    about = f"d{config.d}-{'training' if config.training else 'forward'}"
    table = {
        "layer": [row.way for row in result.timings],
        "n": [row.n for row in result.timings],
        "seconds": [row.seconds for row in result.timings],
        "bytes": [row.nbytes for row in result.timings],
    }
    page_parts.draw_columns(
        lambda: show.figure(
            show.chart_of(figures.draw_curves, seconds, _("Seconds of one pass"), _("tokens n"), unit="s", height=400),
            name=f"time-{about}",
            key="c-time",
            table=table,
            sentence=_time_caption(result),
        ),
        lambda: show.figure(
            show.chart_of(
                figures.draw_curves, nbytes, _("Memory at its peak"), _("tokens n"), unit="B", binary=True, height=400
            ),
            name=f"memory-{about}",
            key="c-memory",
            table=table,
            sentence=_memory_caption(result),
        ),
    )
    return list(curves)


def _draw_table(result: layer_timing.Result, kinds: list[str]) -> None:
    """Draw the numbers of each kind, what measured them, and what not to fall for."""
    config = result.config
    about = f"d{config.d}-{'training' if config.training else 'forward'}"
    show.table_with_downloads(
        show.to_columns([_table_row(result, kind) for kind in kinds]), f"measured-{about}", "c-measured-rows"
    )
    st.caption(
        _(
            "Measured on: {machine}. Batch 1, d = {d}, {heads} heads, kernel {k}; the fastest of several rounds. "
            "Exponents are fitted from the longest sequence down to an eighth of it: the broad bands."
        ).format(machine=translate_markdown(result.machine.description), d=config.d, heads=config.heads, k=config.k)
    )
    st.caption(
        _(
            "Two traps. nn.LSTM on a CPU runs in one fused kernel and nn.GRU step by step, so that the GRU, with three "
            "gates instead of four, can be the slower one. And nn.MultiheadAttention in eval() without gradients "
            "takes a fast path that builds the n × n weights; the fused line here is the path of train()."
        )
    )


def _fit_line(n: np.ndarray, values: np.ndarray) -> np.ndarray | None:
    """The fitted power law between its ends, (2, 2)."""
    late = n >= n.max() / layer_timing.FITTED_SPAN
    if late.sum() < 3:
        return None
    p = layer_timing.fit_exponent(n[late], values[late])
    middle = np.log(np.maximum(values[late], 1e-12)).mean() - p * np.log(n[late]).mean()
    ends = np.array([n[late].min(), n[late].max()], dtype=float)
    return np.stack([ends, np.exp(middle) * ends**p], 1)


def _time_caption(result: layer_timing.Result) -> str:
    explicit, lstm = (result.exponents(kind) for kind in ("explicit", "lstm"))
    if explicit is None or lstm is None:
        return _("An exponent needs three lengths.")
    growth = _("Time grows as {attention} for attention with its weights built and as {lstm} for the LSTM.").format(
        attention=f"$n^{{{Rounded(explicit[0]):.2f}}}$", lstm=f"$n^{{{Rounded(lstm[0]):.2f}}}$"
    )
    return join_sentences(growth, _fused_caption(result))


def _fused_caption(result: layer_timing.Result) -> str:
    """Lengths at which fused attention is faster than the LSTM."""
    n, times = result.time_ratio("fused", "lstm")
    crossed = result.find_crossover("fused", "lstm")
    if (times <= 1).all():
        return _("Up to {n:,} tokens fused attention is never slower than the LSTM.").format(n=int(n.max()))
    if (times > 1).all():
        return _("From {first:,} to {last:,} tokens fused attention is slower than the LSTM at every length.").format(
            first=int(n.min()), last=int(n.max())
        )
    if crossed is None or times[n < crossed].max() > 1:
        return _("Fused attention is faster than the LSTM at {some} of {all} lengths.").format(
            some=int((times <= 1).sum()), all=len(n)
        )
    equal_flops = layer_costs.find_crossing("lstm", layer_costs.Config(d=result.config.d)).position
    return _(
        "Fused attention is faster than the LSTM up to about **{at:,.0f}** tokens; by FLOPs alone it would be up to "
        "{flops:,}."
    ).format(at=crossed, flops=int(equal_flops or 0))


def _memory_caption(result: layer_timing.Result) -> str:
    explicit, fused = (
        {row.n: row.nbytes for row in result.timings if row.way == kind} for kind in ("explicit", "fused")
    )
    n = max(explicit.keys() & fused.keys(), default=None)
    if n is None:  # a measurement that was stopped
        return ""
    return _(
        "At {n:,} tokens the built weights need **{explicit}**, fused attention **{fused}**: the same numbers, "
        "block by block."
    ).format(n=n, explicit=units.binary(explicit[n]), fused=units.binary(fused[n]))


def _table_row(result: layer_timing.Result, kind: str) -> dict[str, object]:
    n, seconds, nbytes = result.curve(kind)
    fitted = result.exponents(kind)
    time, memory, flops = (f"n^{Rounded(value):.2f}" for value in fitted) if fitted else ("", "", "")
    done = layer_timing.flops_of(kind, int(n[-1]), result.config) / seconds[-1] / 1e9
    return {
        _("layer"): figures.kind_names()[kind],
        _("longest n"): int(n[-1]),
        _("time there"): units.duration(float(seconds[-1])),
        _("time grows as"): time,
        _("FLOPs grow as"): flops,
        _("GFLOP a second"): "" if result.config.training else f"{Rounded(done):.3g}",
        _("memory there"): units.binary(int(nbytes[-1])),
        _("memory grows as"): memory,
    }
