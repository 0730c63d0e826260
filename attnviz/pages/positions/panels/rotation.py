"""Sections 3 and 5: texts longer than trained, under each scaling, and a trained head whose rotation is changed."""

import math
from dataclasses import replace

import numpy as np
import streamlit as st

from attnviz.analysis import changed_rope
from attnviz.analysis.model_run import ModelRun, Stack
from attnviz.app import page_parts, sentence_input, show, widgets
from attnviz.app.cache import model_cache
from attnviz.app.cache.shared_results import shared
from attnviz.app.links import link_state
from attnviz.app.text import escape_markdown
from attnviz.base.largest import find_largest
from attnviz.base.rounding import Rounded
from attnviz.base.words import _, join_sentences, ngettext
from attnviz.engine import Rerun
from attnviz.figures import attention_figures, heatmap
from attnviz.pages.positions import choices, figures
from attnviz.pages.positions.maths import rotation as experiment

LESS = 0.995  #: of an angle: what is nearer to it would read as 100%

compute_scalings = shared(experiment.compare_scalings)


# Texts longer than trained, and what each scaling does to the wavelengths.
FORMULAS = {
    "none": r"\theta_i = b^{-2i/D}",
    "linear": r"\theta_i' = \theta_i / s",
    "ntk": r"b' = b\, s^{D/(D-2)}",
    "dynamic": r"b' = b\left(s\tfrac{n}{L} - (s-1)\right)^{D/(D-2)}",
    "yarn": r"\theta_i' = \gamma_i\theta_i + (1-\gamma_i)\tfrac{\theta_i}{s}\\ q, k \times (0.1\ln s + 1)",
    "llama3": r"\theta_i' = \gamma_i\theta_i + (1-\gamma_i)\tfrac{\theta_i}{s}\\ "
    r"\gamma_i = \mathrm{clamp}\left(\tfrac{L\theta_i/2\pi - 1}{4 - 1}\right)",
}


def longer_panel() -> None:
    main_picture = page_parts.main_picture()
    config = _choose_config()
    result = compute_scalings(config)
    length = f"{config.length:,}".replace(",", "{,}")  # commas that take no space after them
    sizes = rf"s = {config.factor:g},\quad L = {length}"
    st.latex(rf"\begin{{gathered}}{sizes}\\ {FORMULAS[config.method]}\end{{gathered}}")
    st.markdown(f"**{_verdict(result)}**")
    with main_picture:
        _draw_wavelengths(result)
    _draw_distance(result)
    _draw_table(result)
    show.program(
        experiment.longer_program(config),
        "p-longer",
        about=_("Paste this code into a notebook: it prints wavelengths and new angles under every scaling."),
    )


def _method_names() -> dict[str, str]:
    return {
        "none": _("none"),
        "linear": _("linear"),
        "ntk": "NTK",
        "dynamic": _("dynamic NTK"),
        "yarn": "YaRN",
        "llama3": "Llama 3",
    }


def _choose_config() -> experiment.LongerConfig:
    method = widgets.select_one(choices.METHOD, _("Scaling"), _method_names())
    with st.container(horizontal=True, vertical_alignment="bottom"):
        length = widgets.number_box(choices.TRAINED, _("Trained on, positions"), step=1024, width=170)
        factor = widgets.number_box(choices.FACTOR, _("Times longer, s"), step=1.0, width=150)
        with page_parts.more_menu():
            width = widgets.number_box(choices.WIDTH, _("Width D"), step=2)
            base = widgets.number_box(choices.BASE, _("Base b"), step=1000.0)
        return experiment.LongerConfig(method=method, length=length, factor=factor, width=width, base=base)


def _verdict(result: experiment.LongerResult) -> str:
    config, scaled = result.config, result.methods[result.config.method]
    if scaled.n_new_angles:
        caption = ngettext(
            "With {n:,} positions {new} of {pairs} {pairs:pair|pairs} reaches angles that it never had in training: it "
            "had not completed a turn within {trained:,} positions.",
            "With {n:,} positions {new} of {pairs} pairs reach angles that they never had in training: they had not "
            "completed a turn within {trained:,} positions.",
            scaled.n_new_angles,
        )
    elif not scaled.n_slowed:
        caption = _(
            "Within {n:,} positions no pair reaches an angle that it did not have in training, and none turns more "
            "slowly."
        )
    else:
        caption = join_sentences(
            _(
                "Within {n:,} positions no pair reaches an angle that it did not have in training. The price: {slowed} "
                "of {pairs} {pairs:pair|pairs} {slowed:turns|turn} more slowly."
            ).format(n=config.target, slowed=scaled.n_slowed, pairs=len(scaled.wavelengths)),
            _("The angle between neighbours in the fastest pair is {neighbours:.0%} of what it was.")
            if scaled.neighbours < LESS
            else _("In the fastest pair the angle between neighbours stays what it was."),
        )
    return caption.format(
        n=config.target,
        new=scaled.n_new_angles,
        slowed=scaled.n_slowed,
        pairs=len(scaled.wavelengths),
        neighbours=scaled.neighbours,
        trained=config.length,
    )


def _draw_wavelengths(result: experiment.LongerResult) -> None:
    config, names = result.config, _method_names()
    lines = {names[method]: scaled.wavelengths for method, scaled in result.methods.items()}
    scaled, plain = result.methods[config.method], result.methods["none"].wavelengths
    show.figure(
        show.chart_of(figures.scaled_wavelengths, lines, names[config.method], config.length, config.target),
        name="wavelengths-scaled",
        key="p_longer_waves",
        table={"pair": np.arange(len(plain))} | {m: scaled.wavelengths for m, scaled in result.methods.items()},
        sentence=ngettext(
            "{method}: the fastest pair turns once in {first:.3g} positions (as trained: {first_was:.3g}), the "
            "slowest in {last:,.0f} ({last_was:,.0f}). {unfinished} pair takes more for its turn than the {trained:,} "
            "positions of training.",
            "{method}: the fastest pair turns once in {first:.3g} positions (as trained: {first_was:.3g}), the "
            "slowest in {last:,.0f} ({last_was:,.0f}). {unfinished} pairs take more for their turn than the "
            "{trained:,} positions of training.",
            scaled.n_unfinished,
        ).format(
            method=names[config.method],
            first=scaled.wavelengths[0],
            first_was=plain[0],
            last=scaled.wavelengths[-1],
            last_was=plain[-1],
            unfinished=scaled.n_unfinished,
            trained=config.length,
        ),
    )


def _draw_distance(result: experiment.LongerResult) -> None:
    config = result.config
    beyond = result.distance > config.length
    caption = _("Score q·k/√D of two vectors of ones over the distance, averaged over stretches.")
    if beyond.any():
        caption = join_sentences(
            caption,
            (
                _("Beyond the trained length (shaded) the largest is {plain:.3g}.")
                if config.method == "none"
                else _(
                    "Beyond the trained length (shaded) the largest is {plain:.3g} unscaled and {chosen:.3g} with the "
                    "scaling."
                )
            ).format(plain=result.plain[beyond].max(), chosen=result.chosen[beyond].max()),
        )
    scaled = result.methods[config.method]
    if scaled.length != 1:
        caption = join_sentences(
            caption,
            _("YaRN also makes q and k {length:.3f} times as long, so that scores grow by {grown:.2f}.").format(
                length=scaled.length, grown=scaled.length**2
            ),
        )
    name = _method_names()[config.method]
    show.figure(
        show.chart_of(figures.scaled_over_distance, result.distance, result.plain, result.chosen, name, config.length),
        name="longer-distance",
        key="p_longer_distance",
        table={"distance": result.distance, "as_trained": result.plain, config.method: result.chosen},
        sentence=caption,
    )


def _draw_table(result: experiment.LongerResult) -> None:
    names = _method_names()
    rows = [
        {
            _("scaling"): names[method],
            _("pairs at new angles"): scaled.n_new_angles,
            _("pairs slowed"): scaled.n_slowed,
            _("fastest pair, turn in"): f"{Rounded(scaled.wavelengths[0]):.3g}",
            _("slowest pair, turn in"): f"{Rounded(scaled.wavelengths[-1]):,.0f}",
            _("q and k ×"): f"{Rounded(scaled.length):.3f}",
        }
        for method, scaled in result.methods.items()
    ]
    show.draw_table(show.to_columns(rows), "p_longer_table")


LEAST_MOVED = 5e-4  #: of a row: what is less would read as 0.0%


def changed_rope_panel() -> None:
    main_picture = page_parts.main_picture()
    run = sentence_input.sentence_run(choices.MODEL, choices.SENTENCE, model_first=True, kinds=("decoder", None))
    config = _choose_change(run.stacks[0])
    rotary = model_cache.rerun_cached(run, Rerun(changed_rope.rotation))
    result: changed_rope.Result = model_cache.rerun_cached(
        run, Rerun(changed_rope.run, (config, rotary)), ("changed_rope", config)
    )
    st.latex(_formula(result))
    st.markdown(f"**{_describe_change(run, result)}**")
    with main_picture:
        _draw_heatmaps(run, result)
    page_parts.draw_columns(lambda: _draw_tokens_back(result), lambda: _draw_next_token(run, result))
    model_config = replace(config, layer=run.stacks[0].layers[config.layer].index)  # which counts in its own way
    show.program(
        program(run.request.model, run.request.text, model_config),
        "p-head",
        about=_(
            "Paste this code into a notebook: it prints how much weight moves, the row that changes most, and what "
            "comes next."
        ),
    )


def _choose_change(stack: Stack) -> changed_rope.Config:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        layer = widgets.number_box(choices.LAYER, _("Layer, from 0"), step=1, high=len(stack.layers) - 1, width=140)
        heads = stack.layers[layer].n_heads
        head = widgets.number_box(choices.HEAD, _("Head, from 0"), step=1, high=heads - 1, width=140)
        change = widgets.select_one(
            choices.CHANGE, _("Change"), {"removed": _("take RoPE out"), "base": _("another base")}
        )
        if change == "base":
            widgets.number_box(choices.NEW_BASE, _("New base"), step=1000.0, width=150)
        where = widgets.select_one(
            choices.WHERE, _("Where"), {"head": _("this head"), "layer": _("its whole layer"), "all": _("every layer")}
        )
    return changed_rope.Config(layer, head, change, link_state.value(choices.NEW_BASE), where)


def _formula(result: changed_rope.Result) -> str:
    rotary = result.rotary
    if result.config.change == "removed":
        new = r"q_m\cdot k_n = q\cdot k"
    else:
        power = rf"{result.config.base:g}^{{-2i/{rotary.width}}}"
        new = rf"q_m\cdot k_n = q^\top R_{{(n-m)\,\theta'}}\,k,\quad \theta_i' = {power}"
    was = rf"q_m\cdot k_n = q^\top R_{{(n-m)\,\theta}}\,k,\quad \theta_i = {rotary.base:g}^{{-2i/{rotary.width}}}"
    return rf"\begin{{gathered}}{was}\\ \longrightarrow\quad {new}\end{{gathered}}"


def _describe_change(run: ModelRun, result: changed_rope.Result) -> str:
    config = result.config
    most = int(result.row_shifts.argmax())
    head_name = _("Trained: {model}, layer {layer}, head {head}.").format(
        model=escape_markdown(run.name), layer=config.layer, head=config.head
    )
    if result.row_shifts[most] < LEAST_MOVED:
        return join_sentences(head_name, _("No row changes by as much as 0.05% of its weight."))
    verdict = join_sentences(
        head_name,
        _("{moved:.1%} of the head’s weight goes to other tokens, most in the row of “{token}”: {share:.1%}.").format(
            moved=result.weight_shift,
            token=escape_markdown(run.stacks[0].queries.labels[most]),
            share=result.row_shifts[most],
        ),
    )
    before, after = result.previous
    if math.isnan(before):
        return verdict
    neighbours = _(
        "On the token just before: {before:.1%} as trained, {after:.1%} changed; on the first: {first:.1%} and "
        "{now:.1%}."
    ).format(before=before, after=after, first=result.first[0], now=result.first[1])
    return join_sentences(verdict, neighbours)


def _draw_heatmaps(run: ModelRun, result: changed_rope.Result) -> None:
    stack, most = run.stacks[0], int(result.row_shifts.argmax())
    matrices = (("before", _("As trained"), result.before), ("after", _("Changed"), result.after))
    for column, (name, title, weights) in zip(st.columns(2, gap="medium"), matrices, strict=True):
        with column:
            st.markdown(f"**{title}**")
            show.figure(
                show.chart_of(
                    heatmap.matrix,
                    weights,
                    stack.queries.labels,
                    stack.keys.labels,
                    masked=~result.allowed,
                    height=400,
                    numbers=False,
                ),
                name=f"rope-{name}",
                key=f"p_rope_{name}",
                sentence=_("“{query}” gives {share:.1%} to “{token}”.").format(
                    query=escape_markdown(stack.queries.labels[most]),
                    share=float(weights[most].max()),
                    token=escape_markdown(stack.keys.labels[int(weights[most].argmax())]),
                ),
            )


def _draw_tokens_back(result: changed_rope.Result) -> None:
    before, after = result.distance_before, result.distance_after
    largest = find_largest(np.abs(after - before))
    most = largest.index
    if largest.value < LEAST_MOVED:
        caption = _(
            "Mean weight on the token so many back, over the queries that have one. None changes by as much as 0.05%; "
            "the token itself gets {own:.1%}."
        )
    else:
        caption = _(
            "Mean weight on the token so many back, over the queries that have one. It changes most {back} back, from "
            "{was:.1%} to {now:.1%}; the token itself gets {own:.1%} and {own_now:.1%}."
        )
    caption = caption.format(back=most, was=before[most], now=after[most], own=before[0], own_now=after[0])
    if len(before) > 1:
        caption = join_sentences(
            caption,
            _(
                "Only the last query can look {last} back, at the first token: the last bar is that query’s alone."
            ).format(last=len(before) - 1),
        )
    show.figure(
        show.chart_of(figures.tokens_back, before, after),
        name="rope-distance",
        key="p_rope_distance",
        table={"tokens_back": np.arange(len(before)), "as_trained": before, "changed": after},
        sentence=caption,
    )


def _draw_next_token(run: ModelRun, result: changed_rope.Result) -> None:
    if not result.tokens:
        st.info(_("{model} was not trained to guess the next token.").format(model=escape_markdown(run.name)))
        return
    labels = [token.label for token in result.tokens]
    before, after = [token.before for token in result.tokens], [token.after for token in result.tokens]
    was, now = result.tokens[0], max(result.tokens, key=lambda token: token.after)
    show.figure(
        show.chart_of(attention_figures.bars, labels, before, after, labels=(_("as trained"), _("changed"))),
        name="rope-next-token",
        key="p_rope_next",
        table={"token": labels, "as_trained": before, "changed": after},
        sentence=_(
            "Next token: {moved:.1%} of the probability moves; the likeliest was “{was}” ({before:.1%}) and is "
            "“{now}” ({after:.1%})."
        ).format(
            moved=result.probability_shift,
            was=escape_markdown(was.label),
            before=was.before,
            now=escape_markdown(now.label),
            after=now.after,
        ),
    )


def program(model: str, text: str, config: changed_rope.Config) -> str:
    """Program that prints the moved weight, the row that changes most and the next token."""
    heads = config.head if config.where == "head" else '"all"'
    layers = "rotary.layers" if config.where == "all" else f"{config.layer}"
    base = "None" if config.change == "removed" else repr(config.base)
    return f"""\
import attnviz as av
from attnviz.models.capture import find_rotary
from attnviz.models.tokens import encode

loaded = av.load({model!r})
tokens = encode(loaded, {text!r})
rotary = find_rotary(loaded.model)  # its pairs turn by rotary.turns radians per position
edit = av.Edit({layers}, {heads}, change=rotary.changed({base}))  # undone, and turned anew if there is a base

before = av.capture(loaded.model, **tokens.inputs)
after = av.intervene(loaded.model, edit, **tokens.inputs)
weights = [trace.layers[{config.layer}].weights({config.head})[0, 0] for trace in (before, after)]
moved = (weights[0] - weights[1]).abs().sum(-1) / 2  # of each row
row = moved.argmax().item()
print(f"{{moved.mean():.1%}} of the weight goes to other tokens, most of {{tokens.labels[row]!r}}: {{moved[row]:.1%}}")
for name, w in zip(("as trained", "changed"), weights):
    print(f"{{name}}: {{w.diagonal(-1).mean():.1%}} on the token just before, {{w[:, 0].mean():.1%}} on the first")
for token, one, other in zip(tokens.labels, *(w[row].tolist() for w in weights)):
    print(f"{{token:>12}} {{one:.4f}} {{other:.4f}}")
if before.logits is not None:
    chances = [trace.logits[0].double().softmax(-1) for trace in (before, after)]
    print(f"next token: {{(chances[0] - chances[1]).abs().sum() / 2:.1%}} of the probability moves")
    print([(loaded.tokenizer.decode(each.argmax()), round(each.max().item(), 4)) for each in chances])
"""
