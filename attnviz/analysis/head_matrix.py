"""The displayed matrix: a head, an average of heads, or rollout, with the visitor's display options."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, compress
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from attnviz.analysis.model_run import Stack
from attnviz.base.head_record import HeadData
from attnviz.base.message import Message, Problem
from attnviz.core.measures import rollout
from attnviz.models.capture import MaskChoice, RecordedLayer, ScaleChoice
from attnviz.models.tokens import MatrixAxis, matrix_axis, project_weights

Meaning = Literal["weights", "values", "mean", "estimate"]
SentencePair = Literal["all", "first to first", "first to second", "second to first", "second to second"]


@dataclass(frozen=True)
class DisplayOptions:
    """How a matrix is shown."""

    values: Literal["weights", "values"] = "weights"  #: "values": weight times the length of value @ W_O
    units: Literal["pieces", "words"] = "pieces"
    special: bool = True  #: whether special tokens are shown
    renormalise: bool = False  #: rows sum to 1 again after special tokens are left out
    sentences: SentencePair = "all"  #: of two sentences: "first to second" keeps the first's rows, the second's columns


AS_IT_IS = DisplayOptions()
#: share of the largest value from which values count as equal: the browser's codes may not tell them apart
ALIKE = 0.999


@dataclass(frozen=True)
class Matrix:
    """Values (Q, K) with the label and the position in the sentence of each row and column."""

    values: np.ndarray  #: (Q, K) float32
    hidden: np.ndarray  #: (Q, K) boolean, True where the mask hides
    rows: tuple[str, ...]
    cols: tuple[str, ...]
    row_at: tuple[int, ...]  #: position of each row's first token
    col_at: tuple[int, ...]
    segments: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())  #: rows and columns where a second sentence begins
    notes: tuple[Message, ...] = ()  #: sentences about what was added up, averaged or left out
    looks_at_itself: bool = True  #: whether rows and columns are the same tokens
    row_tokens: tuple[tuple[int, ...], ...] = ()  #: positions of all tokens that each row stands for
    col_tokens: tuple[tuple[int, ...], ...] = ()
    before_w_o: np.ndarray | None = None  #: where `meaning` is "values": weight times length of the value before W_O
    meaning: Meaning = "weights"  #: "values": weight times length; "mean": of several heads; "estimate": rollout

    @property
    def data(self) -> HeadData:
        """The matrix as it is displayed."""
        cols = None if self.looks_at_itself else self.cols
        return HeadData.of_values(self.values, self.rows, cols, self.hidden)

    @property
    def plain(self) -> np.ndarray:
        """The values with NaN where hidden."""
        return np.where(self.hidden, np.nan, self.values)

    def minus(self, subtrahend: "Matrix") -> "Matrix":
        """Difference to another matrix of the same sentence; hidden only where both are."""
        values = np.where(self.hidden, 0, self.values) - np.where(subtrahend.hidden, 0, subtrahend.values)
        return replace(self, values=values.astype(np.float32), hidden=self.hidden & subtrahend.hidden, before_w_o=None)

    def sentence_before_w_o(self, row: int) -> Message | None:
        """For the key that `row_sentence` names first, the length of the same product before the output projection."""
        if self.before_w_o is None or self.hidden[row].all():
            return None
        key = int(np.where(self.hidden[row], 0.0, self.values[row]).argmax())
        return Message(
            "Before W_O, weight times value of “{key}” is {length:.2f} long.",
            {"key": _label_with_position(self.cols, self.col_at, key), "length": float(self.before_w_o[row, key])},
        )

    def row_name(self, row: int) -> str:
        """A row's label, followed by its position when the label occurs more than once."""
        return _label_with_position(self.rows, self.row_at, row)

    def col_name(self, col: int) -> str:
        """A column's label, followed by its position when the label occurs more than once."""
        return _label_with_position(self.cols, self.col_at, col)

    @property
    def telling_row(self) -> int:
        return telling_row(self.values, self.hidden)

    def row_sentence(self, row: int) -> Message:
        """A sentence naming the three largest cells of a row; a token that occurs more than once gets its position."""
        token = self.row_name(row)
        if self.hidden[row].all():
            return Message(MASKED_ROW.template, {"token": token})
        visible = np.where(self.hidden[row], 0.0, self.values[row])
        order = np.argsort(-visible, kind="stable")[:3]
        largest_keys = [int(key) for key in order if visible[key] >= (0.005 if self.meaning != "values" else 1e-9)]
        if not largest_keys:
            return Message(FAINT_ROW.template, {"token": token})
        params: dict[str, object] = {"token": token}
        for rank, key in enumerate(largest_keys, 1):
            params |= {f"key{rank}": self.col_name(key), f"share{rank}": float(visible[key])}
        return Message(ROW_SENTENCES[self.meaning][len(largest_keys) - 1].template, params)


def telling_row(values: np.ndarray, hidden: np.ndarray) -> int:
    """The most informative row of (Q, K): the one with the largest, farthest weight.

    The first token, on which heads rest their attention, is left out as a key. Where that leaves nothing, as in a
    text of two tokens, it is the last row; of rows that tell as much, the first. tellingRow in
    canvas/head/head_readout.js finds the same.
    """
    visible = np.where(hidden, 0.0, values)
    rows, cols = np.indices(visible.shape)
    telling = (visible * np.log1p(np.abs(rows - cols)) * (cols > 0)).max(-1, initial=0.0)
    most = telling.max(initial=0.0)
    return int((telling >= ALIKE * most).argmax()) if most > 0 else max(len(visible) - 1, 0)


MASKED_ROW = Message("“{token}” may attend to nothing: its whole row is masked.")
FAINT_ROW = Message("“{token}” gives less than 0.5% to each token shown here.")

#: meaning -> the sentences about a row, naming its largest cell, its two largest, its three largest
ROW_SENTENCES: dict[Meaning, tuple[Message, Message, Message]] = {
    "weights": (
        Message("“{token}” gives {share1:.0%} to “{key1}”."),
        Message("“{token}” gives {share1:.0%} to “{key1}” and {share2:.0%} to “{key2}”."),
        Message("“{token}” gives {share1:.0%} to “{key1}”, {share2:.0%} to “{key2}” and {share3:.0%} to “{key3}”."),
    ),
    "values": (
        Message("“{token}” takes most from “{key1}”: weight times value, after W_O, is {share1:.2f} long."),
        Message("“{token}” takes most from “{key1}” ({share1:.2f} long after W_O) and “{key2}” ({share2:.2f})."),
        Message(
            "“{token}” takes most from “{key1}” ({share1:.2f} long after W_O), “{key2}” ({share2:.2f}) "
            "and “{key3}” ({share3:.2f})."
        ),
    ),
    "mean": (
        Message("On average “{token}” gives {share1:.0%} to “{key1}”."),
        Message("On average “{token}” gives {share1:.0%} to “{key1}” and {share2:.0%} to “{key2}”."),
        Message(
            "On average “{token}” gives {share1:.0%} to “{key1}”, {share2:.0%} to “{key2}” "
            "and {share3:.0%} to “{key3}”."
        ),
    ),
    "estimate": (
        Message("By this estimate {share1:.0%} of “{token}” comes from “{key1}”."),
        Message("By this estimate {share1:.0%} of “{token}” comes from “{key1}” and {share2:.0%} from “{key2}”."),
        Message(
            "By this estimate {share1:.0%} of “{token}” comes from “{key1}”, {share2:.0%} from “{key2}” "
            "and {share3:.0%} from “{key3}”."
        ),
    ),
}


def _label_with_position(labels: Sequence[str], at: Sequence[int], index: int) -> str:
    """A token's label, followed by its position when the label occurs more than once."""
    return labels[index] if labels.count(labels[index]) == 1 else f"{labels[index]} ({at[index]})"


def head_matrix(
    stack: Stack,
    layer: int,
    head: int,
    look: DisplayOptions = AS_IT_IS,
    mask: MaskChoice = "model",
    scale: ScaleChoice = "model",
) -> Matrix:
    """One head under the model's or another mask and scale; `layer` and `head` count from 0 within the stack."""
    return head_matrix_and_data(stack, layer, head, look, mask, scale)[0]


def head_matrix_and_data(
    stack: Stack,
    layer: int,
    head: int,
    look: DisplayOptions = AS_IT_IS,
    mask: MaskChoice = "model",
    scale: ScaleChoice = "model",
) -> tuple[Matrix, HeadData]:
    """`head_matrix`, and the head's raw data for the browser; attention is computed once for both."""
    recorded, stages = stack.layers[layer], None
    if recorded.exact:
        stages = recorded.stages_of([head], mask, scale, values=False)
    weights = (recorded.weights(head, mask, scale) if stages is None else stages.weights)[0, 0].float()
    hidden = _hidden_cells(stack, layer, head, mask)
    norms = recorded.value_norms()[0, head].float() if look.values == "values" else None
    if norms is None:
        result = arrange_matrix(stack, weights, hidden, look)
    else:
        result = replace(arrange_matrix(stack, weights * norms, hidden, look), meaning="values")
    if norms is not None and recorded.v is not None:
        bare = recorded.v[0, head // (recorded.n_heads // recorded.n_kv_heads)].float().norm(dim=-1)
        result = replace(result, before_w_o=arrange_matrix(stack, weights * bare, hidden, look).values)
    if stages is None:
        return result, result.data
    data = _add_vectors(stack, recorded, head, _layer_heads(recorded, [head], stages.scores)[0])
    return result, replace(data, norms=None if norms is None else norms.numpy(force=True))


def average_heads(stack: Stack, heads: Sequence[tuple[int, int]], look: DisplayOptions = AS_IT_IS) -> Matrix:
    """Average the weights of heads given as (layer, head)."""
    by_layer: dict[int, list[int]] = {}
    for layer, head in heads:
        by_layer.setdefault(layer, []).append(head)
    total = sum(stack.layers[layer].weights(layer_heads)[0].float().sum(0) for layer, layer_heads in by_layer.items())
    assert isinstance(total, Tensor)
    hidden = torch.stack([_hidden_cells(stack, layer, layer_heads[0]) for layer, layer_heads in by_layer.items()]).all(
        0
    )
    return replace(arrange_matrix(stack, total / len(heads), hidden, look), meaning="mean")


def attention_rollout(stack: Stack, look: DisplayOptions = AS_IT_IS, layers: int | None = None) -> Matrix:
    """Attention rollout through the first `layers` layers (None: all), with a residual share of one half."""
    rollouts = _rollout(stack.layers[:layers])
    hidden = torch.stack([_hidden_cells(stack, index, 0) for index in range(len(rollouts))]).all(0)
    return replace(arrange_matrix(stack, rollouts[-1], hidden, look), meaning="estimate")


def telling_depth(stack: Stack) -> int:
    """The most layers through which a rollout is informative: no key has half of the mean share.

    Where tokens only look back, the share of the first token grows with every layer until nothing else is seen.
    """
    uninformative = (_rollout(stack.layers).mean(-2).amax(-1) >= 0.5).nonzero()  # where a key has most of a mean share
    return max(1, int(uninformative[0])) if len(uninformative) else len(stack.layers)


def _rollout(layers: Sequence[RecordedLayer]) -> Tensor:
    """Share of each input token in each position after every layer, (L, Q, K)."""
    return rollout(torch.stack([layer.weights()[0].float().mean(0, keepdim=True) for layer in layers]))


def display_axes(stack: Stack, look: DisplayOptions) -> tuple[MatrixAxis, MatrixAxis]:
    """Rows and columns as `look` says: tokens or words, with or without special tokens, of all or of one sentence."""
    by_word = look.units == "words"
    rows, cols = matrix_axis(stack.queries, by_word, look.special), matrix_axis(stack.keys, by_word, look.special)
    if look.sentences != "all" and max(rows.segment, default=0) > 0:
        row_sentence, column_sentence = look.sentences.split(" to ")
        rows, cols = _select_sentence(rows, row_sentence), _select_sentence(cols, column_sentence)
    if not len(rows) or not len(cols):
        raise Problem("With special tokens hidden there is nothing left to show")
    return rows, cols


def arrange_matrix(stack: Stack, values: Tensor, hidden: Tensor, look: DisplayOptions) -> Matrix:
    """The matrix with tokens merged into words and special tokens left out, as `look` says."""
    rows, cols = display_axes(stack, look)
    values, allowed = values.cpu(), (~hidden).float().cpu()
    return Matrix(
        project_weights(values, rows, cols, look.renormalise).numpy().astype(np.float32),
        (project_weights(allowed, rows, cols) == 0).numpy(),
        rows.labels,
        cols.labels,
        tuple(places[0] for places in rows.positions),
        tuple(places[0] for places in cols.positions),
        (_segment_starts(rows), _segment_starts(cols)),
        tuple(dict.fromkeys(rows.notes + cols.notes)),
        stack.same_tokens and rows.positions == cols.positions,
        rows.positions,
        cols.positions,
    )


def _select_sentence(side: MatrixAxis, which: str) -> MatrixAxis:
    """The part of an axis that belongs to the "first" or the "second" sentence."""
    selected = [(segment == 0) == (which == "first") for segment in side.segment]
    return replace(
        side,
        labels=tuple(compress(side.labels, selected)),
        positions=tuple(compress(side.positions, selected)),
        segment=tuple(compress(side.segment, selected)),
    )


def _segment_starts(side: MatrixAxis) -> tuple[int, ...]:
    """The indices at which the second and later segments begin."""
    highest = accumulate(side.segment, max)
    return tuple(i for i, (now, before) in enumerate(zip(side.segment[1:], highest, strict=False), 1) if now > before)


def _hidden_cells(stack: Stack, layer: int, head: int, mask: MaskChoice = "model") -> Tensor:
    """(Q, K), True where this head may not look."""
    recorded = stack.layers[layer]
    if not recorded.exact:
        return torch.zeros(recorded.shape[2:], dtype=torch.bool)
    return ~_expand_to_heads(recorded, recorded.mask_for(mask))[head].cpu()


def _expand_to_heads(layer: RecordedLayer, tensor: Tensor) -> Tensor:
    """A tensor that broadcasts to (B, H, Q, K), of the first sentence, as a view (H, Q, K)."""
    return tensor.reshape((1,) * (4 - tensor.dim()) + tuple(tensor.shape))[:1].expand(1, *layer.shape[1:])[0]


# Heads before their softmax, to be packed for whoever computes their weights elsewhere.
def raw_head(stack: Stack, layer: int, head: int) -> HeadData:
    """One head, with its q and k; `layer` and `head` count from 0 within the stack."""
    recorded = stack.layers[layer]
    return _add_vectors(stack, recorded, head, _layer_heads(recorded, [head])[0])


def _add_vectors(stack: Stack, layer: RecordedLayer, head: int, data: HeadData) -> HeadData:
    tokens_q, tokens_k = stack.tokens
    data = replace(data, tokens_q=tokens_q, tokens_k=tokens_k)
    if layer.q is None or layer.k is None:
        return data
    q, k = layer.q[0, head], layer.k[0, head // (layer.n_heads // layer.n_kv_heads)]
    return replace(data, q=q.float().numpy(force=True), k=k.float().numpy(force=True))


def raw_heads(
    layers: Sequence[RecordedLayer], tokens_q: Sequence[str] = (), tokens_k: Sequence[str] | None = None
) -> list[HeadData]:
    """All heads of these layers, layer by layer, of the first sentence of their batch, which should be a short one."""
    heads = [head for layer in layers for head in _layer_heads(layer, list(range(layer.n_heads)))]
    return [replace(head, tokens_q=tokens_q, tokens_k=tokens_k) for head in heads]


def _layer_heads(layer: RecordedLayer, heads: list[int], raw_scores: Tensor | None = None) -> list[HeadData]:
    masks = _expand_to_heads(layer, layer.mask)[heads].numpy(force=True)
    padding = None if layer.padding is None else layer.padding[0, 0, 0].numpy(force=True)
    if not layer.exact:
        weights = layer.weights(heads)[0].float().numpy(force=True)
        return [HeadData(weights[i], masks[i], exact=False, padding=padding) for i in range(len(heads))]
    scores = (layer.scores(heads) if raw_scores is None else raw_scores)[0].float().numpy(force=True)
    biases = None if layer.bias is None else _expand_to_heads(layer, layer.bias)[heads].float().numpy(force=True)
    sinks = None if layer.sinks is None else layer.sinks.float().cpu().tolist()
    return [
        HeadData(
            scores[i],
            masks[i],
            layer.scale_of(head),
            0 if layer.q is None else layer.q.shape[-1],
            True,
            padding,
            None if biases is None else biases[i],
            layer.softcap,
            None if sinks is None else sinks[head],
        )
        for i, head in enumerate(heads)
    ]
