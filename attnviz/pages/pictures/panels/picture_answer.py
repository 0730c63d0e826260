"""The answer of a model, its answer under a change, and the search for a smallest set of patches."""

from collections.abc import Iterable, Iterator
from functools import partial

import numpy as np
import streamlit as st

from attnviz.app import guess, show, widgets
from attnviz.app.cache import model_cache
from attnviz.app.exports import cell_columns
from attnviz.app.links import link_state
from attnviz.app.links.choices import head_name
from attnviz.app.panel import show_problem
from attnviz.app.text import escape_markdown, quote_token, translate_markdown
from attnviz.base.message import Problem
from attnviz.base.rounding import Rounded
from attnviz.base.words import _, join_list, translate_message
from attnviz.canvas.patch_view import PatchScene
from attnviz.figures.attention_figures import side_by_side
from attnviz.models.catalogue import LoadedModel
from attnviz.pages.pictures import choices
from attnviz.pages.pictures.maths.patch_measures import attention_received, most_watched_patch
from attnviz.pages.pictures.maths.picture_record import HeadChange, PatchStack, PictureAnswer, PictureRun, TextEncoder
from attnviz.pages.pictures.maths.picture_run import SmallestSet, compare_answers, find_smallest_set, rerun
from attnviz.pages.pictures.panels import picture_cache, picture_input

MOST_BARS = 5  #: of a model of many classes
MOST_NAMED = 6  #: outliers that a sentence names, those with the most weight
MOST_TOKENS = 24  #: shown of a description; SigLIP fills each up to 64


def draw(
    loaded: LoadedModel, picture: picture_cache.ChosenPicture, run: PictureRun, change: HeadChange
) -> tuple[tuple[str, float, float], ...]:
    """Draw the answer of the model, and its answer under the change: names, probabilities, those without the change."""
    if not run.answer.tokens:
        st.markdown(_("This model gives no names: it turns a picture into vectors. Its heads can be looked at."))
        return ()
    if loaded.entry.shipped and picture.name.startswith("photo"):  # a notice says that its answer means nothing
        return ()
    before, share = _answer_text(run.answer), _answer_share(run.answer)
    if not change:
        text = (
            _("The model writes **{said}** and is {share} sure.")
            if len(run.answer.tokens) > 1
            else _("The model says **{said}** and is {share} sure.")
        )
        if picture.name == picture_input.EMPTY:
            text = _(
                "Draw a digit on the picture: the model answers while you draw. "
                "Shown nothing, it says **{said}**, {share}."
            )
        st.markdown(text.format(said=before, share=share))
        return _answer_bars(loaded, run.answer, run.answer)
    try:
        after = picture_cache.run_result(loaded, picture, change, lambda: rerun(loaded, run, change)[0], reruns=True)
    except Problem as problem:  # what cannot be done to a model is no reason to take its heads away
        show_problem(problem)
        return _answer_bars(loaded, run.answer, run.answer)
    share_after = _answer_share(after)
    if after.text != run.answer.text:
        text = _("With {what}: **{after}** ({share_after}). Without the change: **{before}** ({share_before}).")
    elif share_after != share:
        text = _("With {what} it is still **{after}** ({share_after}); without the change {share_before}.")
    else:
        text = _("With {what} it is still **{after}** ({share_after}), as without the change, to 0.1%.")
    values = {"after": _answer_text(after), "share_after": share_after, "before": before, "share_before": share}
    st.markdown(text.format(what=change_sentence(run, change), **values))
    return _answer_bars(loaded, after, run.answer)


def ask(
    loaded: LoadedModel, picture: picture_cache.ChosenPicture, run: PictureRun, stack: PatchStack, change: HeadChange
) -> None:
    """Ask what the model says without the patch that a head looks at most; the answer hides it.

    Of one digit only, and while nothing else is changed: else the answer is on show, or means nothing.
    """
    if picture_input.count_digits(loaded) != 1 or not picture.name.startswith(("digits", f"{picture_input.EMPTY} ")):
        return
    _stack, layer, head = change.head
    patch = most_watched_patch(stack, layer, head)
    about = f"{layer}.{head}.{picture.name.split()[-1]}"
    hides = HeadChange(() if patch is None else (patch,), head=change.head)
    if patch is None or (change and (change != hides or guess.asked_about(choices.GUESS) != about)):
        return

    def hide() -> tuple[str, str]:
        after = picture_cache.run_result(loaded, picture, hides, lambda: rerun(loaded, run, hides)[0], reruns=True)
        because = _("The model says {after} ({share_after}) without {patch}, and {before} ({share_before}) with it.")
        return compare_answers(run.answer, after), because.format(
            patch=place,
            after=_answer_text(after),
            share_after=_answer_share(after),
            before=_answer_text(run.answer),
            share_before=_answer_share(run.answer),
        )

    place = translate_message(stack.grid.name(stack.grid.first + patch))
    said = _answer_text(run.answer)
    guess.ask(
        choices.GUESS,
        _("Without {patch}, where head {head} looks most: how sure of {digit}?").format(
            head=head_name((layer, head)), patch=place, digit=said
        ),
        {"surer": _("Surer"), "less": _("Less sure"), "alike": _("As sure"), "other": _("Another digit")},
        hide,
        about=about,
        shows=lambda answered: {choices.HIDDEN: ((patch,) if answered else (), ())},
    )


def _answer_bars(
    loaded: LoadedModel, answer: PictureAnswer, before: PictureAnswer
) -> tuple[tuple[str, float, float], ...]:
    """Names, probabilities and those before: few classes in their order, else the likeliest, or what is written."""
    if not answer.others:
        shares = (*before.shares, *[0.0] * len(answer.tokens))
        return tuple(zip(answer.tokens, answer.shares, shares, strict=False))
    classes = {str(name): at for at, name in enumerate(getattr(loaded.model.config, "id2label", {}).values())}
    known = dict(before.others)
    bars = [(name, share, known.get(name, 0.0)) for name, share in answer.others]
    return tuple(sorted(bars, key=lambda bar: classes[bar[0]]) if known.keys() == classes.keys() else bars[:MOST_BARS])


def change_sentence(run: PictureRun, change: HeadChange) -> str:
    """Phrase that describes a change."""
    parts = []
    if change.hidden:
        parts.append(
            _("{count} of {of} patches hidden").format(count=len(change.hidden), of=run.stacks[0].grid.patches)
        )
    if change.silenced:
        heads = join_list(f"{layer}.{head}" for _name, layer, head in change.silenced)
        parts.append(_("silenced heads {heads}").format(heads=heads))
    if change.factor != 1.0:
        _stack, layer, head = change.head
        parts.append(
            _("the scale of head {head} times {factor:g}").format(head=f"{layer}.{head}", factor=change.factor)
        )
    return join_list(parts)


def _answer_text(answer: PictureAnswer) -> str:
    tokens = [word for word in answer.tokens if not (word.startswith("<") and word.endswith(">"))]
    return escape_markdown(" ".join(tokens)) if tokens else _("nothing")


def _answer_share(answer: PictureAnswer) -> str:
    return f"{Rounded(answer.share):.1%}"


def draw_facts(
    loaded: LoadedModel, picture: picture_cache.ChosenPicture, stack: PatchStack, scene: PatchScene, layer: int
) -> None:
    """Draw sentences about special tokens, and about outliers."""
    shares = picture_cache.run_result(
        loaded, picture, ("received", stack.id, layer), partial(attention_received, stack, layer)
    )
    first = stack.grid.first
    if first and not stack.query_tokens:
        st.caption(
            _("Tokens that are not patches get, in layer {layer} on average: {tokens}.").format(
                layer=layer, tokens=_token_shares_text(stack, shares, range(first))
            )
        )
    if scene.sinks:
        st.caption(_outliers_sentence(stack, shares, scene.sinks, layer))


def _outliers_sentence(stack: PatchStack, shares: np.ndarray, patches: tuple[int, ...], layer: int) -> str:
    if len(patches) > MOST_NAMED:
        text = _(
            "Outliers in layer {layer}, with an orange corner: {count} patches, most of all {patches}. Each gets "
            "more than five times what the median patch gets."
        )
    else:
        text = _(
            "Outliers in layer {layer}, with an orange corner: {patches}. Each gets more than five times what the "
            "median patch gets."
        )
    tokens = [stack.grid.first + patch for patch in patches]
    most = sorted(tokens, key=lambda token: -shares[token])[:MOST_NAMED]
    return text.format(layer=layer, count=len(patches), patches=_token_shares_text(stack, shares, most))


def _token_shares_text(stack: PatchStack, shares: np.ndarray, tokens: Iterable[int]) -> str:
    """List tokens by name with the weight that each receives."""
    text = _("{token} ({share})")
    return join_list(
        text.format(token=translate_message(stack.grid.name(at)), share=f"{Rounded(shares[at]):.1%}") for at in tokens
    )


def draw_text_tower(tower: TextEncoder) -> None:
    """Draw the weights of one head of the text encoder."""
    st.subheader(_("The tower that reads text"), anchor=False)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        names = {str(at): name for at, name in enumerate(tower.names)}
        which = int(widgets.select_one(choices.DESCRIPTION, _("Description"), names, style="select"))
        last = len(tower.layers) - 1
        layer = widgets.number_box(choices.TEXT_LAYER, _("Layer"), step=1, high=last, width=120)
        last = tower.layers[layer].n_heads - 1
        head = widgets.number_box(choices.TEXT_HEAD, _("Head"), step=1, high=last, width=120)
    tokens = tower.tokens[which][:MOST_TOKENS]
    count = len(tokens)
    weights = tower.layers[layer].weights(head)[which, 0].float().cpu().numpy()[:count, :count]
    row, column = divmod(int(np.where(np.eye(count) > 0, -1, weights).argmax()), count)
    show.figure(
        side_by_side([(_("Layer {layer}, head {head}").format(layer=layer, head=head), weights)], tokens, tokens),
        name=f"text-tower-layer{layer}-head{head}",
        key="pic_text_tower",
        table={
            **cell_columns(tokens, tokens),
            "weight": [f"{weight:.6g}" for weight in weights.ravel()],
        },
        sentence=_("Beside itself, {query} looks most at {key} ({share}) of all pairs in this head.").format(
            query=quote_token(tokens[row]),
            key=quote_token(tokens[column]),
            share=f"{Rounded(weights[row, column]):.0%}",
        ),
    )


def draw_smallest(loaded: LoadedModel, picture: picture_cache.ChosenPicture, run: PictureRun) -> None:
    """Draw the button that searches for a smallest set of patches, the progress, and the result."""
    if not run.answer.tokens or not run.can_change:
        return
    smallest: SmallestSet | None = picture_cache.find_result(loaded, picture, "smallest")
    slot = st.empty()
    if smallest is None and slot.button(
        _("Find a smallest set of patches that keeps the answer"), key="smallest", icon=":material/compress:"
    ):
        for smallest in _search(loaded, picture, run):
            slot.caption(_("{count} of {of} patches left").format(count=len(smallest.patches), of=smallest.n_patches))
        picture_cache.run_result(loaded, picture, "smallest", lambda: smallest)
    if smallest is not None:
        with slot.container(horizontal=True, vertical_alignment="center"):
            st.markdown(translate_markdown(smallest.message), width="stretch")
            st.button(
                _("Hide all the others"),
                key="smallest-show",
                on_click=link_state.set_and_push,
                args=(choices.HIDDEN, smallest.hidden),
                icon=":material/visibility:",
            )


def _search(loaded: LoadedModel, picture: picture_cache.ChosenPicture, run: PictureRun) -> Iterator[SmallestSet]:
    """Search step by step; each step waits for its turn, so that other visitors are served in between."""
    steps = find_smallest_set(loaded, run, _order_patches(loaded, picture, run))
    while True:
        with model_cache.wait_for_turn():
            result = next(steps, None)
        if result is None:
            return
        yield result


def _order_patches(loaded: LoadedModel, picture: picture_cache.ChosenPicture, run: PictureRun) -> list[int]:
    """Order of removal: patches with the least weight of all heads, or of the class token, first."""
    stack = run.stack("words")
    maps = picture_cache.head_maps_of_run(loaded, picture, stack)
    rows = maps.default_row if stack.grid.has_class and not stack.query_tokens else maps.mean
    return [int(patch) for patch in np.argsort(rows[:, stack.grid.first :].mean(0), kind="stable")]
