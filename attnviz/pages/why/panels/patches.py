"""Section 3: two prompts, one put into the other, layer by position."""

from typing import Any

import numpy as np

from attnviz.app import live_run, page_parts, show
from attnviz.app.text import plain
from attnviz.base.words import _, sentences
from attnviz.pages.why import figures
from attnviz.pages.why.maths import patches
from attnviz.pages.why.panels import form

SECTION = "why-patches"
TRUSTED = 0.7  #: a correlation from which on linearised cells are worth looking at


def panel() -> None:
    """Draw the section."""
    place = page_parts.main_picture()
    asked = form.ask()
    other = form.second_prompt(asked.run.request.text)
    config = patches.Config(asked.run.request.text, other, asked.parts.ids, asked.parts.masked)
    with place:
        live = live_run.advance(
            SECTION,
            (asked.run.request, config),
            lambda: patches.run(asked.loaded, config),
            lambda made: made.done >= made.asked,
        )
        _draw(asked, live.result)
        done, of = live.result.done, live.result.asked
        live_run.controls(SECTION, live, done / of, _("{n} of {all} cells computed anew").format(n=done, all=of))
    live_run.again(live)


def _draw(asked: form.Asked, made: patches.PatchMap) -> None:
    clean, corrupted = made.tokens
    names = [one if one == two else f"{one} / {two}" for one, two in zip(clean, corrupted, strict=True)]
    shares = made.shares
    below = min(1, len(shares) - 1)  # what enters the first layer gives all back, which tells nothing
    layer, at = (int(n) for n in np.unravel_index(int(np.nanargmax(shares[below:])), shares[below:].shape))
    layer += below
    said = _(
        "Put into the run of “{other}” at layer {layer}, the stream of “{token}” gives back {share:.0%} of the "
        "difference, from {before:+.2f} to {after:+.2f}."
    ).format(
        other=plain(made.config.corrupted),
        layer=layer,
        token=plain(names[at]),
        share=shares[layer, at],
        before=made.before,
        after=made.after,
    )
    how = made.correlation
    exact = (
        ""
        if how is None
        else _("Exact and linearised cells correlate with {r:.2f}.").format(r=how)
        if how >= TRUSTED
        else _("Exact and linearised cells correlate with {r:.2f} only: trust those with a dot.").format(r=how)
    )
    show.figure(
        show.chart_of(figures.patch_map, shares, made.exact, made.linear, names),
        name=f"patches-{asked.run.request.model}",
        key="why-patches",
        words=sentences(
            said,
            _("A dot marks a cell that was computed anew; the others are linearised, or can change nothing."),
            exact,
        ),
        table=lambda: _table(made, names),
    )


def _table(made: patches.PatchMap, names: list[str]) -> dict[str, list[Any]]:
    layer, at = np.indices(made.linear.shape)
    return {
        "layer": layer.ravel().tolist(),
        "position": at.ravel().tolist(),
        "token": [names[n] for n in at.ravel()],
        "linearised": made.linear.ravel().tolist(),
        "exact": ["" if np.isnan(n) else float(n) for n in made.exact.ravel()],
    }
