"""Which sizes must agree: choose any, and compare PyTorch's error with that of attnviz."""

import math

import streamlit as st

from attnviz.app import show, widgets
from attnviz.app.text import escape_markdown, translate_markdown
from attnviz.base import units
from attnviz.base.words import _
from attnviz.pages.build import choices
from attnviz.pages.build.maths import size_mismatches


def panel() -> None:
    """Draw the mistakes to choose from, the rules, and the two error messages."""
    st.markdown(
        _(
            "Lengths are free; widths that meet in a product must agree. Make a mistake on purpose, or choose "
            "the sizes yourself."
        )
    )
    mistakes = {
        "width": _("K wider than Q"),
        "keys": _("more values than keys"),
        "groups": _("6 heads on 4 K/V heads"),
        "mask": _("mask of another length"),
        "none": _("none"),
        "own": _("my own sizes"),
    }
    mistake = widgets.select_one(choices.MISTAKE, _("Mistake"), mistakes)
    result = size_mismatches.run(
        _draw_size_inputs() if mistake == "own" else size_mismatches.Sizes(**size_mismatches.MISTAKES[mistake])
    )
    left, right = st.columns([1, 1.1], gap="large")
    with left:
        for rule in result.rules:
            st.markdown(_rule(rule))
        st.code(result.code, language="python", wrap_lines=True)
    with right:
        _draw_outcome(result)
    _draw_real_batch()


def _draw_real_batch() -> None:
    """Draw the shapes along the way at the sizes of a real batch."""
    st.markdown("**" + _("And at the sizes of a real batch?") + "**")
    titles = {
        id: _("{batch} × {tokens} × {width}, in heads: {heads}").format(
            batch=size.batch, tokens=size.tokens, width=f"{size.width:,}", heads=size.heads
        )
        for id, size in size_mismatches.BATCH_SIZES.items()
    }
    size = size_mismatches.BATCH_SIZES[widgets.select_one(choices.BATCH_SIZE, _("B × T × M"), titles)]
    shapes = size_mismatches.shapes(size)
    axes = {3: "B × T × M", 4: "B × H × T × D"}
    squares = ("Q Kᵀ", "weights")
    rows = [
        {
            _("tensor"): name,
            _("axes"): "B × H × T × T" if name in squares else axes[len(shape)],
            _("shape"): " × ".join(f"{n:,}" for n in shape),
            _("numbers"): f"{math.prod(shape):,}",
            "float32": units.binary(math.prod(shape) * size_mismatches.BYTES),
        }
        for name, shape in shapes.items()
    ]
    show.draw_table(show.to_columns(rows), width="content")
    scores, x = (math.prod(shapes[name]) * size_mismatches.BYTES for name in ("Q Kᵀ", "X"))
    st.caption(
        _(
            "X takes {x} and the scores {scores}: twice as many tokens would make {twice} and {four} of them. Shapes "
            "as torch’s meta device works them out; none of these numbers is computed."
        ).format(
            x=units.binary(x), scores=units.binary(scores), twice=units.binary(2 * x), four=units.binary(4 * scores)
        )
    )
    show.program(size_mismatches.program(size), "b-batch-shapes")


def _draw_size_inputs() -> size_mismatches.Sizes:
    """Draw a number box for every size of the call, and return the sizes."""
    names = choices.SIZE_LETTERS
    with st.container(horizontal=True):
        return size_mismatches.Sizes(
            **{
                name: widgets.number_box(choices.SIZES[name], _(letter), step=1, width=104)
                for name, letter in names.items()
            }
        )


def _rule(rule: size_mismatches.SizeRule) -> str:
    sentences = {
        "width": _("width of Q = width of K: {left} and {right}"),
        "keys": _("as many values as keys: {left} and {right}"),
        "groups": _("K/V heads divide query heads: {left} and {right}"),
        "mask": _("mask as long as the keys: {left} and {right}"),
        "lengths": _("queries and keys, **free**: {left} and {right}"),
        "value_width": _("width of V and of Q, **free**: {left} and {right}"),
    }
    marks = {True: ":green[:material/check:]", False: ":red[:material/close:]", None: ":material/remove:"}
    return f"{marks[rule.holds]} {sentences[rule.name].format(left=rule.left, right=rule.right)}"


def _draw_outcome(result: size_mismatches.Result) -> None:
    if result.shape is not None and result.torch_error is None:
        shape = " × ".join(map(str, result.shape))
        st.success(
            _("Both work: the output is H × Q × Dv = {shape}.").format(shape=shape), icon=":material/check_circle:"
        )
        return
    st.markdown(_("**PyTorch says**"))
    st.code(result.torch_error or _("(no error)"), language=None, wrap_lines=True)
    st.markdown(_("**attnviz says**"))
    st.error(translate_markdown(result.our_error) if result.our_error else _("(no error)"), icon=":material/error:")
    st.caption(
        escape_markdown(
            _(
                "PyTorch's message speaks of tensors and dimensions; that of attnviz names the size that is "
                "wrong, and what it may be."
            )
        )
    )
