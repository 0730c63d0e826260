"""Section 4: a cache with evicted positions, and its effect on a model's predictions."""

import streamlit as st

from attnviz.app import live_run, page_parts, show, widgets
from attnviz.app.panel import show_notices
from attnviz.base import units
from attnviz.base.rounding import Rounded
from attnviz.base.words import _, join_list, join_sentences, translate_message
from attnviz.core.cache import EVICTION_RULES
from attnviz.figures.theme import SERIES
from attnviz.pages.decoding import choices, figures
from attnviz.pages.decoding.maths import decoding_snippets, kept_positions
from attnviz.pages.decoding.panels import decoder_form


def policy_names() -> dict[str, str]:
    return {kind: translate_message(rule.label) for kind, rule in EVICTION_RULES.items()}


def panel() -> None:
    main_picture = page_parts.main_picture()
    name, text = decoder_form.choose_with_text()
    with st.container(horizontal=True, vertical_alignment="center"), page_parts.more_menu():
        seed = widgets.number_box(choices.SEED, _("Seed of the random policy"), step=1)
    live = _compute(name, kept_positions.Config(text, seed))
    result = live.result
    show_notices(result.notices)
    n, every = len(result.policies), result.total_policies
    live_run.draw_progress("policies", live, n / every, _("policy {n} of {all}").format(n=n, all=every))
    policy, budget = _choose_policy(result)
    with main_picture:
        _draw_curve(result, budget)
    selected = _draw_map(result, policy, budget)
    live_run.rerun_if_running(live)
    _draw_table(result)
    show.program(
        decoding_snippets.policy_program(name, text, result, policy, budget, selected),
        "decoding-policies",
        about=_("Paste this code into a notebook: it prints the numbers of the policy and the budget that are chosen."),
    )


def _compute(name: str, config: kept_positions.Config) -> live_run.LiveRun[kept_positions.Result]:
    """The prepared result of the example, or what is computed so far for any other text."""
    prepared = kept_positions.find_prepared(name, config)
    if prepared is not None:
        st.caption(_("Computed beforehand with these weights; any other text is computed now."))
        return live_run.LiveRun(prepared, False, False)
    return live_run.advance(
        "policies",
        (decoder_form.decoder_key(name), config),
        lambda: kept_positions.run(decoder_form.get_decoder(name), config),
        lambda result: result.done,
    )


def _choose_policy(result: kept_positions.Result) -> tuple[str, int]:
    """Draw the choice of the policy and the budget on show."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kind = widgets.select_one(choices.POLICY, _("Policy"), policy_names())
        budgets = {str(n): str(n) for n in sorted(result.budgets)}
        return kind, int(widgets.select_one(choices.BUDGET, _("Positions kept"), budgets))


def _draw_curve(result: kept_positions.Result, budget: int) -> None:
    names = policy_names()
    by_kind = {
        kind: sorted(result.find_all(kind), key=lambda policy_result: policy_result.policy.budget)
        for kind in kept_positions.POLICIES
    }
    lines = {
        names[kind]: (
            [policy_result.policy.budget for policy_result in every],
            [float(policy_result.shift.kl.mean()) for policy_result in every],
        )
        for kind, every in by_kind.items()
        if every
    }
    here = {
        kind: policy_result
        for kind in kept_positions.POLICIES
        if (policy_result := result.find(kind, budget)) is not None
    }
    if not here:
        return
    show.figure(
        show.chart_of(figures.divergence_over_budget, lines, result.total, budget),
        name="cache-policies",
        key="d_policies",
        sentence=_(
            "The first {prompt} of {total} {total:token|tokens} are read with everything kept, then each next token "
            "under the "
            "policy. With {budget} {budget:position|positions}, {share:.0%} of the bytes, the next-token distribution "
            "moves on average "
            "by (nats): {moves}. With everything kept by {zero:.1g}."
        ).format(
            zero=result.policies[0].shift.kl.mean(),
            prompt=result.prompt,
            total=result.total,
            budget=budget,
            share=budget / result.total,
            moves=join_list(
                f"{names[kind]} **{Rounded(policy_result.shift.kl.mean()):.2g}**"
                for kind, policy_result in here.items()
            ),
        ),
        table={
            "policy": [policy_result.policy.kind for policy_result in result.policies],
            "positions": [policy_result.policy.budget for policy_result in result.policies],
            "bytes": [policy_result.cache_bytes for policy_result in result.policies],
            "bytes with all kept": [result.full_bytes for _policy_result in result.policies],
            "mean KL": [float(policy_result.shift.kl.mean()) for policy_result in result.policies],
            "largest KL": [float(policy_result.shift.kl.max()) for policy_result in result.policies],
            "same likeliest token": [float(policy_result.shift.same.mean()) for policy_result in result.policies],
            "loss": [policy_result.shift.loss for policy_result in result.policies],
        },
    )


def _draw_map(result: kept_positions.Result, policy: str, budget: int) -> tuple[int, int]:
    """Draw the visible positions, and return the selected layer and K/V head."""
    policy_result = result.find(policy, budget)
    layer = group = 0
    if policy_result is None:
        st.caption(_("This policy is still being computed."))
        return layer, group
    if len(policy_result.positions[0]) > 1:
        with st.container(horizontal=True, vertical_alignment="bottom"):
            last, last_group = (size - 1 for size in policy_result.positions.shape[:2])
            layer = widgets.number_box(choices.KEPT_LAYER, _("Layer, from 0"), step=1, high=last, width=168)
            group = widgets.number_box(choices.KEPT_GROUP, _("K/V head, from 0"), step=1, high=last_group, width=168)
    positions = policy_result.positions[layer, group]
    colour = SERIES[list(policy_names()).index(policy) - 1]
    show.figure(
        show.chart_of(figures.draw_visible_positions, positions, result.labels[result.prompt :], result.labels, colour),
        name=f"kept-{policy}-{budget}",
        key="d_kept",
        sentence=join_sentences(
            _visible_caption(result, policy_result, layer, group),
            _(
                "**{saved}** of {full}, at {bits} bits a number, are saved; the likeliest token stays in {same:.0%} of "
                "rows, and the loss on the text goes from {before:.2f} to **{after:.2f}** nats."
            ).format(
                bits=8 * result.number_bytes,
                saved=units.binary(result.full_bytes - policy_result.cache_bytes),
                full=units.binary(result.full_bytes),
                same=policy_result.shift.same.mean(),
                before=result.full_loss,
                after=policy_result.shift.loss,
            ),
        ),
        table={"position": range(result.prompt, result.total), "token": list(result.labels[result.prompt :])}
        | {f"sees {n}": positions[:, n].astype(int).tolist() for n in range(result.total)},
    )
    return layer, group


def _visible_caption(
    result: kept_positions.Result, policy_result: kept_positions.PolicyResult, layer: int, group: int
) -> str:
    if len(policy_result.positions[0]) > 1:
        text = _(
            "Rows are the tokens read under the policy, coloured what layer {layer}, K/V head {group} still holds for "
            "them; grey is evicted. The first token is held in {first} of {rows} {rows:row|rows}."
        )
    else:
        text = _(
            "Rows are the tokens read under the policy, coloured what every head still holds for them; grey is "
            "evicted. The first token is held in {first} of {rows} {rows:row|rows}."
        )
    first_visible = policy_result.positions[layer, group, :, 0]
    return text.format(layer=layer, group=group, first=int(first_visible.sum()), rows=len(first_visible))


def _draw_table(result: kept_positions.Result) -> None:
    names = policy_names()
    with st.expander(_("All policies and budgets")):
        show.draw_table(
            show.to_columns(
                [
                    {
                        _("policy"): names[policy_result.policy.kind],
                        _("positions"): policy_result.policy.budget,
                        _("bytes, {bits}-bit numbers").format(bits=8 * result.number_bytes): units.binary(
                            policy_result.cache_bytes
                        ),
                        _("saved"): f"{Rounded(1 - policy_result.cache_bytes / result.full_bytes):.0%}",
                        _("mean KL, nats"): f"{Rounded(policy_result.shift.kl.mean()):.3g}",
                        _("largest KL, nats"): f"{Rounded(policy_result.shift.kl.max()):.3g}",
                        _("same likeliest token"): f"{Rounded(policy_result.shift.same.mean()):.0%}",
                        _("loss, nats"): f"{Rounded(policy_result.shift.loss):.3f}",
                    }
                    for policy_result in sorted(
                        result.policies,
                        key=lambda policy_result: (policy_result.policy.budget, policy_result.policy.kind),
                    )
                ]
            )
        )
