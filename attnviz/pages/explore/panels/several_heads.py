"""More than one head: means over heads, attention rollout, and two heads side by side."""

from dataclasses import replace
from typing import Any

import streamlit as st

from attnviz.analysis.head_matrix import Matrix, attention_rollout, average_heads, head_matrix, telling_depth
from attnviz.analysis.model_run import ModelRun, Stack
from attnviz.analysis.what_if import difference_sentence
from attnviz.app import show, widgets
from attnviz.app.cache import model_cache
from attnviz.app.head_drawing import head_owner, to_long_table
from attnviz.app.links.choices import head_name, parse_head
from attnviz.app.text import translate_markdown
from attnviz.base.head_record import HeadView
from attnviz.base.message import Problem
from attnviz.base.words import _, end_sentence, join_clauses, ngettext
from attnviz.canvas.head.attention_view import head_picture, head_view
from attnviz.live.scene_figure import SceneFigure
from attnviz.models.loading import EXAMPLES, availabilities
from attnviz.pages.explore import choices
from attnviz.pages.explore.maths.one_head import AlignedMatrices, align_matrices, count_common
from attnviz.pages.explore.panels.shown_head import DisplayedHead, select_heads


def draw_mean(displayed: DisplayedHead) -> None:
    """Draw a mean over heads, or attention rollout through the layers."""
    stack, options = displayed.stack, displayed.options
    kinds = {
        "layer": _("mean of this layer"),
        "all": _("mean of all heads"),
        "chosen": _("mean of chosen heads"),
    }
    if stack.same_tokens:
        kinds["rollout"] = _("rollout")
    kind = widgets.select_one(choices.COMBINE, _("Combine"), kinds)
    positions = _choose_heads(displayed, kind)
    if not positions:
        st.info(_("Choose at least one head."))
        return
    if kind == "rollout":
        n_layers = _choose_depth(displayed)
        key: tuple[Any, ...] = ("rollout", stack.id, options, n_layers)
        matrix = model_cache.cached_result(
            displayed.run, key, lambda: attention_rollout(stack, options, layers=n_layers)
        )
        title = ngettext(
            "Rollout through {layers} layer (not a head)", "Rollout through {layers} layers (not a head)", n_layers
        ).format(layers=n_layers)
        st.caption(
            _(
                "Each layer's mean attention, averaged half and half with the residual connection, multiplied "
                "through the layers: an estimate of where information comes from, not a weight that any head "
                "computes. Where tokens only look back, many layers lead every path to the first token: try "
                "fewer."
            )
        )
    else:
        key = ("mean", stack.id, positions, options)
        matrix = model_cache.cached_result(displayed.run, key, lambda: average_heads(stack, positions, options))
        title = ngettext(
            "Mean of {count} head: that head itself", "Mean of {count} heads (not a head)", len(positions)
        ).format(count=len(positions))
        st.caption(_("A mean hides what single heads do: two sharp heads look like one blurred head."))
    if options.values != "weights":
        title = _("{title}, of weights").format(title=title)
    view = HeadView(title, full_range=displayed.view.full_range, root=displayed.view.root)
    pins = head_view("average", matrix.data, view)
    show.footer(
        lambda: head_picture(matrix.data, view, pins, ""),
        name=f"{kind}-{displayed.run.request.model}",
        key="average-out",
        canvas=show.live_canvas("average"),
        sentence=translate_markdown(matrix.row_sentence(displayed.query if displayed.pins else matrix.telling_row)),
        caption=_("{name}: {title}.").format(name=displayed.run.name, title=title),
        table=lambda: to_long_table(matrix),
    )


def _choose_heads(displayed: DisplayedHead, kind: str) -> tuple[tuple[int, int], ...]:
    """The heads to take the mean over, as (layer, head)."""
    if kind == "layer":
        return tuple(position for position in displayed.stack.places if position[0] == displayed.layer)
    if kind != "chosen":
        return displayed.stack.places
    return select_heads(
        choices.MEAN_OF,
        _("Heads, as layer.head"),
        displayed.stack,
        usual=[head_name((displayed.layer, displayed.head))],
    )


def _choose_depth(displayed: DisplayedHead) -> int:
    """The number of layers that the rollout goes through, counted from the first."""
    layers = len(displayed.stack.layers)
    if layers == 1:
        return 1
    default = model_cache.cached_result(
        displayed.run, ("rollout depth", displayed.stack.id), lambda: telling_depth(displayed.stack)
    )
    return int(widgets.slider(choices.ROLLOUT_TO, _("Layers, from the first on"), high=layers, usual=default))


def draw_two_heads(displayed: DisplayedHead) -> None:
    """Draw the displayed head, a second one, and their difference if the tokens align."""
    kind = widgets.select_one(
        choices.BESIDE,
        _("Show beside it"),
        {"head": _("another head"), "sentence": _("another sentence"), "model": _("another model")},
    )
    run = _choose_second_run(displayed, kind)
    stack = next((s for s in run.stacks if s.id == displayed.stack.id), run.stacks[0])
    layer, head = _choose_second_head(displayed, stack, kind)
    second_matrix = head_matrix(stack, layer, head, displayed.options)
    same_tokens = displayed.matrix.rows == second_matrix.rows and displayed.matrix.cols == second_matrix.cols
    if displayed.options.values == "values":
        top = max(matrix.data.largest for matrix in (displayed.matrix, second_matrix))
        displayed = replace(displayed, view=replace(displayed.view, fixed_top=top))
    owners = [(displayed.run, displayed.layer, displayed.head), (run, layer, head)]
    names = [head_owner(of.name, at, number) for of, at, number in owners]
    if kind == "sentence":
        template, texts = _("{name}: “{text}”"), (displayed.run.request.text[:60], run.request.text[:60])
        names = [template.format(name=name, text=text) for name, text in zip(names, texts, strict=True)]
    aligned = align_matrices(displayed.matrix, second_matrix)
    columns = st.columns(2 if aligned is None else 3)
    with columns[0]:
        pictures = [_draw_head("beside-a", names[0], displayed.matrix, displayed, "heads")]
    with columns[1]:
        pictures.append(
            _draw_head("beside-b", names[1], second_matrix, displayed, "heads" if same_tokens else "beside")
        )
    change = None
    if aligned is None:
        st.caption(
            _(
                "No difference is drawn: only {same} of these tokens stand in both sentences in the same order, so "
                "most cells have no partner to be subtracted from. Change only a word or two to compare."
            ).format(same=count_common(displayed.matrix.rows, second_matrix.rows))
        )
    else:
        with columns[2]:
            name = _("Difference: the second minus the first")
            pictures.append(
                _draw_head(
                    "beside-difference", name, aligned.difference, displayed, "heads" if same_tokens else "difference"
                )
            )
        change = translate_markdown(difference_sentence(*aligned.shared_cells))
        if aligned.n_replaced + aligned.n_unmatched:
            st.caption(
                _(
                    "The difference is taken token by token. Tokens in another’s place: {replaced}. Tokens that only "
                    "one sentence has, whose rows and columns are left out of it: {alone}."
                ).format(replaced=aligned.n_replaced, alone=aligned.n_unmatched)
            )
    show.footer(
        lambda: SceneFigure(tuple(figure for picture in pictures for figure in picture.parts)),
        name=f"beside-{displayed.run.request.model}",
        key="beside-out",
        sentence=change,
        caption=end_sentence(join_clauses(names)),
        table=None if aligned is None else lambda: _difference_table(aligned),
        label=_("Save all"),
        canvases=["beside-a", "beside-b", *([] if aligned is None else ["beside-difference"])],
        embeds=False,
    )


def _difference_table(aligned: AlignedMatrices) -> dict[str, Any]:
    """Long table of both values and their difference, one row for each cell of the common axes."""
    table = to_long_table(aligned.first)
    first = table.pop("value")
    second, difference = (to_long_table(matrix)["value"] for matrix in (aligned.second, aligned.difference))
    return table | {"first": first, "second": second, "difference": difference}


def _choose_second_run(displayed: DisplayedHead, kind: str) -> ModelRun:
    request = displayed.run.request
    if kind == "sentence":
        # to begin with, of the examples the one that shares most words with the visitor's sentence
        sentence_words = set(request.text.lower().split())
        candidates = [example.text for example in EXAMPLES if example.text != request.text and not example.second]
        default = max(candidates, key=lambda candidate: len(sentence_words & set(candidate.lower().split())))
        text = widgets.text_box(choices.OTHER_TEXT, _("The other sentence"), usual=default, height=76)
        return model_cache.get_run(replace(request, text=text))
    if kind == "model":
        names = {s.entry.id: s.name for s in availabilities() if s.entry.kind != "pictures" and s.on_this_machine}
        names.pop(request.model, None)
        if not names:
            raise Problem("There is no second model on this machine")
        model = widgets.select_one(choices.BESIDE_MODEL, _("The other model"), names, style="select")
        return model_cache.get_run(replace(request, model=model))
    return displayed.run


def _choose_second_head(displayed: DisplayedHead, stack: Stack, kind: str) -> tuple[int, int]:
    """Draw the box for the second head, and return its (layer, head).

    Before one is typed, it is the next head, or the same head of another sentence or model.
    """
    nearest = min(displayed.layer, len(stack.layers) - 1)
    heads = stack.layers[nearest].n_heads
    default = f"{nearest}.{(displayed.head + 1) % heads if kind == 'head' else min(displayed.head, heads - 1)}"
    typed = widgets.text_box(choices.BESIDE_HEAD[kind], _("Its head, as layer.head"), usual=default, width=260)
    text = typed.strip() or default
    try:
        layer, head = parse_head(text)
    except ValueError:
        raise Problem("“{text}” is not a head: write layer.head, as in 3.0", text=text) from None
    stack.require(layer, head)
    return layer, head


def _draw_head(key: str, name: str, matrix: Matrix, displayed: DisplayedHead, group: str) -> SceneFigure:
    """Draw one head with a sentence on its row; return the same figure for a file."""
    view = replace(displayed.compact_view(matrix), title=name, fixed_top=displayed.view.fixed_top)
    if key == "beside-difference":
        view = replace(view, kind="diff")
    pins = head_view(key, matrix.data, view, group=group)
    if view.kind != "diff":  # the visitor's row where this picture has the same rows, else the one that tells most
        same_rows = displayed.pins and matrix.rows == displayed.matrix.rows
        st.markdown(translate_markdown(matrix.row_sentence(displayed.query if same_rows else matrix.telling_row)))
    return head_picture(matrix.data, view, displayed.pins if group == "heads" else pins)  # which a group has in common
