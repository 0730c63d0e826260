"""What a model says of a picture, and beside it what it says under a change, in words."""

from __future__ import annotations

import streamlit as st

from attnviz.app.guarding import show_problem
from attnviz.app.text import plain
from attnviz.base.message import Problem
from attnviz.base.words import _, listed
from attnviz.models.catalogue import LoadedModel
from attnviz.pages.pictures.maths.picture_record import HeadChange, PictureAnswer, PictureRun
from attnviz.pages.pictures.maths.picture_run import rerun
from attnviz.pages.pictures.panels import picture_cache
from attnviz.pages.pictures.panels.picture_cache import ChosenPicture


def answer_under(loaded: LoadedModel, picture: ChosenPicture, run: PictureRun, change: HeadChange) -> PictureAnswer:
    """What the model says under a change, asked once."""
    if not change:
        return run.answer
    return picture_cache.of_run(loaded, picture, change, lambda: rerun(loaded, run, change)[0], reruns=True)


def draw(loaded: LoadedModel, picture: ChosenPicture, run: PictureRun, change: HeadChange) -> None:
    """What the model says, and beside it what it says under the change."""
    if not run.answer.words:
        st.markdown(_("This model gives no names: it turns a picture into vectors. Its heads can be looked at."))
        return
    words = _written(run.answer)
    if not change:
        if len(run.answer.words) > 1:
            st.markdown(
                _("The model writes **{said}** and is {share} sure.").format(said=words, share=_share(run.answer))
            )
        else:
            st.markdown(
                _("The model says **{said}** and is {share} sure. Next: {others}.").format(
                    said=words, share=_share(run.answer), others=_others(run.answer)
                )
            )
        return
    try:
        after = answer_under(loaded, picture, run, change)
    except Problem as problem:  # what cannot be done to a model is no reason to take its heads away
        show_problem(problem)
        return
    if after.said != run.answer.said:
        template = _("With {what}: **{after}** ({share_after}). Without the change: **{before}** ({share_before}).")
    elif _share(after) != _share(run.answer):
        template = _("With {what} it is still **{after}** ({share_after}); without the change {share_before}.")
    else:
        template = _("With {what} it is still **{after}** ({share_after}), as without the change, to 0.1%.")
    st.markdown(
        template.format(
            what=what_changed(run, change),
            after=_written(after),
            share_after=_share(after),
            before=words,
            share_before=_share(run.answer),
        )
    )


def what_changed(run: PictureRun, change: HeadChange) -> str:
    """The change in words."""
    parts = []
    if change.hidden:
        of = run.stacks[0].grid.patches
        parts.append(_("{count} of {of} patches hidden").format(count=len(change.hidden), of=of))
    if change.silenced:
        heads = listed(f"{layer}.{head}" for _name, layer, head in change.silenced)
        parts.append(_("silenced heads {heads}").format(heads=heads))
    if change.factor != 1.0:
        at = f"{change.head[1]}.{change.head[2]}"
        parts.append(_("the scale of head {head} times {factor:g}").format(head=at, factor=change.factor))
    return listed(parts)


def _written(answer: PictureAnswer) -> str:
    words = [word for word in answer.words if not (word.startswith("<") and word.endswith(">"))]
    return plain(" ".join(words)) if words else _("nothing")


def _share(answer: PictureAnswer) -> str:
    share = answer.share
    return "99.9%" if 0.9995 <= share < 1 else f"{share:.1%}"


def _others(answer: PictureAnswer) -> str:
    return listed(f"{plain(word)} {share:.1%}" for word, share in answer.others[1:3])
