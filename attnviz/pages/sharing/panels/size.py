"""The view “Size it”: whether model and cache fit a machine, how long a context fits, and how fast it can decode."""

from dataclasses import replace
from typing import cast

import streamlit as st

from attnviz.app import page_parts, show, widgets
from attnviz.app.cache.shared_results import shared
from attnviz.app.links import link_state
from attnviz.base import units
from attnviz.base.rounding import Rounded
from attnviz.base.words import _, join_sentences, ngettext
from attnviz.core.costs import Machine
from attnviz.core.precision import DTYPES, stored_bytes
from attnviz.figures import cost_charts
from attnviz.models.architecture import (
    CONVENTIONS,
    FARTHEST,
    GIB,
    Architecture,
    Convention,
    Deployment,
    Size,
    gpus,
    size_deployment,
)
from attnviz.pages.sharing import choices, figures
from attnviz.pages.sharing.panels import sharing_programs
from attnviz.pages.sharing.panels.architecture_form import (
    ChosenArchitecture,
    draw_agreement,
    draw_architecture_form,
    draw_number_boxes,
)

RECENT = 128  #: most recent tokens that a quantised cache of transformers keeps at 16 bits
BATCHES = [2**i for i in range(13)]


def panel() -> None:
    picture_slot = page_parts.main_picture()
    chosen = draw_architecture_form()
    how, machine = _draw_deployment_form(chosen.arch), _draw_machine_form()
    _draw_format_note(chosen.arch, how)
    if chosen.arch.decodes:
        size = cached_size(chosen.arch, chosen.counts, how, machine)
        with picture_slot:
            _memory(size.weight_bytes, size.cache_bytes, machine)
            is_custom = link_state.value(choices.WAY) == "own"  # a shape that nobody has trained for any length
            _verdict(size, machine, None if is_custom else chosen.arch.max_context)
        _draw_conventions(chosen, how, machine)
        _roofline(chosen, how, machine, size)
        code = sharing_programs.size_program(chosen.code, chosen.counts, how, machine)
    else:
        _encoder(chosen, how, machine)
        code = sharing_programs.encoder_program(chosen.counts, how, machine)
    show.program(code, "h-size")


cached_size = shared(size_deployment)


def _draw_deployment_form(arch: Architecture) -> Deployment:
    columns = st.columns(4)
    context, batch = draw_number_boxes(
        {choices.CONTEXT: _("Tokens of context"), choices.BATCH: _("Batch")}, columns[:2]
    )
    names = {dtype: dtype for dtype in DTYPES}
    with columns[2]:
        weights = widgets.select_one(choices.WEIGHTS_DTYPE, _("Weights"), names, style="select")
    with columns[3]:
        cache = widgets.select_one(choices.CACHE_DTYPE, _("Cache"), names, style="select")
    with page_parts.more_menu():
        group, convention, hybrid = _draw_rare_settings(weights, cache)
    return Deployment(context, batch, weights, cache, group, convention, hybrid, arch.encoder_tokens(context))


def _draw_rare_settings(weights: str, cache: str) -> tuple[int, Convention, bool]:
    """Draw the rare settings; return numbers per scale, the cache's convention, and hybrid management."""
    grouped = weights in ("int8", "int4", "int2") or cache in ("int8", "int4", "int2")
    group = widgets.number_box(choices.NUMBERS_PER_SCALE, _("Numbers per scale"), step=1) if grouped else 64
    convention = cast(
        Convention,
        widgets.select_one(
            choices.CONVENTION,
            _("Count the cache as"),
            {"ideal": _("ideal"), "transformers": _("transformers"), "paged": _("paged server")},
        ),
    )
    hybrid = convention != "paged" or widgets.toggle(
        choices.HYBRID,
        _("The server manages windowed layers separately"),
        help=_("A server that does not do this allocates the whole context for them."),
    )
    return group, convention, hybrid


def _draw_format_note(arch: Architecture, how: Deployment) -> None:
    """Draw a caption on what transformers really does with a quantised cache."""
    if how.convention != "transformers" or how.cache_dtype in ("float32", "float16", "bfloat16"):
        return
    if how.cache_dtype not in ("int8", "int4", "int2"):
        st.caption(_("transformers keeps no {dtype} cache; it is counted as if it did.").format(dtype=how.cache_dtype))
        return
    recent = min(how.context, RECENT)
    full, small = (arch.kv_cache_bytes(recent, how.batch, d, group=how.group) for d in ("bfloat16", how.cache_dtype))
    st.caption(
        _("While decoding, quanto and hqq keep up to {n} recent tokens at 16 bits: up to {more} more.").format(
            n=recent, more=units.decimal_and_binary(full - small)
        )
    )


def _draw_machine_form() -> Machine:
    names = {name: gpu.name for name, gpu in gpus().items()} | {choices.TYPED: _("typed by you")}
    which, rest = st.columns([1.2, 2.4], vertical_alignment="bottom")
    with which:
        name = widgets.select_one(choices.MACHINE, _("Machine"), names, style="select")
    with rest:
        if name != choices.TYPED:
            gpu = gpus()[name]
            st.caption(
                _("{memory} GiB, {bandwidth} GB/s, {peak} TFLOP/s dense at 16 bits. Source: {source}.").format(
                    memory=f"{gpu.memory_gib:g}",
                    bandwidth=f"{gpu.gigabytes_per_second:,g}",
                    peak=f"{gpu.teraflops:,g}",
                    source=gpu.source,
                )
            )
            return gpu.machine
        gib, gbs, tflops = draw_number_boxes(
            {
                choices.MEMORY_GIB: _("Memory, GiB"),
                choices.GIGABYTES_PER_SECOND: _("Bandwidth, GB/s"),
                choices.TERAFLOPS: _("Peak, TFLOP/s"),
            }
        )
    return Machine(tflops * 10**12, gbs * 10**9, gib * GIB)


def _verdict(size: Size, machine: Machine, made_for: int | None) -> None:
    if size.fits:
        text = _("It fits: weights and cache take {needed} of {memory}. Nothing else is counted.")
    elif size.weight_bytes > machine.memory:
        text = _("The weights alone need {weights}, and the machine has {memory}.")
    else:
        text = _("It does not fit: weights and cache need {needed}, the machine has {memory}.")
    draw_agreement(
        text.format(
            needed=units.binary(size.weight_bytes + size.cache_bytes),
            weights=units.binary(size.weight_bytes),
            memory=units.binary(machine.memory),
        ),
        size.fits,
    )
    context_column, batch_column, step_column, limit_column = st.columns(4)
    context_column.metric(
        _("Context memory allows"), _number(size.longest_context), help=_("In tokens, at this batch.")
    )
    if made_for:
        context_column.caption(_("The model was made for at most {n} tokens.").format(n=f"{made_for:,}"))
    batch_column.metric(_("Batch memory allows"), _number(size.largest_batch), help=_("At this context."))
    step_column.metric(
        _("One decoding step"),
        units.duration(size.step.seconds) if size.fits else "–",
        help=_(
            "At best: computing {compute}, reading weights and cache {memory}. An embedding that does not also serve "
            "as the output head is not read: only one row of it is looked up."
        ).format(compute=units.duration(size.step.compute_seconds), memory=units.duration(size.step.memory_seconds))
        if size.fits
        else _("Weights and cache do not fit, so that this machine makes no such step."),
    )
    limit_column.metric(
        _("Context where no batch helps"),
        _("none") if size.bandwidth_limit is None else _("{n} tokens").format(n=f"{size.bandwidth_limit:,}"),
        help=_(
            "From this context on, one more sequence takes longer to read than to compute: no batch makes decoding "
            "compute-bound."
        ),
    )


def _number(count: int) -> str:
    return _("no limit") if count >= FARTHEST else f"{count:,}"


def _encoder(chosen: ChosenArchitecture, how: Deployment, machine: Machine) -> None:
    """An encoder has weights to store, and nothing that grows from token to token."""
    weights = stored_bytes(chosen.counts.total, how.weight_dtype, how.group)
    fits = weights <= machine.memory
    text = _("Its weights fit: {weights} of {memory}.") if fits else _("The weights alone need {weights} of {memory}.")
    draw_agreement(text.format(weights=units.binary(weights), memory=units.binary(machine.memory)), fits)
    st.info(
        _(
            "An encoder reads everything at once: it keeps no cache and writes no tokens, so there is no longest "
            "context and no decoding step to work out here."
        )
    )
    _memory(weights, 0, machine)


def _memory(weights: int, cache: int, machine: Machine) -> None:
    free = max(0, machine.memory - weights - cache)
    show.figure(
        show.chart_of(figures.memory_bars, weights, cache, machine.memory),
        name="memory",
        key="h-memory",
        sentence=_("Weights {weights}, cache {cache}, {free} left.").format(
            weights=units.decimal_and_binary(weights), cache=units.decimal_and_binary(cache), free=units.binary(free)
        ),
        table={
            "what": ["weights", "cache", "free", "memory"],
            "bytes": [weights, cache, free, machine.memory],
        },
    )


def _draw_conventions(chosen: ChosenArchitecture, how: Deployment, machine: Machine) -> None:
    """Draw a table of the same deployment counted by each of the three conventions."""
    names = {"ideal": _("ideal"), "transformers": _("what transformers holds"), "paged": _("what a server allocates")}
    rows = [
        (_("counted as"), _("cache"), _("context memory allows"), _("batch memory allows")),
        (":--", "--:", "--:", "--:"),
    ]
    for convention in CONVENTIONS:
        size = cached_size(chosen.arch, chosen.counts, replace(how, convention=convention), machine)
        numbers = _number(size.longest_context), _number(size.largest_batch)
        rows.append((names[convention], units.decimal_and_binary(size.cache_bytes), *numbers))
    st.markdown("\n".join("| " + " | ".join(row) + " |" for row in rows))


def _roofline(chosen: ChosenArchitecture, how: Deployment, machine: Machine, size: Size) -> None:
    st.subheader(_("One decoding step, over the batch"), anchor=False)
    sizes = {batch: cached_size(chosen.arch, chosen.counts, replace(how, batch=batch), machine) for batch in BATCHES}
    steps = {batch: there.step for batch, there in sizes.items() if there.fits}
    if not steps:
        st.info(_("Not even one sequence fits, so that this machine makes no such step."))
        return
    lines = {
        _("reading weights and cache"): [step.memory_seconds for step in steps.values()],
        _("computing"): [step.compute_seconds for step in steps.values()],
    }
    caption = {
        "memory": ngettext(
            "At {context} token a step takes {step}, limited by reading weights and cache: {rate} tokens a second "
            "for each sequence, {all} in all.",
            "At {context} tokens a step takes {step}, limited by reading weights and cache: {rate} tokens a second "
            "for each sequence, {all} in all.",
            how.context,
        ),
        "compute": ngettext(
            "At {context} token a step takes {step}, limited by computing: {rate} tokens a second for each sequence, "
            "{all} in all.",
            "At {context} tokens a step takes {step}, limited by computing: {rate} tokens a second for each sequence, "
            "{all} in all.",
            how.context,
        ),
    }[size.step.bound]
    if not size.fits:
        caption = _("Weights and cache do not fit with a batch of {batch}: steps end at what fits.")
    show.figure(
        show.chart_of(
            cost_charts.draw_byte_curves,
            list(steps),
            lines,
            _("sequences"),
            _("seconds"),
            here=how.batch if size.fits else None,
            text=units.duration,
            dots=len(steps) == 1,  # a line of one point is not seen
            height=290,
        ),
        name=f"decode-step-{chosen.arch.name}",
        key="h-roofline",
        sentence=join_sentences(
            caption.format(
                batch=f"{how.batch:,}",
                context=f"{how.context:,}",
                step=units.duration(size.step.seconds),
                rate=f"{Rounded(size.tokens_per_second):,.1f}",
                all=f"{Rounded(size.tokens_per_second * how.batch):,.0f}",
            ),
            _experts(size) if size.fits else "",
        ),
        table={"batch": list(steps), **lines},
    )


def _experts(size: Size) -> str:
    """A sentence on the experts that one step reads."""
    touched, experts = size.experts
    if not experts:
        return ""
    return _(
        "On average it reads {n} of the {experts} experts of a layer, where each sequence takes its own at random."
    ).format(n=f"{Rounded(touched):.3g}", experts=experts)
