"""One head in numbers: every step from scores to output, and two heads aligned on common tokens."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

import numpy as np

from attnviz.analysis.head_matrix import Matrix
from attnviz.analysis.model_run import Stack
from attnviz.base.message import Problem
from attnviz.core.attention import scale_factor
from attnviz.models.capture import MaskChoice, ScaleChoice

#: a token of the first sentence, of the second, or the two that stand in each other's place
Pair = tuple[int | None, int | None]


@dataclass(frozen=True)
class StagesResult:
    """Every step of one query in one head. D: width of q and k; K: number of keys; Dv: width of values."""

    query: int
    q: np.ndarray  #: (D,)
    k: np.ndarray  #: (K, D)
    scores: np.ndarray  #: (K,) q.k
    scaled: np.ndarray  #: (K,) after scale, bias and soft-cap
    masked: np.ndarray  #: (K,) -inf where hidden
    weights: np.ndarray
    weighted_values: np.ndarray  #: (K, Dv), weight times value
    #: (K,), length of weight times value after W_O; None where that projection is not known
    projected_norms: np.ndarray | None
    output: np.ndarray  #: (Dv,)
    factor: float  #: scores are multiplied by this
    shapes: dict[str, tuple[int, ...]]  #: the whole head's tensors, by stage
    extras: tuple[str, ...]  #: which of "bias", "softcap" and "sinks" this layer has

    @property
    def allowed(self) -> np.ndarray:
        """(K,), True where this query may look."""
        return np.isfinite(self.masked)


def compute_stages(
    stack: Stack, layer: int, head: int, query: int, mask: MaskChoice = "model", scale: ScaleChoice = "model"
) -> StagesResult:
    """Compute every step of one query in one head, under the model's or another mask and scale."""
    recorded = stack.layers[layer]
    steps = recorded.stages(head, mask, scale)
    kv_head = head // (recorded.n_heads // recorded.n_kv_heads)
    computed = {name: getattr(steps, name) for name in ("scores", "scaled", "masked", "weights", "output")}
    tensors = dict(zip("qkv", recorded.qkv, strict=True)) | computed
    row = {name: tensor[0, 0, query].float().numpy(force=True) for name, tensor in computed.items()}
    q = tensors["q"][0, head, query].float().numpy(force=True)
    k, v = (tensors[name][0, kv_head].float().numpy(force=True) for name in "kv")
    try:
        projected_norms = row["weights"] * recorded.value_norms()[0, head].float().numpy(force=True)
    except Problem:
        projected_norms = None
    return StagesResult(
        query,
        q,
        k,
        weighted_values=row["weights"][:, None] * v,
        projected_norms=projected_norms,
        factor=recorded.scale_of(head) if scale == "model" else scale_factor(scale, q.shape[-1]),
        shapes={name: tuple(tensor.shape) for name, tensor in tensors.items()},
        extras=tuple(name for name in ("bias", "softcap", "sinks") if getattr(recorded, name) is not None),
        **row,
    )


@dataclass(frozen=True)
class AlignedMatrices:
    """Two matrices on common rows and columns, and the second minus the first.

    A token of only one sentence is hidden in the other matrix and in the difference.
    """

    first: Matrix
    second: Matrix
    difference: Matrix
    n_replaced: int  #: tokens that stand in another's place
    n_unmatched: int  #: tokens that only one of the sentences has

    @property
    def shared_cells(self) -> tuple[Matrix, Matrix]:
        """Both matrices, with everything hidden that only one of them has."""
        first_visible, second_visible = ~self.first.hidden, ~self.second.hidden
        rows = first_visible.any(1, keepdims=True) & second_visible.any(1, keepdims=True)
        unmatched = ~(rows & first_visible.any(0) & second_visible.any(0))
        first, second = (replace(matrix, hidden=matrix.hidden | unmatched) for matrix in (self.first, self.second))
        return first, second


def align_matrices(first: Matrix, second: Matrix) -> AlignedMatrices | None:
    """Align two matrices on common tokens; None if less than half of the shorter one's tokens match in order."""
    if 2 * count_common(first.rows, second.rows) < min(len(first.rows), len(second.rows)):
        return None
    rows, cols = align_tokens(first.rows, second.rows), align_tokens(first.cols, second.cols)
    names = _name_tokens(first.rows, second.rows, rows), _name_tokens(first.cols, second.cols, cols)
    left, right = (_spread_matrix(matrix, rows, cols, side, names) for side, matrix in enumerate((first, second)))
    common = np.array([None not in pair for pair in rows])[:, None] & np.array([None not in pair for pair in cols])
    plain = right.minus(left)
    difference = replace(plain, hidden=plain.hidden | ~common)
    replaced = sum(None not in (i, j) and first.rows[i or 0] != second.rows[j or 0] for i, j in rows)
    return AlignedMatrices(left, right, difference, replaced, sum(None in pair for pair in rows))


def align_tokens(first: Sequence[str], second: Sequence[str]) -> list[Pair]:
    """Pair the tokens of two texts in one order.

    Equal tokens are paired, and replaced ones if both texts have as many. Any other token has None as its partner.
    """
    pairs: list[Pair] = []
    for _kind, a0, a1, b0, b1 in SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
        if a1 - a0 == b1 - b0:
            pairs += zip(range(a0, a1), range(b0, b1), strict=True)
        else:
            pairs += [(i, None) for i in range(a0, a1)]
            pairs += [(None, j) for j in range(b0, b1)]
    return pairs


def count_common(first: Sequence[str], second: Sequence[str]) -> int:
    """Count the tokens that both texts have in the same order."""
    return sum(block.size for block in SequenceMatcher(None, first, second, autojunk=False).get_matching_blocks())


def _spread_matrix(
    matrix: Matrix,
    rows: Sequence[Pair],
    cols: Sequence[Pair],
    side: int,
    names: tuple[tuple[str, ...], tuple[str, ...]],
) -> Matrix:
    """Spread a matrix over the common axes; cells of tokens that it does not have are hidden."""
    row_at, col_at = ([pair[side] for pair in pairs] for pairs in (rows, cols))
    values = np.zeros((len(rows), len(cols)), np.float32)
    hidden = np.ones(values.shape, bool)
    target = np.ix_([at is not None for at in row_at], [at is not None for at in col_at])
    source = np.ix_([at for at in row_at if at is not None], [at for at in col_at if at is not None])
    values[target], hidden[target] = matrix.values[source], matrix.hidden[source]
    return Matrix(
        values,
        hidden,
        *names,
        tuple(range(len(rows))),
        tuple(range(len(cols))),
        notes=matrix.notes,
        looks_at_itself=matrix.looks_at_itself,
        meaning=matrix.meaning,
    )


def _name_tokens(first: Sequence[str], second: Sequence[str], pairs: Sequence[Pair]) -> tuple[str, ...]:
    """Label the common axis: “a / b” where tokens differ, a dash where one text has no token."""
    labels = [("–" if i is None else first[i], "–" if j is None else second[j]) for i, j in pairs]
    return tuple(a if a == b else f"{a} / {b}" for a, b in labels)
