"""Effects of another mask, another scale or a silenced head: on the head, on later heads, on the next token.

Also the programs for a notebook: one row as it is, and before and after a change.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st

from attnviz.analysis import head_matrix, predictions, what_if
from attnviz.analysis.model_run import ModelRun, StackId
from attnviz.app import head_drawing, show, widgets
from attnviz.app.cache import model_cache
from attnviz.app.links import link_state
from attnviz.app.links.choices import HeadPlace
from attnviz.app.text import escape_markdown, translate_markdown
from attnviz.base.head_edit import HeadEdit
from attnviz.base.message import Problem
from attnviz.base.rounding import Rounded
from attnviz.base.words import _, end_sentence, join_list, join_sentences, ngettext
from attnviz.canvas.head.attention_view import head_picture, head_view
from attnviz.engine import Rerun
from attnviz.figures import attention_figures as figures
from attnviz.models.capture import Trace
from attnviz.pages.explore import choices
from attnviz.pages.explore.panels import shown_head

MOST_NAMED = 5  # heads


def panel(displayed: shown_head.DisplayedHead) -> None:
    """Draw the controls, the three pictures, and the effect on later layers and the next token."""
    if not displayed.stack.layers[displayed.layer].exact:
        raise Problem("This model gives only its attention weights, so its mask and scale cannot be changed")
    left, right = st.columns([1, 2.6], gap="medium")
    with left:
        _describe_settings(displayed)
        silenced = shown_head.select_heads(
            choices.QUIET,
            _("Silence heads (layer.head)"),
            displayed.stack,
            placeholder=_("none"),
            help=_("Their output is replaced by zeros."),
        )
        reruns = bool(silenced) or widgets.toggle(choices.AGAIN, _("Run the model again"))
        st.caption(_describe_rerun(displayed, reruns))
    with right:
        _draw_consequences(displayed, replace(displayed.edit, silenced=silenced), reruns)


def _describe_rerun(displayed: shown_head.DisplayedHead, reruns: bool) -> str:
    """Caption on what is recomputed. It mentions the next token only where the model writes one."""
    if reruns and _writes_text(displayed):
        return _("Computed again: the whole model, with this change in it, its later layers and its next token.")
    if reruns:
        return _("Computed again: the whole model, with this change in it, and so its later layers.")
    if _writes_text(displayed):
        return _("Computed again: this head, from its recorded Q and K. Later layers and the next token are not.")
    return _("Computed again: this head, from its recorded Q and K. Later layers are not.")


def _writes_text(displayed: shown_head.DisplayedHead) -> bool:
    return any(stack.id == "decoder" for stack in displayed.run.stacks)


def _describe_settings(displayed: shown_head.DisplayedHead) -> None:
    """Draw the current mask and scale, and where they are chosen."""
    stack, edit = displayed.stack, displayed.edit
    if link_state.value(choices.MASK) == "painted" and link_state.value(choices.PAINTED) and not edit.painted:
        st.caption(_("The painted mask was for other tokens, so painting starts again from the model's own mask."))
    mask, scale, more = head_drawing.describe_edit(edit, stack, displayed.layer)
    st.markdown(escape_markdown(head_drawing.mask_and_scale_sentence(mask, scale, stack.layers[displayed.layer].scale)))
    if more:
        st.markdown(escape_markdown(more))
    st.caption(_("Mask, scale and hidden tokens are chosen beside the large head above."))


def _draw_consequences(displayed: shown_head.DisplayedHead, edit: HeadEdit, reruns: bool) -> None:
    if not edit.changes:
        st.info(
            _(
                "Choose another mask or scale beside the large head, hide a token there or silence a head here: "
                "what changes is shown here at once."
            )
        )
        return
    trace = _rerun_model(displayed, edit) if reruns else None
    layer, head = displayed.layer, displayed.head
    before = head_matrix.head_matrix(displayed.stack, layer, head, displayed.options)
    if trace is None:
        after = what_if.edited_head(displayed.stack, layer, head, edit, displayed.options)
        row = _draw_comparison(displayed, edit, before, after)
        _draw_change_program(displayed, (layer, head), edit, row, None)
        return
    stack = next(candidate for candidate in displayed.run.stacks_in(trace) if candidate.id == displayed.stack.id)
    after = head_matrix.head_matrix(stack, layer, head, displayed.options)
    if edit.silenced:
        _explain_silencing(displayed, edit)
    movements = what_if.sort_by_movement(displayed.stack, stack)
    if movements and edit.silenced and what_if.largest_change(before, after) is None:
        largest = movements[0]
        st.markdown(
            _(
                "Drawn is the head that changes most: **layer {layer}, head {head}**, in which {share:.1%} of the "
                "weight moves to other tokens, mean over all rows."
            ).format(layer=largest.layer, head=largest.head, share=largest.share)
        )
        before, after = (
            head_matrix.head_matrix(compared_stack, largest.layer, largest.head, displayed.options)
            for compared_stack in (displayed.stack, stack)
        )
        displayed = replace(displayed, layer=largest.layer, head=largest.head, matrix=before)
    row = _draw_comparison(displayed, edit, before, after)
    _draw_next_token(displayed, edit, trace)
    _name_heads(movements)
    _draw_change_program(displayed, (layer, head), edit, row, trace)


def _rerun_model(displayed: shown_head.DisplayedHead, edit: HeadEdit) -> Trace:
    edited_head = None if edit.where == "all" else (displayed.layer, displayed.head)
    edit = replace(edit, seen="after")  # one run, whatever is looked at
    rerun = Rerun(what_if.run_again, (displayed.stack.id, displayed.layer, displayed.head, edit))
    with st.spinner(_("Running the model again…")):
        changed: Trace = model_cache.rerun_cached(
            displayed.run, rerun, ("what-if", displayed.stack.id, edited_head, edit)
        )
    return changed


def _draw_comparison(
    displayed: shown_head.DisplayedHead, edit: HeadEdit, before: head_matrix.Matrix, after: head_matrix.Matrix
) -> int:
    """Draw the head before, after and the difference; return the row that changes most."""
    default_view = displayed.compact_view(before)
    if default_view.kind == "values":
        default_view = replace(default_view, fixed_top=float(max(np.nanmax(before.plain), np.nanmax(after.plain))))
    views = [
        ("before", before, replace(default_view, title=_("Before"))),
        ("after", after, replace(default_view, title=_("After"))),
        ("difference", after.minus(before), replace(default_view, title=_("Difference"), kind="diff")),
    ]
    for column, (key, matrix, view) in zip(st.columns(3), views, strict=True):
        with column:
            head_view(f"what-if-{key}", matrix.data, view, group="heads")
    st.markdown(translate_markdown(what_if.change_sentence(before, after)))
    change = what_if.largest_change(before, after)
    row = displayed.query if displayed.pins or change is None else change.row
    st.markdown(_("Before: {before}").format(before=translate_markdown(before.row_sentence(row))))
    st.markdown(_("After: {after}").format(after=translate_markdown(after.row_sentence(row))))
    name = f"what-if-{displayed.run.request.model}-layer{displayed.layer}-head{displayed.head}"
    with st.container(horizontal=True):
        for key, matrix, view in views:
            descriptions = () if key == "before" else head_drawing.describe_edit(edit, displayed.stack, displayed.layer)
            show.footer(
                partial(head_picture, matrix.data, view, displayed.pins, displayed.picture_title(matrix, key)),
                name=f"{name}-{key}",
                key=f"what-if-{key}-out",
                canvas=show.live_canvas(f"what-if-{key}"),
                caption=join_sentences(end_sentence(view.title), shown_head.picture_caption(displayed, *descriptions)),
                table=partial(head_drawing.to_long_table, matrix),
                label=view.title,
                embeds=False,
            )
    return displayed.query if change is None else change.row


def _explain_silencing(displayed: shown_head.DisplayedHead, edit: HeadEdit) -> None:
    """Draw why a silenced head keeps its weights, and what is removed instead."""
    first = min(layer for layer, _head in edit.silenced)
    effect = (
        _("What that changes is in the layers after it and in the next token.")
        if _writes_text(displayed)
        else _("What that changes is in the layers after it.")
    )
    if (displayed.layer, displayed.head) in edit.silenced:
        explanation = _(
            "Layer {layer}, head {head} still looks where it looked: its own weights cannot change. What is replaced "
            "by zeros is its output, its weights times the values, which was {length:.2f} long, mean over tokens, "
            "before W_O."
        ).format(
            layer=displayed.layer,
            head=displayed.head,
            length=what_if.output_length(displayed.stack, displayed.layer, displayed.head),
        )
        st.info(join_sentences(explanation, effect))
    elif displayed.layer <= first:
        explanation = _(
            "Layer {layer} reads what the layers before it wrote, so silencing a head of layer {silenced} cannot "
            "change its weights."
        ).format(layer=displayed.layer, silenced=first)
        st.info(join_sentences(explanation, effect))


def _draw_next_token(displayed: shown_head.DisplayedHead, edit: HeadEdit, trace: Trace) -> None:
    """Draw the probabilities of the next token before and after the change."""
    run, loaded = displayed.run, model_cache.model_of_run(displayed.run)
    slots = zip(
        predictions.prediction_slots(run, loaded), predictions.prediction_slots(run, loaded, trace), strict=True
    )
    for number, (old, new) in enumerate(slots):
        tokens, share = predictions.compare_choices(loaded, old, new)
        largest = max(tokens, key=lambda choice: abs(choice.after - choice.before))
        sentence = _(
            "Other tokens get {share:.1%} of the probability. Of the tokens drawn “{token}” changes most, from "
            "{before:.1%} to {after:.1%}."
        ).format(share=share, token=escape_markdown(largest.label), before=largest.before, after=largest.after)
        labels, before, after = ([getattr(c, name) for c in tokens] for name in ("label", "before", "after"))
        show.figure(
            show.chart_of(figures.bars, labels, before, after, labels=(_("before"), _("after"))),
            name=f"what-if-next-{run.request.model}",
            key=f"what-if-next-{number}",
            sentence=sentence,
            caption=shown_head.picture_caption(
                displayed, *head_drawing.describe_edit(edit, displayed.stack, displayed.layer)
            ),
            table={"token": labels, "before": before, "after": after},
        )


def _name_heads(movements: Sequence[what_if.Movement]) -> None:
    """List the heads whose weights moved most."""
    if not movements:
        st.markdown(_("No head's weights moved by more than 0.05%."))
        return
    named = join_list(
        f"{movement.layer}.{movement.head} ({Rounded(movement.share):.1%})" for movement in movements[:MOST_NAMED]
    )
    text = ngettext(
        "One head's weights moved (share of weight, mean over all rows): {heads}",
        "{n} heads' weights moved by more than 0.05%, these most (share of weight, mean over all rows): {heads}",
        len(movements),
    )
    st.markdown(text.format(heads=named, n=len(movements)))


# The programs.
def draw_head_program(displayed: shown_head.DisplayedHead) -> None:
    """Draw a program that computes the displayed row's weights with the package."""
    about = _(
        "Paste this code into a notebook: it prints the weights that the model gives in the row of “{token}” of the "
        "large picture, layer {layer}, head {head}, a line for each of its own tokens. The panels above that change "
        "it have their own code."
    ).format(
        token=escape_markdown(displayed.stack.queries.labels[displayed.query_position]),
        layer=displayed.layer,
        head=displayed.head,
    )
    kv_head = displayed.head // (
        displayed.stack.layers[displayed.layer].n_heads // displayed.stack.layers[displayed.layer].n_kv_heads
    )
    begin = "\n".join(_opening_code(displayed.run, displayed.stack.id, "capture"))
    code = f"""{begin}
layer = layers[{displayed.layer}]
q = layer.q[0, {displayed.head}]                               # (Q, D): this head's queries
k = layer.k[0, {kv_head}]                               # (K, D): the keys it reads
scores = q @ k.T * layer.scale                   # (Q, K)
scores = scores.masked_fill(~layer.mask[0, 0], -torch.inf)
weights = scores.softmax(-1)                     # rows sum to 1

for token, weight in zip(tokens.labels, weights[{displayed.query_position}]):
    print(f"{{token:>12}} {{weight:.4f}}")"""
    show.program(code, key="explore", about=about)


def _draw_change_program(
    displayed: shown_head.DisplayedHead, edited_head: HeadPlace, edit: HeadEdit, row: int, trace: Trace | None
) -> None:
    """Draw a program that prints `row` before and after the edit, which was made at `edited_head`."""
    if not displayed.stack.same_tokens:
        return
    query = displayed.matrix.row_at[row]
    guesses = trace is not None and any(
        slot.position is None
        for slot in predictions.prediction_slots(displayed.run, model_cache.model_of_run(displayed.run))
    )
    about = _(
        "Paste this code into a notebook: it prints the row of “{token}” in layer {layer}, head {head}, before and "
        "after this change, a line for each of the model's own tokens."
    ).format(token=escape_markdown(displayed.stack.queries.labels[query]), layer=displayed.layer, head=displayed.head)
    imports = "capture" if trace is None else "Edit, capture, intervene"
    recorded_code = [
        f"layer = layers[{displayed.layer}]",
        f"before = layer.weights({displayed.head})[0, 0]  # (Q, K)",
        f"after = layer.weights({displayed.head}{_edit_arguments(edit)})[0, 0]  # from the same Q and K",
    ]
    lines = [
        *_opening_code(displayed.run, displayed.stack.id, imports, "from attnviz.core import masks"),
        "n = len(tokens.labels)",
        *_mask_code(displayed, edit),
        "",
        *(recorded_code if trace is None else _rerun_code(displayed, edited_head, edit)),
        f"for token, old, new in zip(tokens.labels, before[{query}], after[{query}]):",
        '    print(f"{token:>12} {old:.4f} {new:.4f}")',
    ]
    if guesses:
        lines += [
            "old, new = trace.logits[0].softmax(-1), changed.logits[0].softmax(-1)  # of the next token",
            "shift = (new - old).abs().sum().item() / 2",
            'print(f"{shift:.1%} of the probability moved to other tokens")',
        ]
    show.program("\n".join(lines), key="what-if", about=about)


def _mask_code(displayed: shown_head.DisplayedHead, edit: HeadEdit) -> list[str]:
    """Lines that define `mask_of`; empty where the edit has no mask."""
    pattern = what_if.mask_code(edit)
    if not pattern and not edit.hidden:
        return []
    lines = []
    if edit.mask == "painted":
        lines = [
            f"bits = torch.tensor(list(bytes.fromhex({edit.painted.hex()!r})))[:, None] >> torch.arange(7, -1, -1) & 1"
            "  # the painted mask, row by row"
        ]
    if edit.hidden:
        keys = [key for key in edit.hidden if key < len(displayed.stack.keys.labels)]
        lines += [f"kept = torch.ones(n, dtype=torch.bool).index_fill(0, torch.tensor({keys}), False)"]
        pattern = f"{pattern} & kept" if pattern else "layer.mask & kept"
    return [*lines, "", "def mask_of(layer):", f"    return {pattern}"]


def _edit_arguments(edit: HeadEdit) -> str:
    """The arguments `mask=..., scale=...` of the edit, as code; empty where nothing is changed."""
    scale = {
        "none": "None",
        "inverse": "1 / layer.q.shape[-1]",
        "factor": f"layer.scale * {edit.factor!r}" if edit.rescales else None,
    }.get(edit.scale)
    mask = "mask_of(layer)" if edit.mask != "model" or edit.hidden else None
    return "".join(f", {name}={value}" for name, value in (("mask", mask), ("scale", scale)) if value is not None)


def _rerun_code(displayed: shown_head.DisplayedHead, edited_head: HeadPlace, edit: HeadEdit) -> list[str]:
    lines = ["edits = []"]
    layer, head = edited_head
    if edit.changes_attention:
        layers_code = "layers" if edit.where == "all" else f"[layers[{layer}]]"
        heads = str(head) if edit.where == "head" else '"all"'
        lines += [
            f"for layer in {layers_code}:",
            f"    edits.append(Edit(layer.index, {heads}, layer.stack, layer.kind{_edit_arguments(edit)}))",
        ]
    for index in sorted({layer for layer, _head in edit.silenced}):
        quiet = tuple(number for where, number in edit.silenced if where == index)
        layer_code = f"layers[{index}]"
        lines.append(
            f"edits.append(Edit({layer_code}.index, {quiet}, {layer_code}.stack, {layer_code}.kind, silence=True))"
        )
    return [
        *lines,
        "changed = intervene(loaded.model, edits, **inputs)",
        f"before = layers[{displayed.layer}].weights({displayed.head})[0, 0]  # (Q, K)",
        f"after = {_layers_code('changed', displayed.run, displayed.stack.id)}[{displayed.layer}]",
        f"after = after.weights({displayed.head})[0, 0]",
    ]


def _opening_code(run: ModelRun, stack: StackId, imports: str, *more: str) -> list[str]:
    """Lines that import, and define `loaded`, `tokens`, `inputs`, `trace` and `layers`.

    `tokens` are those of the stack's rows; `imports` are the names imported from attnviz.models.capture.
    """
    request = run.request
    second = f", {request.second!r}" if request.second and run.target is None else ""
    frame = f", frame={run.source.frame!r}" if run.source.frame != "usual" else ""
    lines = [
        "import torch",
        *more,
        f"from attnviz.models.capture import {imports}",
        "from attnviz.models.loading import load",
        f"from attnviz.models.tokens import encode{', encode_target' if run.target is not None else ''}",
        "",
        f"loaded = load({request.model!r})",
        f"tokens = encode(loaded, {request.text!r}{second}{frame})",
        "inputs = tokens.inputs",
    ]
    if run.target is not None:
        lines += [
            f"target = encode_target(loaded, {request.second!r})",
            'inputs = inputs | {"decoder_input_ids": target.inputs["input_ids"]}',
        ]
        if stack == "decoder":
            lines.append("tokens = target")
    return [*lines, "trace = capture(loaded.model, **inputs)", f"layers = {_layers_code('trace', run, stack)}", ""]


def _layers_code(trace: str, run: ModelRun, stack: StackId) -> str:
    """Expression for the stack's layers in the trace of that name."""
    self_attention = f'[each for each in {trace}.layers if (each.stack, each.kind) == ("{stack}", "self")]'
    return f"{trace}.layers" if run.target is None else self_attention
