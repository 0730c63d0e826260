"""Section 2: runs that were really made otherwise: other seeds, one layer, no mask, no scaling, a head less."""

from attnviz.app import page_parts, show, widgets
from attnviz.base import units
from attnviz.base.rounding import Rounded
from attnviz.base.words import _
from attnviz.pages.born import choices, figures
from attnviz.pages.born.maths import life
from attnviz.pages.born.panels.film import curve_of


def panel() -> None:
    """Draw the section."""
    place = page_parts.main_picture()
    changed = widgets.one_of(choices.CHANGED, _("What is changed"), names())
    lines = lines_of(changed)
    with place:
        show.figure(
            figures.compared(lines),
            name=f"training-{changed}",
            key="born-others",
            words=said(changed),
            table=lambda: {
                "run": [line.name for line in lines for _step in line.at],
                "step": [int(step) for line in lines for step in line.at],
                "induction": [float(score) for line in lines for score in line.induction],
            },
        )
    show.tabled(show.columns([_row(name) for name in life.RUNS]), "training-runs", "born-runs")


def names() -> dict[str, str]:
    """What a run is called for what is changed in it."""
    return {
        "seeds": _("only the seed"),
        "blurred": _("layer 0 fixed at blur"),
        "one-layer": _("one layer alone"),
        "no-mask": _("no causal mask"),
        "no-scaling": _("no scaling"),
        "one-head-less": _("a head less in each layer"),
    }


def lines_of(changed: str) -> list[figures.RunCurve]:
    """The curves of other seeds, of the usual run, and of the one that is chosen."""
    usual = _("as usual, seed {seed}").format(seed=life.RUNS[life.LIFE].seed)
    lines = [curve_of(life.read(name), _("seed {seed}").format(seed=life.RUNS[name].seed), True) for name in life.SEEDS]
    lines.append(curve_of(life.read(life.LIFE), usual))
    if changed != "seeds":
        lines.append(curve_of(life.read(changed), names()[changed]))
    return lines


def said(changed: str) -> str:
    """What the chosen runs show, in their own numbers."""
    if changed == "seeds":
        made = [life.read(name) for name in (life.LIFE, *life.SEEDS)]
        cliffs = [run.cliff for run in made if run.cliff is not None]
        found = [(run.found(run.previous), run.found(run.induction)) for run in made]
        first = sum(one is not None and (two is None or one < two) for one, two in found)
        return _(
            "{learned} of {all} seeds learn it: most words are predicted from step **{low:,}** on in the first, "
            "**{high:,}** in the last. In {first} of {all} a head has half of its weight on the token before, and only "
            "later one has it on what came next last time."
        ).format(learned=len(cliffs), all=len(made), low=min(cliffs), high=max(cliffs), first=first)
    run = life.read(changed)
    values = {
        "what": names()[changed],
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


def _row(name: str) -> dict[str, object]:
    run = life.read(name)
    called = names() | {life.LIFE: _("as usual")}
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
