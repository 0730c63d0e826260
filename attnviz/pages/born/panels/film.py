"""Sections 1 and 2: one training run with a slider over its steps, and runs with one setting changed."""

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import streamlit as st

from attnviz.app import guess, page_parts, show, widgets
from attnviz.app.links import link_state
from attnviz.app.links.choices import head_name
from attnviz.app.links.choices import head_name as name_of
from attnviz.app.text import escape_markdown, strip_markdown
from attnviz.base import units
from attnviz.base.rounding import Rounded
from attnviz.base.words import _, join_list, join_sentences
from attnviz.canvas import birth
from attnviz.canvas.score_table import ScoreFigure, ScoreStep, describe_sum, score_table
from attnviz.canvas.shared.packing import fingerprint
from attnviz.core.attention import scale_factor
from attnviz.figures.score_table import part_label, table_of_products
from attnviz.live.scene_figure import SceneFigure
from attnviz.pages.born import choices, figures
from attnviz.pages.born.maths import life
from attnviz.pages.born.maths.score_parts import ScoreParts, attribute_score


def panel() -> None:
    """Draw the section."""
    picture_area = page_parts.main_picture()
    with page_parts.paired_columns("born"):
        text = widgets.text_box(choices.TEXT, _("Your words, which come twice"))
        name = widgets.select_one(choices.RUN, _("Training run"), available_runs(), style="select")
    run = life.read(name)
    copies = life.repeat_words(text, run.config)
    heads = {name_of(head): head for head in run.config.all_heads}
    ablated = tuple(heads[label] for label in widgets.selected_options(choices.OFF, heads))
    at = run.nearest_checkpoint(link_state.value(choices.AT))
    revealed = link_state.value(choices.GUESS) != choices.GUESS.default

    def store_position(at: int, ablated: life.AblatedHeads) -> None:
        link_state.set_many({choices.AT: int(run.steps[at]), choices.OFF: tuple(map(name_of, ablated)) or None})

    with picture_area:
        _ask(name, copies)
        plays = link_state.value(choices.AT) == choices.AT.default
        draw_run("born-film", name, copies, at, ablated, revealed, store_position, plays)
        show.footer(
            lambda: step_figure(name, copies, at, ablated, revealed),
            name=f"{name}-step-{run.steps[at]}",
            key="born-film-out",
            canvas=show.live_canvas("born-film"),
            sentence=step_sentence(name, at, ablated),
            table=lambda: checkpoint_table(run),
        )
        draw(name, copies, at, ablated)
    show.program(
        f'from attnviz.pages.born.maths import life\n\nrun = life.read("{name}")\n'
        "print(run.cliff, run.accuracy[-1])\nprint(run.previous[-1])\nprint(run.induction[-1])\n",
        "born-film",
        about=_("Paste this code into a notebook: it prints what this run has learned. `life.run` trains it again."),
    )


def available_runs() -> dict[str, str]:
    """Names on screen of runs that have checkpoints, by run."""
    return {
        life.LIFE: _("as usual, seed {seed}").format(seed=life.RUNS[life.LIFE].seed),
        life.BLURRED: _("layer 0 fixed at blur"),
        **{name: _("{name}, trained on this machine").format(name=name) for name in life.list_own_runs()},
    }


def _ask(name: str, copies: life.RepeatedWords) -> None:
    """Ask when the run learns it, before its curves are drawn to their end."""
    names = {step: f"{int(step):,}" for step in choices.GUESSES if step.isdigit()} | {"never": _("never")}
    guess.ask(
        choices.GUESS,
        _("From which step is the second copy of your words predicted?"),
        names,
        lambda: ("", describe_learning(life.steps_around_learning(name, copies), life.read(name).config.steps)),
    )


def describe_learning(learned: tuple[int, int] | None, steps: int) -> str:
    """Sentence about the computed step; `learned` None: the run never learns it."""
    if learned is None:
        return _("**Computed: not by step {steps:,}**, where this run ends.").format(steps=steps)
    return _("**Computed: between steps {before:,} and {step:,}**; from then on at least half of it is.").format(
        before=learned[0], step=learned[1]
    )


def draw_run(
    key: str,
    name: str,
    copies: life.RepeatedWords,
    at: int,
    ablated: life.AblatedHeads,
    revealed: bool,
    on_change: Callable[[int, life.AblatedHeads], None],
    plays: bool = False,
) -> None:
    """Draw the run with its slider. `on_change` gets the checkpoint and the ablated heads.

    `plays`: up to that checkpoint on arrival.
    """
    run = life.read(name)
    heads = run.config.all_heads
    birth.birth(
        key,
        run_header(name, tuple(ablated)),
        run.numbers,
        copies.tokens,
        copies.ids,
        lambda checkpoints: run.run_checkpoints(copies.ids, checkpoints, ablated),
        at=at,
        silenced=[heads.index(head) for head in ablated],
        show_all=revealed,
        on_stand=lambda position: on_change(position[0], tuple(heads[head] for head in position[1])),
        plays=plays,
    )


@lru_cache(maxsize=64)
def run_header(name: str, ablated: tuple[tuple[int, int], ...]) -> dict[str, Any]:
    """The message that describes a run to the browser: a curve for each head, and the loss with ablated heads.

    Cached for all visitors: hashing the parameters alone takes 3 ms.
    """
    run = life.read(name)
    loss_at, losses = run.curve
    curves = {
        "loss_at": loss_at,
        "losses": losses,
        "at": run.at,
        "previous": run.previous.reshape(len(run.at), -1).T,
        "induction": run.induction.reshape(len(run.at), -1).T,
        "without_at": run.steps,
        "without": life.measure_without_heads(name, ablated)[:, 0] if ablated else np.zeros(0),
    }
    return {
        "model": fingerprint(run.numbers.tobytes()),
        "sizes": model_sizes(run.config),
        "steps": run.steps.tolist(),
        "names": list(map(name_of, run.config.all_heads)),
        "moment": run.find_pattern_step(run.induction),
        "curves": {curve: np.round(values, 4).tolist() for curve, values in curves.items()},
    }


def model_sizes(config: life.Config) -> dict[str, Any]:
    """Sizes of the model for the forward pass in the browser; `scales` multiply the scores of each layer."""
    usual = scale_factor("sqrt" if config.scaled else None, config.d_head)
    sizes = {name: getattr(config, name) for name in ("words", "width", "layers", "heads", "base", "causal")}
    scales = [0.0 if config.blurred and layer == 0 else usual for layer in range(config.layers)]
    return sizes | {"depth": config.d_head, "scales": scales}


def step_sentence(name: str, at: int, ablated: life.AblatedHeads) -> str:
    """Sentence about the selected step, measured on copies of lengths never trained on."""
    run = life.read(name)
    index = int(run.kept[at])
    held = join_list(map(str, run.config.held_out))
    if ablated:
        right = life.measure_without_heads(name, tuple(ablated))[:, 1]
        return _(
            "With {heads} silenced, **{here:.0%}** of words are predicted at step {step:,}, at most {most:.0%} at "
            "any of {looks} steps. With all heads it is {whole:.0%} at the end, by guessing {guess:.1%}, in copies of "
            "{held} words: lengths never trained on."
        ).format(
            heads=join_list(map(name_of, ablated)),
            here=right[at],
            step=run.at[index],
            most=right.max(),
            looks=len(right),
            guess=1 / run.config.words,
            whole=run.accuracy[-1],
            held=held,
        )
    previous_head, induction_head = (
        divmod(int(scores[index].argmax()), run.config.heads) for scores in (run.previous, run.induction)
    )
    return _(
        "At step {step:,} **{accuracy:.0%}** of words are predicted, in copies of {held} words: lengths never trained "
        "on. Head {one} gives {previous:.2f} of its weight to the token before, head {two} {induction:.2f} to what "
        "came after the same word last time."
    ).format(
        step=run.at[index],
        accuracy=run.accuracy[index],
        one=name_of(previous_head),
        previous=run.previous[index][previous_head],
        two=name_of(induction_head),
        induction=run.induction[index][induction_head],
        held=held,
    )


def step_figure(
    name: str, copies: life.RepeatedWords, at: int, ablated: life.AblatedHeads, revealed: bool
) -> SceneFigure:
    """Figure of the selected step, for an export."""
    run = life.read(name)
    ablated_indices = [run.config.all_heads.index(head) for head in ablated]
    figure = birth.BirthFigure(
        run_header(name, tuple(ablated)), run.numbers[at], copies.tokens, copies.ids, at, ablated_indices, revealed
    )
    title = _("Training step {step:,}: {words}").format(step=int(run.steps[at]), words=" ".join(copies.tokens))
    return SceneFigure((figure,), title, replace(figure, numbers=run.numbers))


def run_curve(run: life.TrainingRun, name: str, faint: bool = False) -> figures.RunCurve:
    """Loss and best induction score of a run as curves."""
    return figures.RunCurve(name, *run.curve, run.at, run.induction.max((1, 2)), faint)


def checkpoint_table(run: life.TrainingRun) -> dict[str, list[float]]:
    """Table of all measures, one row a measured step."""
    columns = {"step": run.at, "loss": run.loss, "accuracy": run.accuracy}
    for name, scores in (("previous", run.previous), ("induction", run.induction)):
        columns |= {f"{name} {layer}.{head}": scores[:, layer, head] for layer, head in run.config.all_heads}
    return {name: np.asarray(values).tolist() for name, values in columns.items()}


# Section 2: other seeds, one layer, no mask, no scaling, a head less.
def draw_other_runs() -> None:
    """Draw the section."""
    picture_area = page_parts.main_picture()
    changed = widgets.select_one(choices.CHANGED, _("What is changed"), changed_run_names())
    lines = chosen_curves(changed)
    with picture_area:
        show.figure(
            figures.draw_runs(lines),
            name=f"training-{changed}",
            key="born-others",
            sentence=summarise_runs(changed),
            table=lambda: {
                "run": [line.name for line in lines for _step in line.measured_at],
                "step": [int(step) for line in lines for step in line.measured_at],
                "induction": [float(score) for line in lines for score in line.induction],
            },
        )
    show.table_with_downloads(show.to_columns([_table_row(name) for name in life.RUNS]), "training-runs", "born-runs")


def changed_run_names() -> dict[str, str]:
    """Names on screen of the changed settings, by key."""
    return {
        "seeds": _("only the seed"),
        "blurred": _("layer 0 fixed at blur"),
        "one-layer": _("one layer alone"),
        "no-mask": _("no causal mask"),
        "no-scaling": _("no scaling"),
        "one-head-less": _("a head less in each layer"),
    }


def chosen_curves(changed: str) -> list[figures.RunCurve]:
    """Curves of the other seeds, of the default run, and of the chosen run."""
    usual = _("as usual, seed {seed}").format(seed=life.RUNS[life.LIFE].seed)
    lines = [
        run_curve(life.read(name), _("seed {seed}").format(seed=life.RUNS[name].seed), True) for name in life.SEEDS
    ]
    lines.append(run_curve(life.read(life.LIFE), usual))
    if changed != "seeds":
        lines.append(run_curve(life.read(changed), changed_run_names()[changed]))
    return lines


def summarise_runs(changed: str) -> str:
    """Sentence that sums up the chosen runs."""
    if changed == "seeds":
        runs = [life.read(name) for name in (life.LIFE, *life.SEEDS)]
        cliffs = [run.cliff for run in runs if run.cliff is not None]
        found_steps = [(run.find_pattern_step(run.previous), run.find_pattern_step(run.induction)) for run in runs]
        first = sum(
            previous_step is not None and (induction_step is None or previous_step < induction_step)
            for previous_step, induction_step in found_steps
        )
        return _(
            "{learned} of {all} seeds learn it: most words are predicted from step **{low:,}** on in the first, "
            "**{high:,}** in the last. In {first} of {all} a head has half of its weight on the token before, and only "
            "later one has it on what came next last time."
        ).format(learned=len(cliffs), all=len(runs), low=min(cliffs), high=max(cliffs), first=first)
    run = life.read(changed)
    values = {
        "what": changed_run_names()[changed],
        "accuracy": run.accuracy[-1],
        "steps": run.config.steps,
        "previous": run.previous[-1].max(),
        "induction": run.induction[-1].max(),
        "cliff": run.cliff,
        "usual": life.read(life.LIFE).cliff,
    }
    if run.cliff is None:
        return _(
            "A run with {what}: after {steps:,} steps **{accuracy:.0%}** of words are predicted, and the best "
            "induction score is {induction:.2f}. By then it has not learned it."
        ).format(**values)
    if not run.config.causal:
        return _(
            "A run with {what}: **{accuracy:.0%}** of words are predicted, most from step {cliff:,} on, with a best "
            "induction score of {induction:.2f}: every word can look at the answer, which stands after it."
        ).format(**values)
    return _(
        "A run with {what}: most words are predicted from step **{cliff:,}** on, as usual from step {usual:,}; after "
        "{steps:,} steps {accuracy:.0%}, with an induction score of {induction:.2f}."
    ).format(**values)


def _table_row(name: str) -> dict[str, object]:
    run = life.read(name)
    called = changed_run_names() | {life.LIFE: _("as usual")}
    return {
        _("run"): called.get(name, _("only the seed")),
        _("seed"): run.config.seed,
        _("predicted from step"): _("not by {steps:,}").format(steps=run.config.steps)
        if run.cliff is None
        else f"{run.cliff:,}",
        _("right at the end"): units.percent(run.accuracy[-1]),
        _("token before"): f"{Rounded(run.previous[-1].max()):.2f}",
        _("next, last time"): f"{Rounded(run.induction[-1].max()):.2f}",
    }


LEAST = 0.05  #: what a part adds; less would be written as 0.0


def draw(name: str, copies: life.RepeatedWords, at: int, ablated: life.AblatedHeads) -> None:
    """Draw the table of one score: of the second copy's second word, and what came after it in the first copy."""
    run = life.read(name)
    head = run.strongest_head(run.induction)
    query, key = len(copies.ids) // 2 + 1, 2
    found = score_steps(name, copies.ids, head, query, key, tuple(ablated))
    here = found[at]
    query_word, key_word = escape_markdown(copies.tokens[query]), escape_markdown(copies.tokens[key])
    st.markdown(
        _("**Does head {head} look from “{query}” to “{key}”, and why?**").format(
            head=head_name(head), query=query_word, key=key_word
        )
    )
    adds = (
        _("To that key’s score, **{part}** adds most, {value:+.1f}.")
        if here.value >= LEAST
        else _("No part adds to that key’s score.")
    )
    told = join_sentences(
        _("At step {step:,} it gives “{key}” {weight:.0%}.").format(
            step=int(run.steps[at]), weight=float(here.row[key]), key=key_word
        ),
        adds.format(part=part_label(here.largest), value=here.value),
    )
    sentence = join_sentences(told, _("Drag the handle above: the table follows."))
    figure = ScoreFigure(
        tokens=copies.tokens,
        query=query,
        key=key,
        head=head_name(head),
        queries=here.parts,
        keys=here.parts,
        steps=[_step(each, copies.tokens[key]) for each in found],
        at=at,
        label=strip_markdown(sentence),
        cuts=False,
    )
    score_table("born-score", figure)
    show.footer(
        lambda: SceneFigure((figure,), _("Training step {step:,}").format(step=int(run.steps[at]))),
        name=f"{name}-score-{run.steps[at]}",
        key="born-score",
        canvases=["born-score"],
        sentence=sentence,
        caption=told,
        table=lambda: {
            "step": [int(step) for step in run.steps for _cell in here.table.flat],
            **table_of_products(here.parts, here.parts, [each.table for each in found]),
        },
    )


@lru_cache(maxsize=64)
def score_steps(
    name: str, ids: tuple[int, ...], head: tuple[int, int], query: int, key: int, ablated: tuple[tuple[int, int], ...]
) -> tuple[ScoreParts, ...]:
    """The score at every checkpoint of a run."""
    run = life.read(name)
    return tuple(attribute_score(numbers, ids, run.config, head, query, key, ablated) for numbers in run.numbers)


def _step(found: ScoreParts, word: str) -> ScoreStep:
    sums = describe_sum(word, found.score, found.baseline)
    return ScoreStep(found.row, found.table, found.largest, found.value, found.source, sums)
