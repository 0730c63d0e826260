"""Section 4: RoPE over a video's patches; attention over one, with queries and keys that grow, normalised or not."""

import math
from typing import cast

import numpy as np
import streamlit as st

from attnviz.app import page_parts, show, widgets
from attnviz.app.cache.shared_results import shared
from attnviz.app.links import link_state
from attnviz.base.rounding import Rounded
from attnviz.base.words import _, end_sentence, join_clauses, join_sentences, ngettext
from attnviz.core.costs import QKNorm
from attnviz.pages.positions import choices, figures
from attnviz.pages.positions.maths import video

compute_split = shared(video.split)
compute_attention = shared(video.attention)


def panel() -> None:
    main_picture = page_parts.main_picture()
    config = _choose_split()
    result = compute_split(config)
    with main_picture:
        _draw_frames(result)
    st.subheader(_("How the head’s numbers are divided"), anchor=False)
    st.markdown(f"${_formula(result)}$ · {_verdict(result)}")
    page_parts.draw_columns(lambda: _draw_split(result), lambda: _draw_wavelengths(result), gap="large")
    show.program(
        video.split_program(config),
        "p-video",
        about=_("Paste this code into a notebook: it prints the split of the head, and scores of the query’s frame."),
    )
    attention_panel()


def _axis_names() -> tuple[str, str, str]:
    return _("time"), _("height"), _("width")


def _choose_split() -> video.SplitConfig:
    split = widgets.select_one(
        choices.SPLIT,
        _("Split of the head"),
        {
            "rest": _("thirds, time takes the rest"),
            "quarter": _("1/4, 3/8, 3/8"),
            "thirds": _("width // 3 each"),
            "own": _("your own"),
            "flat": _("one number for each patch"),
        },
    )
    with st.container(horizontal=True, vertical_alignment="bottom", key="p-video-sizes"):
        d_head = widgets.number_box(choices.D_HEAD, _("Width of a head"), step=2, width=140)
        if split == "own":
            for choice, axis in zip(choices.AXIS_WIDTHS, _axis_names(), strict=True):
                widgets.number_box(choice, _("of it for {axis}").format(axis=axis), step=1, width=140)
        sizes = tuple(
            widgets.number_box(choice, label, step=1, width=110)
            for choice, label in zip(choices.SIZES, (_("Frames"), _("Rows"), _("Columns")), strict=True)
        )
        at = tuple(
            widgets.number_box(choice, label, step=1, high=size - 1, width=130)
            for choice, size, label in zip(choices.PATCH, sizes, _query_labels(), strict=True)
        )
        with page_parts.more_menu():
            base = widgets.number_box(choices.BASE, _("Base b"), step=1000.0)
    return video.SplitConfig(split, d_head, tuple(map(link_state.value, choices.AXIS_WIDTHS)), sizes, at, base)


def _query_labels() -> tuple[str, str, str]:
    return _("Query: frame"), _("Query: row"), _("Query: column")


def _formula(result: video.Split) -> str:
    rotated = " + ".join(str(width) for width in result.rotated_widths)
    tail = rf" + \underbrace{{{result.unrotated}}}_{{\text{{not rotated}}}}" if result.unrotated else ""
    return rf"D = {result.config.d_head} = {rotated}{tail}"


def _verdict(result: video.Split) -> str:
    config = result.config
    if config.split == "flat":
        frame, columns, _stride = config.strides
        return _(
            "One number for each patch: the patch below is {columns} positions away, the next frame {frame}. The "
            "head learns nothing about rows and frames."
        ).format(columns=columns, frame=frame)
    if not result.unrotated:
        return ngettext(
            "Both numbers of the head are rotated, as one pair.",
            "All {d} numbers of the head are rotated, in {pairs} pairs.",
            config.d_head // 2,
        ).format(d=config.d_head, pairs=config.d_head // 2)
    odd = [
        _("{axis} was given {asked} and rotates {rotated}").format(axis=axis, asked=width, rotated=rotated)
        for axis, width, rotated in zip(_axis_names(), video.widths(config), result.rotated_widths, strict=True)
        if width != rotated
    ]
    unturned = ngettext(
        "{left} of {d} numbers ({pairs} pair) are not rotated and carry no position.",
        "{left} of {d} numbers ({pairs} pairs) are not rotated and carry no position.",
        result.unrotated // 2,
    ).format(left=result.unrotated, d=config.d_head, pairs=result.unrotated // 2)
    if not odd:
        return unturned
    return join_sentences(
        unturned, _("An odd width leaves one number without a partner: {which}.").format(which=join_clauses(odd))
    )


def _pair_names(result: video.Split) -> list[str]:
    return [_("patch number")] if result.config.split == "flat" else list(_axis_names())


def _draw_split(result: video.Split) -> None:
    names = _pair_names(result)
    segments = [
        ngettext("{axis}: {pairs} pair", "{axis}: {pairs} pairs", width // 2).format(axis=name, pairs=width // 2)
        for name, width in zip(names, result.rotated_widths, strict=True)
    ]
    if result.unrotated:
        share = result.unrotated / result.config.d_head
        segments.append(
            _("left over: {left} numbers, {share:.1%} of the head").format(left=result.unrotated, share=share)
        )
    caption = end_sentence(join_clauses(segments))
    show.figure(
        show.chart_of(figures.split_of_width, list(zip(names, result.rotated_widths, strict=True)), result.unrotated),
        name="video-split",
        key="p_video_split",
        table={"part": [*names, "not rotated"], "numbers": [*result.rotated_widths, result.unrotated]},
        caption=caption,
        sentence=caption,
    )


def _draw_frames(result: video.Split) -> None:
    at, scores = result.config.at, result.scores
    caption = _(
        "Scores of the marked patch from position alone: {own:.3g} for itself. Move every patch by one frame, two rows "
        "and three columns, and no score changes by more than {shifted:.1g}, which is rounding."
    ).format(own=float(scores[at]), shifted=result.shift_change)
    if result.twins:
        twins = ngettext(
            "{twins} other patch gets exactly the score of its own: position cannot tell them apart.",
            "{twins} other patches get exactly the score of its own: position cannot tell them apart.",
            result.twins,
        )
        caption = join_sentences(caption, twins.format(twins=result.twins))
    frame, row, column = (index.ravel() for index in np.indices(scores.shape))
    show.figure(
        show.chart_of(figures.frame_scores, scores, at),
        name="video-frames",
        key="p_video_frames",
        table={"frame": frame, "row": row, "column": column, "score": scores.ravel()},
        sentence=caption,
    )


def _draw_wavelengths(result: video.Split) -> None:
    config = result.config
    sizes = [math.prod(config.sizes)] if config.split == "flat" else config.sizes
    lines = list(zip(_pair_names(result), result.wavelengths, sizes, strict=True))
    turns = [
        _("{axis}: {within} of {pairs}").format(axis=name, within=int((waves <= size).sum()), pairs=len(waves))
        for name, waves, size in lines
    ]
    longest = max(len(waves) for waves in result.wavelengths)
    show.figure(
        show.chart_of(figures.video_wavelengths, lines),
        name="video-wavelengths",
        key="p_video_waves",
        table={"pair": np.arange(longest)}
        | {name: np.pad(waves, (0, longest - len(waves)), constant_values=np.nan) for name, waves, _size in lines},
        sentence=_("Pairs that complete a turn: {list}.").format(list=join_clauses(turns)),
    )


# Self-attention over a small video's patches, drawn where they lie: what q and k's norm and the rotations do.
def attention_panel() -> None:
    """Draw the controls, the frames and the program."""
    st.subheader(_("The same on a video that holds something"), anchor=False)
    with st.container(horizontal=True, vertical_alignment="bottom", key="p-video-query"):
        over = {"head": _("over each head"), "full": _("over all heads together")}
        config = video.AttentionConfig(
            at=tuple(
                widgets.number_box(choice, label, step=1, width=130)
                for choice, label in zip(choices.VIDEO_AT, _query_labels(), strict=True)
            ),
            digit=widgets.number_box(choices.VIDEO_DIGIT, _("Digit that moves"), step=1, width=130),
            head=widgets.number_box(choices.VIDEO_HEAD, _("Head"), step=1, width=100),
            rotate=widgets.toggle(choices.VIDEO_TURNED, _("Rotate by time, height and width")),
            normalise=(normed := widgets.toggle(choices.VIDEO_NORMED, _("Normalise q and k"))),
            norm=cast(QKNorm, widgets.select_one(choices.VIDEO_NORM, _("RMSNorm of q and k"), over))
            if normed
            else "head",
            growth=widgets.number_box(choices.VIDEO_GROWTH, _("W_q and W_k ×"), step=1.0, width=150),
        )
    result = compute_attention(config)
    frame, high, wide = (index.ravel() for index in np.indices(result.row.shape))
    show.figure(
        show.chart_of(figures.lit_frames, result.video, result.row, config.at),
        name="video-attention",
        key="p_video_attention",
        table={"frame": frame, "row": high, "column": wide, "weight": result.row.ravel()},
        sentence=_attention_caption(result),
    )
    show.program(video.attention_program(config), "p-video-attention")


def _attention_caption(result: video.VideoAttention) -> str:
    config, row = result.config, result.row
    flat = row.ravel()
    caption = _(
        "The patch with the blue frame gives itself {own}, its own frame {same}, and {most} at most to one patch: that "
        "is full light. Weights are random (seed {seed}); q and k come of one matrix, so that like finds like."
    ).format(
        own=f"{Rounded(flat[config.query]):.1%}",
        same=f"{Rounded(row[config.at[0]].sum()):.0%}",
        most=f"{Rounded(flat.max()):.1%}",
        seed=config.seed,
    )
    growing = (
        _(
            "W_q and W_k ×{growth:g}: this head’s largest |logit| is {largest:.3g}, and with the norm it stays so "
            "however they grow: it cannot pass {bound:.3g}."
        )
        if config.normalise
        else _(
            "W_q and W_k ×{growth:g}: this head’s largest |logit| is {largest:.3g}. Without the norm it grows with "
            "the square of the factor."
        )
    ).format(growth=config.growth, largest=Rounded(result.largest), bound=Rounded(result.bound))
    caption = join_sentences(caption, growing)
    if config.normalise and config.norm == "full":
        low, high = result.lengths
        uneven = _(
            "Normalised over all {heads} heads together, as in Wan’s video transformer, this head’s queries are "
            "{low:.2f} to {high:.2f} long; normalised over each head, all would be √{d} = {root:.2f} long."
        ).format(heads=video.HEADS, low=low, high=high, d=video.D_HEAD, root=video.D_HEAD**0.5)
        caption = join_sentences(caption, uneven)
    if not result.twins:
        return join_sentences(caption, _("No other patch holds exactly its pixels."))
    twins = flat[list(result.twins)]
    least, most = (f"{Rounded(share):.1%}" for share in (twins.min(), twins.max()))
    if not config.rotate:
        others = _(
            "{count} other {count:patch holds|patches hold} exactly its pixels, and {count:gets|get} {least}"
            "{count:| each}, wherever {count:it is|they are}."
        )
    elif least == most:  # of one, or of several that differ by less than is shown
        others = _(
            "{count} other {count:patch holds|patches hold} exactly its pixels, and {count:gets|get} {least}, to 0.1%."
        )
    else:
        others = _(
            "{count} other patches hold exactly its pixels, and get from {least} to {most}: the rotations tell them "
            "apart by where they are."
        )
    return join_sentences(caption, others.format(count=len(twins), least=least, most=most))
