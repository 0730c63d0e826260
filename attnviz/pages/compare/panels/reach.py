"""Section 3: how far back the last output depends on the input, before, during and after training."""

from functools import partial as partial_of

import numpy as np
import streamlit as st

from attnviz.analysis import own_process
from attnviz.app import page_parts, presenting, show, training, widgets
from attnviz.app.cache.bounded_cache import BoundedCache
from attnviz.app.cache.shared_results import finished_results, shared
from attnviz.app.panel import show_problems
from attnviz.app.text import typeset_minus
from attnviz.base.words import _, join_list, ngettext
from attnviz.pages.compare import choices, figures
from attnviz.pages.compare.maths import reach_training

BOX = 118  #: pixels of a number box


@shared
def untrained_reach(config: reach_training.Config) -> reach_training.Result:
    """Gradients of each layer before the first step."""
    return next(reach_training.train(config))


def trained_reach() -> BoundedCache[reach_training.Result]:
    """Complete training runs, the packaged one among them, for all visitors."""
    runs = finished_results("c-reach")
    runs.get(reach_training.Config(), reach_training.load_stored_result)
    return runs


def panel() -> None:
    main_picture = page_parts.main_picture()
    st.markdown(
        _(
            "**The task.** The first of n tokens is one of {labels} labels, noise follows, and the last token asks for "
            "the label. Every layer gets the same embeddings, learned places and sequences, and one linear layer on "
            "its last output."
        ).format(labels=reach_training.LABELS)
    )
    config = _choose_config()
    with show_problems():
        reach_training.check(config)
        with main_picture:
            _draw_run(config)
        about = _(
            "Paste this code into a notebook: it prints the gradient at the first token before and after training, "
            "and how many labels are right."
        )
        show.program(reach_training.program(config), "c-reach", about=about)


def _choose_config() -> reach_training.Config:
    labels = {"n": _("tokens n"), "k": _("kernel k"), "layers": _("convolutions"), "steps": _("steps")}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        sizes = {n: widgets.number_box(choices.REACH_SIZES[n], label, step=1, width=BOX) for n, label in labels.items()}
        with page_parts.more_menu():
            return reach_training.Config(
                **sizes,
                remember=widgets.number_box(
                    choices.REMEMBER,
                    _("LSTM remembers"),
                    step=0.5,
                    width=BOX,
                    help=_(
                        "Added to the bias of the LSTM’s forget gate at the start. At 0 the gate stands at one half: "
                        "after n steps 2⁻ⁿ is left. At 4 it stands at 98%."
                    ),
                ),
                rate=widgets.number_box(choices.RATE, _("learning rate"), step=0.001, width=BOX),
                seed=widgets.number_box(choices.SEED, _("seed"), step=1, width=BOX),
            )


def _draw_run(config: reach_training.Config) -> None:
    """Draw the training of this configuration: complete, partial, or before the first step."""
    result = trained_reach().find(config)
    partial = training.partial_result("c", config)
    button_slot, picture_slot = st.empty(), st.empty()
    if not config.steps:
        _draw_result(untrained_reach(config))
        return
    known = result is not None and (partial is None or partial.complete or not training.is_watched("c", config))
    if (
        training.draw_watch_button("c", button_slot, config)
        if known
        else training.draw_train_button("c", button_slot, bool(partial))
    ):
        with picture_slot.container():
            _draw_live_charts(untrained_reach(config))
        # in another process: whoever opens a page meanwhile waits for nothing
        train = partial_of(own_process.results, reach_training, "train", config, 1, own_process.NICE)
        result = training.watch(
            "c", config, trained_reach(), train, _draw_live_charts, (button_slot, picture_slot), _("Training begins…")
        )
        known = True
    with picture_slot.container():
        if partial is not None and not known:
            training.draw_stopped(partial)
        _draw_result((result if known else partial) or untrained_reach(config))


def _draw_live_charts(result: reach_training.Result) -> None:
    """Draw the two charts that change during training, without export."""
    key = f"c-live-{result.done}"
    learned = _learning_caption(result) if result.done else None
    page_parts.draw_columns(
        lambda: show.chart(
            _draw_distance_chart(result, False), key=f"{key}-now", alt=_distance_caption(result, not result.done)
        ),
        lambda: show.chart(_draw_accuracy_chart(result), key=f"{key}-right", alt=learned),
    )


def _draw_result(result: reach_training.Result) -> None:
    st.markdown(_verdict(result))
    high = presenting.is_presenting()  # two rows would not fit the room
    before, after, right = st.columns(3, gap="medium") if high else (*st.columns(2, gap="medium"), st.container())
    with before:
        _draw_gradients(result, True)
    if result.done:
        with after:
            _draw_gradients(result, False)
        with right:
            show.figure(
                _draw_accuracy_chart(result),
                name=f"copy-from-far-n{result.config.n}",
                key="c-reach-right",
                table={"step": np.arange(1, result.done + 1)} | {k: v.accuracy for k, v in result.reach.items()},
                sentence=_learning_caption(result),
            )
    elif result.config.steps:
        after.info(_("Training takes a few seconds and is drawn as it runs."))
    else:
        after.info(_("Zero steps: nothing is trained, and the layers stay as they began."))


def _draw_gradients(result: reach_training.Result, start: bool) -> None:
    """Draw gradient norms by distance, at the start of training or now."""
    when, norms = "before" if start else "after", _gradient_norms(result, start)
    show.figure(
        _draw_distance_chart(result, start),
        name=f"reach-{when}-n{result.config.n}",
        key=f"c-reach-{when}",
        table={"distance": np.arange(result.config.n)} | {kind: norms[kind][::-1] for kind in reach_training.KINDS},
        sentence=_distance_caption(result, start),
    )


def _gradient_norms(result: reach_training.Result, start: bool) -> dict[str, np.ndarray]:
    """The gradient norm by position, by kind, at the start of training or now."""
    return {kind: layer_reach.at_start if start else layer_reach.now for kind, layer_reach in result.reach.items()}


def _draw_distance_chart(result: reach_training.Result, start: bool) -> figures.Figure:
    lines = [(kind, figures.kind_names()[kind], norms) for kind, norms in _gradient_norms(result, start).items()]
    after = ngettext(
        "Gradient norm by distance, after {n} step", "Gradient norm by distance, after {n} steps", result.done
    ).format(n=result.done)
    return figures.draw_by_distance(lines, _("Gradient norm by distance, before training") if start else after)


def _draw_accuracy_chart(result: reach_training.Result) -> figures.Figure:
    lines = [(kind, figures.kind_names()[kind], layer_reach.accuracy) for kind, layer_reach in result.reach.items()]
    return figures.draw_by_step(lines, result.config.steps, 1 / reach_training.LABELS, _("Labels right"))


def _verdict(result: reach_training.Result) -> str:
    """Sentence that says which layers learned the task; before training, which ones could."""
    names = figures.kind_names()
    if result.done < reach_training.LAST:
        blind = [names[k] for k, layer_reach in result.reach.items() if layer_reach.at_start[0] == 0]
        if not blind:
            return _("Before training every layer’s last output depends on the first token, however little.")
        return _("Before training the last output does not depend on the first token at all in: **{names}**.").format(
            names=join_list(blind)
        )
    learned = [
        names[k] for k, layer_reach in result.reach.items() if layer_reach.end_accuracy >= reach_training.LEARNED
    ]
    failed = [names[k] for k in result.reach if names[k] not in learned]
    if not learned:
        verdict = _("After {steps} steps at distance {distance} no layer has learned to copy.")
    elif not failed:
        verdict = _("After {steps} steps at distance {distance} every layer copies.")
    else:
        verdict = _(
            "After {steps} steps **{learned}** copy from {distance} tokens back: {share:.0%} or more of the labels are "
            "right. **{failed}**: fewer."
        )
    return verdict.format(
        steps=result.done,
        learned=join_list(learned),
        distance=result.config.n - 1,
        share=reach_training.LEARNED,
        failed=join_list(failed),
    )


def _distance_caption(result: reach_training.Result, start: bool) -> str:
    """The gradient at the first token, for attention, the LSTM and the convolutions."""
    norms, config = _gradient_norms(result, start), result.config
    seen = 1 + config.layers * (config.k - 1)
    if start and seen >= config.n:
        text = _(
            "At distance {distance} the norm is **{attention:.2g}** for attention, **{lstm:.1g}** for the LSTM; "
            "{layers} {layers:convolution|convolutions} of {k} {layers:sees|see} all {n} tokens."
        )
    elif start:
        text = ngettext(
            "At distance {distance} the norm is **{attention:.2g}** for attention, **{lstm:.1g}** for the LSTM; "
            "{layers} convolution of {k} sees {seen} tokens and nothing beyond.",
            "At distance {distance} the norm is **{attention:.2g}** for attention, **{lstm:.1g}** for the LSTM; "
            "{layers} convolutions of {k} see {seen} tokens and nothing beyond.",
            config.layers,
        )
    elif seen >= config.n:
        text = _(
            "Now it is **{attention:.2g}** for attention and **{lstm:.1g}** for the LSTM at distance {distance}: "
            "attention gives the first token **{share:.3g}** times the average."
        )
    else:
        text = _(
            "Now it is **{attention:.2g}** for attention and **{lstm:.1g}** for the LSTM at distance {distance}: "
            "attention gives the first token **{share:.3g}** times the average. Training cannot move what the "
            "convolutions do not see."
        )
    caption = text.format(
        distance=config.n - 1,
        attention=norms["attention"][0],
        lstm=norms["lstm"][0],
        layers=config.layers,
        k=config.k,
        seen=seen,
        n=config.n,
        share=result.reach["attention"].share_of_first,
    )
    return typeset_minus(caption)


def _learning_caption(result: reach_training.Result) -> str:
    ends = [
        _("{name} {accuracy:.0%}").format(name=figures.kind_names()[kind], accuracy=layer_reach.end_accuracy)
        for kind, layer_reach in result.reach.items()
    ]
    last = min(result.done, reach_training.LAST)
    text = ngettext(
        "At the last step: {ends}. Guessing gets {chance:.1%}, the dashed line.",
        "Mean of the last {last} steps: {ends}. Guessing gets {chance:.1%}, the dashed line.",
        last,
    )
    return text.format(last=last, ends=join_list(ends), chance=1 / reach_training.LABELS)
