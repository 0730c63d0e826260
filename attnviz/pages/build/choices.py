"""What a visitor can choose on the building page: the layer, the step and the cell on show, and edited weights."""

from typing import Any, get_args

from attnviz.app.links.choices import Choice, PageChoices
from attnviz.models.pictures import SAMPLES
from attnviz.pages.build.maths import batch_shapes, inputs, size_mismatches, two_sources

EXAMPLE, OTHER_EXAMPLE = "the cat sat down", "le chat noir"
LONGEST = 400  # characters
MOST_HEADS = 4
MOST_EDITS = 800  # every cell of the largest matrices
LARGEST_EDIT = 100.0
#: where a walk begins, and the step that a link means which holds something, but no step
FIRST_STEP, STEP_OF_LINKS = "embed", "scores"
FARTHEST = 10_000  #: the largest index in a link; one outside its board is moved inside when drawn


def _numbers(first: int, last: int) -> tuple[str, ...]:
    return tuple(str(n) for n in range(first, last + 1))


def _place(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= FARTHEST:
        raise ValueError(value)
    return value


def _edits(value: Any) -> tuple[inputs.CellEdit, ...]:
    edits = tuple((str(m), _place(r), _place(c), float(v)) for m, r, c, v in value[:MOST_EDITS])
    if any(m not in inputs.MATRICES or not abs(v) <= LARGEST_EDIT for m, _r, _c, v in edits):
        raise ValueError(value)
    return edits


PAGE = PageChoices("build")
SENTENCE = PAGE.sentence("b_text", EXAMPLE, longest=LONGEST)
OTHER = PAGE.text("b_other", OTHER_EXAMPLE, longest=LONGEST)
KIND = PAGE.one_of("b_kind", ("self", "cross"))
HEADS = PAGE.one_of("b_h", _numbers(1, MOST_HEADS), "2")
MASK = PAGE.one_of("b_mask", get_args(inputs.MaskName), "none")
POSITION = PAGE.one_of("b_pos", get_args(inputs.PositionChoice), "none")
KV_HEADS = PAGE.one_of("b_g")
D_MODEL = PAGE.whole("b_m", 4, low=2, high=8)
D_HEAD = PAGE.whole("b_d", 2, low=1, high=6)
D_VALUE = PAGE.one_of("b_dv", ("same", *_numbers(1, 6)))
WIDENING = PAGE.one_of("b_ff", ("4", "2", "1"))
BATCH = PAGE.whole("b_batch", 1, low=1, high=3)
WINDOW = PAGE.whole("b_window", 2, low=1, high=5)
PACKED = PAGE.flag("b_packed")
BIAS = PAGE.flag("b_bias")
QK_NORM = PAGE.flag("b_qknorm")
SCALED = PAGE.flag("b_scale", True)
DROPOUT = PAGE.real("b_dropout", 0.0, low=0.0, high=0.9)
TRAINING = PAGE.flag("b_train")
VECTORS = PAGE.one_of("b_vectors")
SEED = PAGE.whole("b_seed", inputs.Config.seed, low=0, high=20)

# The step, cell, head and sentence on show, and the edited cells.
STEP = PAGE.one_of("b_step")
PAGE.opening[STEP] = (FIRST_STEP, STEP_OF_LINKS)
AT: dict[str, Choice[int]] = {
    name: PAGE.on_canvas(f"b_{name}", first, _place, int, first + 1, inside="b_at", short=name[0])
    for name, first in (("part", 0), ("row", 1), ("col", 0), ("head", 0), ("sentence", 0))
}
EDITS: Choice[tuple[inputs.CellEdit, ...]] = PAGE.on_canvas(
    "b_edits", (), _edits, lambda edits: [list(edit) for edit in edits], (("W_Q", 0, 1, 2.5),), inside="b_at", short="e"
)

# Ask further
QUESTION = PAGE.one_of("b_ask", ("weights", "sizes", "qkv", "softmax", "heads", "picture"))
MATRIX = PAGE.one_of("b_matrix", tuple(inputs.MATRICES))
MISTAKE = PAGE.one_of("b_wrong", ("width", "keys", "groups", "mask", "none", "own"))
SIZES = {
    name: PAGE.whole(f"b_{name}", getattr(size_mismatches.Sizes, name), low=1, high=12)
    for name in (
        "n_heads", "n_kv_heads", "queries", "keys", "values", "q_width", "k_width", "v_width", "mask_queries",
        "mask_keys",
    )
}  # fmt: skip
BATCH_SIZE = PAGE.one_of("b_sizes", tuple(batch_shapes.BATCH_SIZES))
ORDER = PAGE.one_of("b_order", ("reversed", "rotated", "swapped"))
QUERY = PAGE.one_of("b_query")
THINGS = PAGE.one_of("b_things", ("2", "3", "4"))
SHARE = PAGE.real("b_share", 0.5, low=0.0, high=1.0)
LOOKER = PAGE.one_of("b_looker")
DIGIT = PAGE.whole("b_digit", two_sources.Config.digit, low=0, high=9)
PICTURE = PAGE.one_of("b_picture", ("digit", *(sample.id for sample in SAMPLES)))
NORMS = PAGE.one_of("b_norms", two_sources.NORMS)
FACTOR = PAGE.real("b_factor", two_sources.Config.factor, low=0.0, high=3.0)
CODE = PAGE.one_of("b_code", ("module", "sdpa", "mha"))
