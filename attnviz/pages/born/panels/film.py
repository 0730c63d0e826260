"""Section 1: one training run with a handle, asked about first; at the handle all heads on the visitor's words."""

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import streamlit as st

from attnviz.app import page_parts, show, widgets
from attnviz.app.links import link_state
from attnviz.app.links.choices import name_of_head as name_of
from attnviz.base.words import _, listed, sentences
from attnviz.canvas import birth
from attnviz.canvas.shared.packing import fingerprint
from attnviz.core.attention import scale_factor
from attnviz.live.scene_figure import SceneFigure
from attnviz.pages.born import choices, figures
from attnviz.pages.born.maths import life
from attnviz.pages.born.maths.repeats import Config, Silenced


def panel() -> None:
    """Draw the section."""
    place = page_parts.main_picture()
    with page_parts.two_in_a_row("born"):
        text = widgets.text(choices.WORDS, _("Your words, which come twice"))
        name = widgets.one_of(choices.RUN, _("Training run"), runs(), style="select")
    run = life.read(name)
    copies = life.copies_of(text, run.config)
    heads = {name_of(head): head for head in run.config.places}
    off = tuple(heads[each] for each in widgets.chosen_of(choices.OFF, heads))
    at = run.nearest(link_state.value(choices.AT))
    guess = link_state.value(choices.GUESS)
    whole = guess != choices.GUESS.default

    def keep(at: int, off: Silenced) -> None:
        link_state.put_all({choices.AT: int(run.steps[at]), choices.OFF: tuple(map(name_of, off)) or None})

    with place:
        _ask(name, copies, guess)
        draw("born-film", name, copies, at, off, whole, keep)
        show.under(
            lambda: picture(name, copies, at, off, whole),
            name=f"{name}-step-{run.steps[at]}",
            key="born-film-out",
            canvas=show.canvas_of("born-film"),
            words=said(name, at, off),
            table=lambda: table(run),
        )
    show.snippet(
        f'from attnviz.pages.born.maths import life\n\nrun = life.read("{name}")\n'
        "print(run.cliff, run.accuracy[-1])\nprint(run.previous[-1])\nprint(run.induction[-1])\n",
        "born-film",
        about=_("Paste this code into a notebook: it prints what this run has learned. `life.run` trains it again."),
    )


def runs() -> dict[str, str]:
    """Runs whose numbers are here, and their names."""
    return {
        life.LIFE: _("as usual, seed {seed}").format(seed=life.RUNS[life.LIFE].seed),
        life.BLURRED: _("layer 0 fixed at blur"),
        **{name: _("{name}, trained on this machine").format(name=name) for name in life.own_names()},
    }


def _ask(name: str, copies: life.Copies, guess: str) -> None:
    """The question, and once it is answered, what is computed."""
    names = {each: f"{int(each):,}" for each in choices.GUESSES if each.isdigit()} | {"never": _("never")}
    with st.container(key="born-ask", horizontal=True, vertical_alignment="center", gap="small"):
        if guess == choices.GUESS.default:
            st.markdown(_("**From which step is the second copy of your words predicted?**"), width="content")
            for each, words in names.items():
                st.button(words, key=f"born-guess-{each}", on_click=link_state.put, args=(choices.GUESS, each))
            return
        learned = life.learned_between(name, copies)
        st.markdown(verdict(names[guess], learned, life.read(name).config.steps), width="content")
        st.button(
            _("Ask again"),
            key="born-again",
            type="tertiary",
            icon=":material/undo:",
            on_click=link_state.put,
            args=(choices.GUESS, choices.GUESS.default),
        )


def verdict(guessed: str, learned: tuple[int, int] | None, steps: int) -> str:
    """What was guessed beside what is computed, at the steps whose numbers are kept."""
    if learned is None:
        return _("You predicted: {guess}. **Computed: not by step {steps:,}**, where this run ends.").format(
            guess=guessed, steps=steps
        )
    before, step = learned
    return _(
        "You predicted: {guess}. **Computed: between steps {before:,} and {step:,}**; from then on at least half of it "
        "is."
    ).format(guess=guessed, before=before, step=step)


def draw(
    key: str,
    name: str,
    copies: life.Copies,
    at: int,
    off: Silenced,
    whole: bool,
    keep: Callable[[int, Silenced], None],
) -> None:
    """The run with its handle; `keep` hears where it was left and what is silenced."""
    run = life.read(name)
    heads = run.config.places
    birth.birth(
        key,
        told(name, tuple(off)),
        run.numbers,
        copies.tokens,
        copies.ids,
        lambda kept: run.passes(copies.ids, kept, off),
        at=at,
        silenced=[heads.index(each) for each in off],
        whole=whole,
        on_stand=lambda stood: keep(stood[0], tuple(heads[head] for head in stood[1])),
    )


@lru_cache(maxsize=64)
def told(name: str, off: tuple[tuple[int, int], ...]) -> dict[str, Any]:
    """A run as the browser is sent it, without its numbers: a line for each head, and the loss with some silenced.

    Made once for all visitors: to name its megabytes alone takes 3 ms.
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
        "without": life.without(name, off)[:, 0] if off else np.zeros(0),
    }
    return {
        "model": fingerprint(run.numbers.tobytes()),
        "sizes": sizes_of(run.config),
        "steps": run.steps.tolist(),
        "names": list(map(name_of, run.config.places)),
        "curves": {part: np.round(values, 4).tolist() for part, values in curves.items()},
    }


def sizes_of(config: Config) -> dict[str, Any]:
    """What the browser's pass has to know of the model; `scales` multiply the scores of each layer."""
    usual = scale_factor("sqrt" if config.scaled else None, config.d_head)
    own = {name: getattr(config, name) for name in ("words", "width", "layers", "heads", "base", "causal")}
    scales = [0.0 if config.blurred and layer == 0 else usual for layer in range(config.layers)]
    return own | {"depth": config.d_head, "scales": scales}


def said(name: str, at: int, off: Silenced) -> str:
    """What is seen at the handle, on copies that the model was never trained on."""
    run = life.read(name)
    place = int(run.kept[at])
    measured = _("Measured on copies of {held} words, lengths never trained on.").format(
        held=listed(map(str, run.config.held_out))
    )
    if off:
        right = life.without(name, tuple(off))[:, 1]
        silenced = _(
            "With {heads} silenced, **{here:.0%}** of words are predicted at step {step:,}, at most {most:.0%} at "
            "any of {looks} steps; with all heads {whole:.0%} at the end (guessing: {guess:.1%})."
        ).format(
            heads=listed(map(name_of, off)),
            here=right[at],
            step=run.at[place],
            most=right.max(),
            looks=len(right),
            guess=1 / run.config.words,
            whole=run.accuracy[-1],
        )
        return sentences(silenced, measured)
    one, two = (divmod(int(scores[place].argmax()), run.config.heads) for scores in (run.previous, run.induction))
    seen = _(
        "At step {step:,} **{accuracy:.0%}** of words are predicted. Head {one} gives {previous:.2f} of its weight to "
        "the token before, head {two} gives {induction:.2f} to what came after the same word last time."
    ).format(
        step=run.at[place],
        accuracy=run.accuracy[place],
        one=name_of(one),
        previous=run.previous[place][one],
        two=name_of(two),
        induction=run.induction[place][two],
    )
    return sentences(seen, measured, _("Numbers beside the heads are of your words."))


def picture(name: str, copies: life.Copies, at: int, off: Silenced, whole: bool) -> SceneFigure:
    """The same for a file."""
    run = life.read(name)
    silenced = [run.config.places.index(head) for head in off]
    part = birth.BirthFigure(told(name, tuple(off)), run.numbers[at], copies.tokens, copies.ids, at, silenced, whole)
    title = _("Training step {step:,}: {words}").format(step=int(run.steps[at]), words=" ".join(copies.tokens))
    return SceneFigure((part,), title, replace(part, numbers=run.numbers))


def curve_of(run: life.Life, name: str, faint: bool = False) -> figures.RunCurve:
    """A run as a curve of its loss and one of its best induction score."""
    return figures.RunCurve(name, *run.curve, run.at, run.induction.max((1, 2)), faint)


def table(run: life.Life) -> dict[str, list[float]]:
    """What was measured at each step that was looked at."""
    columns = {"step": run.at, "loss": run.loss, "accuracy": run.accuracy}
    for name, scores in (("previous", run.previous), ("induction", run.induction)):
        columns |= {f"{name} {layer}.{head}": scores[:, layer, head] for layer, head in run.config.places}
    return {name: np.asarray(values).tolist() for name, values in columns.items()}
