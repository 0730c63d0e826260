"""Section 4: a cache that keeps only some positions; what that does to a real model's predictions."""

from typing import cast

import streamlit as st

from attnviz.app import live_run, page_parts, show, widgets
from attnviz.app.panel import show_notices
from attnviz.base import units
from attnviz.base.rounding import Rounded
from attnviz.base.words import _, join_list, join_sentences
from attnviz.core.cache import EvictionKind
from attnviz.figures.theme import SERIES
from attnviz.pages.decoding import choices, figures
from attnviz.pages.decoding.maths import decoding_snippets, kept_positions
from attnviz.pages.decoding.panels import decoder_form


def policy_names() -> dict[EvictionKind, str]:
    return {
        "full": _("everything"),
        "window": _("sliding window"),
        "sinks": _("sinks and window"),
        "heavy": _("heavy hitters"),
        "random": _("random"),
    }


def panel() -> None:
    place = page_parts.main_picture()
    name, text = decoder_form.choose_with_text()
    with st.container(horizontal=True, vertical_alignment="center"), page_parts.more_menu():
        seed = widgets.number_box(choices.SEED, _("Seed of the random policy"), step=1)
    live = _computed(name, kept_positions.Config(text, seed))
    result = live.result
    show_notices(result.notices)
    n, every = len(result.kept), result.wanted
    live_run.draw_progress("policies", live, n / every, _("policy {n} of {all}").format(n=n, all=every))
    policy, budget = _choose(result)
    with place:
        _curve(result, budget)
    shown = _map(result, policy, budget)
    live_run.rerun_if_running(live)
    _table(result)
    show.program(
        decoding_snippets.policy_program(name, text, result, policy, budget, shown),
        "decoding-policies",
        about=_("Paste this code into a notebook: it prints the numbers of the policy and the budget that are chosen."),
    )


def _computed(name: str, config: kept_positions.Config) -> live_run.LiveRun[kept_positions.Result]:
    """The prepared result of the example, or what has been computed so far of any other."""
    prepared = kept_positions.find(name, config)
    if prepared is not None:
        st.caption(_("Computed beforehand with these weights; any other text is computed now."))
        return live_run.LiveRun(prepared, False, False)
    return live_run.advance(
        "policies",
        (decoder_form.decoder_key(name), config),
        lambda: kept_positions.run(decoder_form.get_decoder(name), config),
        lambda result: result.done,
    )


def _choose(result: kept_positions.Result) -> tuple[EvictionKind, int]:
    """Draw the choice of the policy and the budget on show."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        names = {str(kind): name for kind, name in policy_names().items()}
        kind = cast(EvictionKind, widgets.select_one(choices.POLICY, _("Policy"), names))
        budgets = {str(n): str(n) for n in sorted(result.budgets)}
        return kind, int(widgets.select_one(choices.BUDGET, _("Positions kept"), budgets))


def _curve(result: kept_positions.Result, budget: int) -> None:
    names = policy_names()
    by_kind = {kind: sorted(result.of(kind), key=lambda kept: kept.policy.budget) for kind in kept_positions.POLICIES}
    lines = {
        names[kind]: ([each.policy.budget for each in every], [float(each.moved.kl.mean()) for each in every])
        for kind, every in by_kind.items()
        if every
    }
    here = {kind: kept for kind in kept_positions.POLICIES if (kept := result.at(kind, budget)) is not None}
    if not here:
        return
    show.figure(
        show.chart_of(figures.divergence_over_budget, lines, result.total, budget),
        name="cache-policies",
        key="d_policies",
        words=_(
            "The first {prompt} of {total} {total:token|tokens} are read with everything kept, then each next token "
            "under the "
            "policy. With {budget} {budget:position|positions}, {share:.0%} of the bytes, the next-token distribution "
            "moves on average "
            "by (nats): {moves}. With everything kept by {zero:.1g}."
        ).format(
            zero=result.kept[0].moved.kl.mean(),
            prompt=result.prompt,
            total=result.total,
            budget=budget,
            share=budget / result.total,
            moves=join_list(f"{names[kind]} **{Rounded(kept.moved.kl.mean()):.2g}**" for kind, kept in here.items()),
        ),
        table={
            "policy": [kept.policy.kind for kept in result.kept],
            "positions": [kept.policy.budget for kept in result.kept],
            "bytes": [kept.cache_bytes for kept in result.kept],
            "bytes with all kept": [result.full_bytes for _kept in result.kept],
            "mean KL": [float(kept.moved.kl.mean()) for kept in result.kept],
            "largest KL": [float(kept.moved.kl.max()) for kept in result.kept],
            "same likeliest token": [float(kept.moved.same.mean()) for kept in result.kept],
            "loss": [kept.moved.loss for kept in result.kept],
        },
    )


def _map(result: kept_positions.Result, policy: EvictionKind, budget: int) -> tuple[int, int]:
    """Draw what is kept; the layer and the K/V head that are on show."""
    kept = result.at(policy, budget)
    layer = group = 0
    if kept is None:
        st.caption(_("This policy is still being computed."))
        return layer, group
    if len(kept.positions[0]) > 1:
        with st.container(horizontal=True, vertical_alignment="bottom"):
            last, last_group = (size - 1 for size in kept.positions.shape[:2])
            layer = widgets.number_box(choices.KEPT_LAYER, _("Layer, from 0"), step=1, high=last, width=168)
            group = widgets.number_box(choices.KEPT_GROUP, _("K/V head, from 0"), step=1, high=last_group, width=168)
    positions = kept.positions[layer, group]
    colour = SERIES[list(policy_names()).index(policy) - 1]
    show.figure(
        show.chart_of(figures.kept_map, positions, result.labels[result.prompt :], result.labels, colour),
        name=f"kept-{policy}-{budget}",
        key="d_kept",
        words=join_sentences(
            _kept_words(result, kept, layer, group),
            _(
                "**{saved}** of {full}, at {bits} bits a number, are saved; the likeliest token stays in {same:.0%} of "
                "rows, and the loss on the text goes from {before:.2f} to **{after:.2f}** nats."
            ).format(
                bits=8 * result.number_bytes,
                saved=units.binary(result.full_bytes - kept.cache_bytes),
                full=units.binary(result.full_bytes),
                same=kept.moved.same.mean(),
                before=result.full_loss,
                after=kept.moved.loss,
            ),
        ),
        table={"position": range(result.prompt, result.total), "token": list(result.labels[result.prompt :])}
        | {f"sees {n}": positions[:, n].astype(int).tolist() for n in range(result.total)},
    )
    return layer, group


def _kept_words(result: kept_positions.Result, kept: kept_positions.PolicyResult, layer: int, group: int) -> str:
    if len(kept.positions[0]) > 1:
        text = _(
            "Rows are the tokens read under the policy, coloured what layer {layer}, K/V head {group} still holds for "
            "them; grey is evicted. The first token is held in {first} of {rows} {rows:row|rows}."
        )
    else:
        text = _(
            "Rows are the tokens read under the policy, coloured what every head still holds for them; grey is "
            "evicted. The first token is held in {first} of {rows} {rows:row|rows}."
        )
    held = kept.positions[layer, group, :, 0]
    return text.format(layer=layer, group=group, first=int(held.sum()), rows=len(held))


def _table(result: kept_positions.Result) -> None:
    names = policy_names()
    with st.expander(_("All policies and budgets")):
        show.draw_table(
            show.to_columns(
                [
                    {
                        _("policy"): names[kept.policy.kind],
                        _("positions"): kept.policy.budget,
                        _("bytes, {bits}-bit numbers").format(bits=8 * result.number_bytes): units.binary(
                            kept.cache_bytes
                        ),
                        _("saved"): f"{Rounded(1 - kept.cache_bytes / result.full_bytes):.0%}",
                        _("mean KL, nats"): f"{Rounded(kept.moved.kl.mean()):.3g}",
                        _("largest KL, nats"): f"{Rounded(kept.moved.kl.max()):.3g}",
                        _("same likeliest token"): f"{Rounded(kept.moved.same.mean()):.0%}",
                        _("loss, nats"): f"{Rounded(kept.moved.loss):.3f}",
                    }
                    for kept in sorted(result.kept, key=lambda kept: (kept.policy.budget, kept.policy.kind))
                ]
            )
        )
