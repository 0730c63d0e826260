"""Draw and describe a head: its matrix under a visitor's mask and scale, its names and its numbers."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from attnviz.analysis import head_matrix, what_if
from attnviz.analysis.head_matrix import AS_IT_IS, DisplayOptions, Matrix, raw_heads
from attnviz.analysis.model_run import ModelRun, Request, Stack, StackId
from attnviz.app import show
from attnviz.app.cache import model_cache
from attnviz.app.exports import cell_columns
from attnviz.base.head_edit import MASKS, SCOPES, HeadEdit
from attnviz.base.head_record import Arrangement, HeadData, HeadView, RowSentence
from attnviz.base.rounding import Rounded
from attnviz.base.words import _, join_list, join_sentences
from attnviz.canvas.head import ahead
from attnviz.canvas.head.attention_view import head_picture, head_view
from attnviz.live.head_header import name_tokens
from attnviz.models.capture import MaskChoice, ScaleChoice


def unedited_head(run: ModelRun, stack: Stack, layer: int, head: int, look: DisplayOptions = AS_IT_IS) -> Matrix:
    """A head as the model computes it, once for all visitors."""
    return _compute_head(run, stack, layer, head, look)[0]


def _compute_head(run: ModelRun, stack: Stack, layer: int, head: int, look: DisplayOptions) -> tuple[Matrix, HeadData]:
    key = ("head", stack.id, layer, head, look)
    return model_cache.cached_result(run, key, lambda: head_matrix.head_matrix_and_data(stack, layer, head, look))


def edited_matrix(run: ModelRun, stack: Stack, layer: int, head: int, look: DisplayOptions, edit: HeadEdit) -> Matrix:
    """Weights of the displayed head: before the edit, after it, or their difference."""
    if edit.seen != "after":
        before = unedited_head(run, stack, layer, head, look)
    if edit.seen == "before":
        return before
    after = what_if.edited_head(stack, layer, head, edit, look)
    return after if edit.seen == "after" else after.minus(before)


def mask_and_scale_choices(stack: Stack, layer: int, edit: HeadEdit) -> tuple[MaskChoice, ScaleChoice]:
    """Mask and scale of the displayed head; "model" for both before the edit."""
    if edit.seen == "before":
        return "model", "model"
    chosen_layer = stack.layers[layer]
    return what_if.mask_of(edit, chosen_layer), what_if.scale_of(edit, chosen_layer)


def head_data(run: ModelRun, stack: Stack, layer: int, head: int, look: DisplayOptions, matrix: Matrix) -> HeadData:
    """The data a head is drawn from: its scores, or `matrix` for a layer that gives only its weights."""
    return _compute_head(run, stack, layer, head, look)[1] if stack.layers[layer].exact else matrix.data


def find_arrangement(stack: Stack, look: DisplayOptions, matrix: Matrix) -> Arrangement | None:
    """How tokens are joined or left out; None where the matrix has them all as they are."""
    rows, cols = head_matrix.display_axes(stack, look)
    joined, left = (
        None if axis.positions == tuple((i,) for i in range(len(tokens))) else axis.positions
        for axis, tokens in ((rows, stack.queries), (cols, stack.keys))
    )
    norms, data = look.values == "values", matrix.data
    if joined is None and left is None and not norms:
        return None
    return Arrangement(joined, left, rows.merged, look.renormalise, norms, data.tokens_q, data.tokens_k)


def default_view(stack: Stack, layer: int, head: int, look: DisplayOptions, matrix: Matrix) -> HeadView:
    """How a head of an overview is displayed, before a visitor has chosen anything about it."""
    titles = _("Layer {layer}, head {head}")
    return HeadView(
        titles.format(layer=layer, head=head),
        look.values,
        (layer, head),
        titles,
        row_sentence(matrix),
        matrix.segments,
        unit=value_unit(look),
        arrangement=find_arrangement(stack, look, matrix),
    )


def describe_edit(edit: HeadEdit, stack: Stack, layer: int) -> tuple[str | None, str | None, str]:
    """The edit in words: the mask and the scale (None: unchanged), and the other changes."""
    q = stack.layers[layer].q
    return describe_mask_and_scale(edit, stack.keys.labels, stack.layers[layer].scale, 1 if q is None else q.shape[-1])


def describe_mask_and_scale(
    edit: HeadEdit, keys: Sequence[str], model_scale: float, width: int
) -> tuple[str | None, str | None, str]:
    """Mask, scale and other changes in words, for a head with these keys, `model_scale` and queries of `width`."""
    mask = None if edit.mask == "model" else _(MASKS[edit.mask].caption).format(tokens=edit.window)
    scales = {"none": "1", "inverse": f"1/{width}", "factor": f"{Rounded(model_scale):.4g} × {edit.factor:g}"}
    more = []
    if edit.hidden:
        more.append(
            _("No token may look at: {tokens}.").format(tokens=join_list(f"{keys[i]} ({i})" for i in edit.hidden))
        )
    if edit.changes_attention:
        _name, caption = SCOPES[edit.where]
        more.append(_(caption))
    if edit.silenced:
        heads = join_list(f"{layer}.{head}" for layer, head in edit.silenced)
        more.append(_("Silenced heads (layer.head): {heads}.").format(heads=heads))
    return mask, scales.get(edit.scale), join_sentences(*more)


def mask_and_scale_sentence(mask: str | None, scale: str | None, model_scale: float) -> str:
    """A sentence on both, changed or not."""
    template = _("Mask: {mask}. Scores times {scale}.")
    return template.format(mask=mask or _("the model's own"), scale=scale or f"{Rounded(model_scale):.4g}")


def draw(
    run: ModelRun,
    at: tuple[int, int],
    keys: tuple[str, str],
    group: str,
    *,
    title: str | None = None,
    row: int | None = None,
    chips: bool = True,
) -> None:
    """Draw one head without an overview, and its save menu.

    `keys` are those of the picture and of the line under it; `title` says in a word of its own whose head it is; `row`
    is the row that its sentence is about, the most telling one unless told.
    """
    layer, head = at
    matrix = unedited_head(run, run.stacks[0], layer, head)
    sentence_row = matrix.telling_row if row is None else row
    view_title = title or head_owner(run.name, layer, head)
    # beside something else there is room for one picture
    view = HeadView(view_title, sentence=row_sentence(matrix, sentence_row), lines=False, chips=chips)
    pins = head_view(keys[0], matrix.data, view, group=group)
    show.footer(
        lambda: head_picture(matrix.data, view, pins, title or picture_title(matrix, sentence_row, view_title)),
        name=f"head-{run.request.model}-layer{layer}-head{head}",
        key=keys[1],
        canvas=show.live_canvas(keys[0]),
        caption=_("The model reads “{text}”.").format(text=run.request.text),
        table=lambda: to_long_table(matrix),
    )


def row_sentence(matrix: Matrix, row: int | None = None) -> RowSentence:
    """The sentence below the picture about `row`, or about the most telling row, in the visitor's language."""
    one_key, two_keys, three_keys = (_(message.template) for message in head_matrix.ROW_SENTENCES[matrix.meaning])
    masked, none = (_(message.template) for message in (head_matrix.MASKED_ROW, head_matrix.FAINT_ROW))
    least = 1e-9 if matrix.meaning == "values" else 0.005
    sentence_row = matrix.telling_row if row is None else row
    return RowSentence(
        (one_key, two_keys, three_keys, masked, none), sentence_row, (matrix.row_at, matrix.col_at), least
    )


def picture_title(matrix: Matrix, row: int, owner: str) -> str:
    """The title of a picture of this head: what a row looks at most, and whose head it is."""
    visible_weights = np.where(matrix.hidden[row], 0.0, np.nan_to_num(matrix.values[row]))
    if not visible_weights.max() > 0:
        return owner
    names = {"token": matrix.row_name(row).strip(), "key": matrix.col_name(int(visible_weights.argmax())).strip()}
    return _("“{token}” looks at “{key}”: {whose}").format(whose=owner, **names)


def head_owner(model: str, layer: int, head: int) -> str:
    return _("{model}, layer {layer}, head {head}").format(model=model, layer=layer, head=head)


def value_unit(look: DisplayOptions) -> str:
    """The name of a value in colour bars and read-outs."""
    return _("weight × |value|") if look.values == "values" else _("weight")


def to_long_table(matrix: Matrix) -> dict[str, Any]:
    """One row for each cell: query, key, their positions, and the value, which is empty for hidden cells."""
    values = np.where(matrix.hidden, np.nan, matrix.values).ravel()
    return {
        **cell_columns(matrix.rows, matrix.cols, matrix.row_at, matrix.col_at),
        "value": ["" if np.isnan(v) else float(f"{v:.6g}") for v in values],
    }


def offer_heads(run: ModelRun, stack: Stack) -> str | None:
    """Address from which the browser fetches all heads; None where the sentence is too long.

    All visitors who read this sentence share it.
    """
    return offer_bytes(run.request, stack.id, ("all heads",), pack_heads) if sends_all_heads(stack) else None


def sends_all_heads(stack: Stack) -> bool:
    """Whether the browser is sent all heads, and so makes thumbnails under a change itself."""
    return ahead.is_short_enough(len(stack.places), len(stack.queries), len(stack.keys))


def pack_heads(stack: Stack) -> bytes:
    """Pack all heads for the browser."""
    counts = [layer.n_heads for layer in stack.layers]
    return ahead.sentence_blob(name_tokens(*stack.tokens), counts, raw_heads(stack.layers))


def offer_bytes(request: Request, stack_id: StackId, key: tuple[Any, ...], pack: Callable[[Stack], bytes]) -> str:
    """Address of `pack(stack)`, computed once for all visitors while the run is in memory."""

    def packed() -> bytes:
        run = model_cache.run_in_memory(request)
        return model_cache.cached_result(run, (*key, stack_id), lambda: pack(run.stack(stack_id)))

    return ahead.offer_bytes((request, stack_id, *key), packed)
