"""Section 5: RoPE over the time, height and width of a video's patches."""

from __future__ import annotations

import numpy as np
import streamlit as st

from attnviz.app import show, widgets
from attnviz.app.cache.kept_charts import chart_of
from attnviz.app.code_snippet import snippet
from attnviz.app.links import link_state
from attnviz.base.words import _, clauses, ended, ngettext, sentences
from attnviz.pages.positions import choices
from attnviz.pages.positions import choices as positions_choices
from attnviz.pages.positions.figures import video as figures
from attnviz.pages.positions.maths import position_snippets, video_attention, video_axes
from attnviz.pages.positions.panels import position_results


def panel() -> None:
    config = _controls()
    result = position_results.video(config)
    st.latex(_formula(result))
    st.markdown(f"**{_verdict(result)}**")
    left, right = st.columns(2, gap="medium")
    with left:
        _split(result)
    with right:
        _waves(result)
    _frames(result)
    position_results.program(position_snippets.video(config), "video")
    attention_panel()


def chosen() -> video_axes.Config:
    """The configuration from the current choices; the query's patch is one that the video has."""
    value = link_state.value
    sizes = [value(size) for size in positions_choices.SIZES]
    at = [min(value(place), size - 1) for place, size in zip(positions_choices.PATCH, sizes, strict=True)]
    own = [value(width) for width in positions_choices.OWN]
    return video_axes.Config(
        value(positions_choices.SPLIT),
        value(positions_choices.D_HEAD),
        (own[0], own[1], own[2]),
        sizes[0],
        sizes[1],
        sizes[2],
        (at[0], at[1], at[2]),
        value(positions_choices.BASE),
    )


def _controls() -> video_axes.Config:
    split = widgets.one_of(positions_choices.SPLIT, _("Split of the head"), position_results.splits())
    axes = position_results.axes()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        widgets.number(positions_choices.D_HEAD, _("Width of a head"), step=2, width=140)
        if split == "own":
            for choice, axis in zip(positions_choices.OWN, axes, strict=True):
                widgets.number(choice, _("of it for {axis}").format(axis=axis), step=1, width=140)
        widgets.number(positions_choices.BASE, _("Base b"), step=1000.0, width=140)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for choice, label in zip(positions_choices.SIZES, (_("Frames"), _("Rows"), _("Columns")), strict=True):
            widgets.number(choice, label, step=1, width=110)
        labels = (_("Query: frame"), _("Query: row"), _("Query: column"))
        for choice, size, label in zip(positions_choices.PATCH, positions_choices.SIZES, labels, strict=True):
            widgets.number(choice, label, step=1, high=link_state.value(size) - 1, width=130)
    return chosen()


def _formula(result: video_axes.Result) -> str:
    rotated = " + ".join(str(width) for width in result.rotated)
    tail = rf" + \underbrace{{{result.left}}}_{{\text{{not rotated}}}}" if result.left else ""
    return rf"D = {result.config.d_head} = {rotated}{tail}"


def _verdict(result: video_axes.Result) -> str:
    config = result.config
    if config.split == "flat":
        return _(
            "One number for each patch: the patch below is {columns} positions away, the next frame {frame}. The head "
            "is told nothing of rows and frames."
        ).format(columns=config.width, frame=config.height * config.width)
    if not result.left:
        return _("All {d} numbers of the head are rotated, in {pairs} pairs.").format(
            d=config.d_head, pairs=config.d_head // 2
        )
    odd = [
        _("{axis} was given {asked} and rotates {rotated}").format(axis=axis, asked=asked, rotated=rotated)
        for axis, asked, rotated in zip(position_results.axes(), result.asked, result.rotated, strict=True)
        if asked != rotated
    ]
    said = ngettext(
        "{left} of {d} numbers ({pairs} pair) are not rotated and carry no position.",
        "{left} of {d} numbers ({pairs} pairs) are not rotated and carry no position.",
        result.left // 2,
    ).format(left=result.left, d=config.d_head, pairs=result.left // 2)
    if not odd:
        return said
    return sentences(said, _("An odd width leaves one number without a partner: {which}.").format(which=clauses(odd)))


def _split(result: video_axes.Result) -> None:
    flat = result.config.split == "flat"
    names = [_("patch number")] if flat else list(position_results.axes())
    told = [
        ngettext("{axis}: {pairs} pair", "{axis}: {pairs} pairs", width // 2).format(axis=name, pairs=width // 2)
        for name, width in zip(names, result.rotated, strict=True)
    ]
    if result.left:
        left_over = _("left over: {left} numbers, {share:.1%} of the head")
        told.append(left_over.format(left=result.left, share=result.left / result.config.d_head))
    words = clauses(told)
    fig = chart_of(figures.split, list(zip(names, result.rotated, strict=True)), result.left)
    table = {"part": [*names, "not rotated"], "numbers": [*result.rotated, result.left]}
    show.figure(fig, name="video-split", key="p_video_split", table=table, caption=words, words=ended(words))


def _frames(result: video_axes.Result) -> None:
    config, scores = result.config, result.scores
    at = config.at
    own = float(scores[at])
    words = _(
        "Scores of the marked patch from position alone: {own:.3g} for itself; when every patch moves by one frame, "
        "two rows and three columns, none changes by more than {shifted:.1g}."
    ).format(own=own, shifted=result.shifted)
    if result.twins:
        twins = ngettext(
            "{twins} other patch gets exactly the score of its own: position cannot tell them apart.",
            "{twins} other patches get exactly the score of its own: position cannot tell them apart.",
            result.twins,
        )
        words = sentences(words, twins.format(twins=result.twins))
    frame, row, column = (index.ravel() for index in np.indices(scores.shape))
    table = {"frame": frame, "row": row, "column": column, "score": scores.ravel()}
    show.figure(
        chart_of(figures.frames, scores, at),
        name="video-frames",
        key="p_video_frames",
        table=table,
        caption=words,
        words=words,
    )


def _waves(result: video_axes.Result) -> None:
    config = result.config
    sizes, names = [config.frames, config.height, config.width], list(position_results.axes())
    if config.split == "flat":
        sizes, names = [config.frames * config.height * config.width], [_("patch number")]
    lines = list(zip(names, result.wavelengths, sizes, strict=True))
    told = [
        ngettext(
            "{axis}: {within} of {pairs} pairs completes a turn",
            "{axis}: {within} of {pairs} pairs complete a turn",
            int((waves <= size).sum()),
        ).format(axis=name, within=int((waves <= size).sum()), pairs=len(waves))
        for name, waves, size in lines
    ]
    words = ended(clauses(told))
    longest = max(len(waves) for waves in result.wavelengths)
    table = {"pair": np.arange(longest)} | {
        name: np.pad(waves, (0, longest - len(waves)), constant_values=np.nan) for name, waves, _size in lines
    }
    show.figure(
        chart_of(figures.wavelengths, lines),
        name="video-wavelengths",
        key="p_video_waves",
        table=table,
        caption=words,
        words=words,
    )


# Self-attention over a small video's patches, drawn where they lie: what q and k's norm and the rotations do.
def attention_panel() -> None:
    """Draw the controls, the frames and the program."""
    st.subheader(_("The same on a video that holds something"), anchor=False)
    config = _attention_controls()
    result = position_results.video_attention_of(config)
    _attention_frames(result)
    snippet(video_attention.program(config), "p-video-attention")


def _attention_controls() -> video_attention.Config:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        digit = int(widgets.number(choices.VIDEO_DIGIT, _("Digit that moves"), step=1, width=130))
        labels = (_("Query: frame"), _("Query: row"), _("Query: column"))
        at = [
            int(widgets.number(choice, label, step=1, width=130))
            for choice, label in zip(choices.VIDEO_AT, labels, strict=True)
        ]
        head = int(widgets.number(choices.VIDEO_HEAD, _("Head"), step=1, width=100))
        turned = widgets.toggle(choices.VIDEO_TURNED, _("Rotate by time, height and width"))
        normed = widgets.toggle(choices.VIDEO_NORMED, _("Normalise q and k"))
    return video_attention.Config(digit, (at[0], at[1], at[2]), head, turned, normed)


def _attention_frames(result: video_attention.Result) -> None:
    config, row = result.config, result.row
    frame, high, wide = (each.ravel() for each in np.indices(row.shape))
    table = {"frame": frame, "row": high, "column": wide, "weight": row.ravel()}
    show.figure(
        chart_of(figures.lit_frames, result.video, row, config.at),
        name="video-attention",
        key="p_video_attention",
        table=table,
        words=_words(result),
    )


def _words(result: video_attention.Result) -> str:
    config, row = result.config, result.row
    flat = row.ravel()
    said = _(
        "The patch with the blue frame gives itself {own}, its own frame {same}, and {most} at most to one patch: that "
        "is full light. Weights are random (seed {seed}); q and k come of one matrix, so that like finds like."
    ).format(
        own=f"{flat[result.query]:.1%}",
        same=f"{row[config.at[0]].sum():.0%}",
        most=f"{flat.max():.1%}",
        seed=config.seed,
    )
    if not result.twins:
        return sentences(said, _("No other patch holds exactly its pixels."))
    twins = flat[list(result.twins)]
    if config.turned:
        told = _(
            "{count} other patches hold exactly its pixels, and get from {least} to {most}: the rotations tell them "
            "apart by where they are."
        )
    else:
        told = _("{count} other patches hold exactly its pixels, and get {least} each, wherever they are.")
    return sentences(said, told.format(count=len(twins), least=f"{twins.min():.1%}", most=f"{twins.max():.1%}"))
