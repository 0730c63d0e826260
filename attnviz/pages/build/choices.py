"""What a visitor can choose on the building page: the layer, the step and the cell on show, and edited weights."""

from typing import Any, get_args

from attnviz.app.links.choices import Choice, PageChoices
from attnviz.base.words import N_
from attnviz.models.pictures import SAMPLES
from attnviz.pages.build.maths import inputs, size_mismatches, two_sources

EXAMPLE, KV_EXAMPLE = "the cat sat down", "le chat noir"
LONGEST = 400  # characters
MOST_HEADS = 4
MOST_EDITS = 800  # every cell of the largest matrices
LARGEST_EDIT = 100.0
#: the first step of a walk, and the step of a link that sets other choices but no step
FIRST_STEP, STEP_OF_LINKS = "embed", "scores"
FARTHEST = 10_000  #: the largest index in a link; drawing clamps it to its board


def _numbers(first: int, last: int) -> tuple[str, ...]:
    return tuple(str(n) for n in range(first, last + 1))


def _parse_index(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= FARTHEST:
        raise ValueError(value)
    return value


def _parse_edits(value: Any) -> tuple[inputs.CellEdit, ...]:
    edits = tuple((str(m), _parse_index(r), _parse_index(c), float(v)) for m, r, c, v in value[:MOST_EDITS])
    if any(m not in inputs.MATRICES or not abs(v) <= LARGEST_EDIT for m, _r, _c, v in edits):
        raise ValueError(value)
    return edits


PAGE = PageChoices("build")
SENTENCE = PAGE.sentence("b_text", EXAMPLE, longest=LONGEST, label=N_("Sentence"))
KV_SENTENCE = PAGE.text("b_other", KV_EXAMPLE, longest=LONGEST, label=N_("Sentence (keys and values)"))
KIND = PAGE.one_of("b_kind", ("self", "cross"), label=N_("Attention"))
HEADS = PAGE.one_of("b_h", _numbers(1, MOST_HEADS), "2", label=N_("Query heads"))
MASK = PAGE.one_of("b_mask", get_args(inputs.MaskName), "none", label=N_("Mask"))
POSITION = PAGE.one_of("b_pos", get_args(inputs.PositionChoice), "none", label=N_("Position"))
KV_HEADS = PAGE.one_of("b_g", label=N_("Key/value heads"))
D_MODEL = PAGE.integer("b_m", 4, low=2, high=8, label=N_("Model width M"))
D_HEAD = PAGE.integer("b_d", 2, low=1, high=6, label=N_("Head width D"))
D_VALUE = PAGE.one_of("b_dv", ("same", *_numbers(1, 6)), label=N_("Value width Dv"))
WIDENING = PAGE.one_of("b_ff", ("4", "2", "1"), label=N_("FFN width F"))
BATCH = PAGE.integer("b_batch", 1, low=1, high=3, label=N_("Sentences in the batch"))
WINDOW = PAGE.integer("b_window", 2, low=1, high=5, label=N_("Window, in keys"))
PACKED = PAGE.flag("b_packed", label=N_("One packed projection"))
BIAS = PAGE.flag("b_bias", label=N_("Bias in the projections"))
QK_NORM = PAGE.flag("b_qknorm", label=N_("Normalise Q and K"))
SCALED = PAGE.flag("b_scale", True, label=N_("Divide scores by √D"))
DROPOUT = PAGE.real("b_dropout", 0.0, low=0.0, high=0.9, label=N_("Dropout"))
TRAINING = PAGE.flag("b_train", label=N_("Training mode"))
VECTORS = PAGE.one_of("b_vectors", label=N_("Word vectors"))
SEED = PAGE.integer("b_seed", inputs.Config.seed, low=0, high=20, label=N_("Random seed"))

# The step, cell, head and sentence on show, and the edited cells.
STEP = PAGE.one_of("b_step", label=N_("Step"))
PAGE.opening[STEP] = (FIRST_STEP, STEP_OF_LINKS)
AT: dict[str, Choice[int]] = {
    name: PAGE.on_canvas(f"b_{name}", first, _parse_index, int, first + 1, inside="b_at", short=name[0], label=label)
    for name, first, label in (
        ("part", 0, N_("Part of the step")),
        ("row", 1, N_("Row")),
        ("col", 0, N_("Column")),
        ("head", 0, N_("Head")),
        ("sentence", 0, N_("Sentence of the batch")),
    )
}
EDITS: Choice[tuple[inputs.CellEdit, ...]] = PAGE.on_canvas(
    "b_edits",
    (),
    _parse_edits,
    lambda edits: [list(edit) for edit in edits],
    (("W_Q", 0, 1, 2.5),),
    inside="b_at",
    short="e",
    label=N_("Edited cells"),
)

#: which key a row is expected to look at most, by number; after a dot which row
GUESS = PAGE.one_of("b_guess", label=N_("Your guess"))

# Ask further
QUESTION = PAGE.one_of("b_ask", ("weights", "sizes", "qkv", "softmax", "heads", "picture"), label=N_("Question"))
MISTAKE = PAGE.one_of("b_wrong", ("width", "keys", "groups", "mask", "none", "own"), label=N_("Mistake"))
#: the letter of each size of the call
SIZE_LETTERS = {
    "n_heads": "H",
    "n_kv_heads": "G",
    "queries": "Q",
    "keys": N_("K (keys)"),
    "values": N_("K (values)"),
    "q_width": "D (Q)",
    "k_width": "D (K)",
    "v_width": "Dv",
    "mask_queries": N_("mask Q"),
    "mask_keys": N_("mask K"),
}
SIZES = {
    name: PAGE.integer(f"b_{name}", getattr(size_mismatches.Sizes, name), low=1, high=12, label=letter)
    for name, letter in SIZE_LETTERS.items()
}
BATCH_SIZE = PAGE.one_of("b_sizes", tuple(size_mismatches.BATCH_SIZES), label=N_("B × T × M"))
ORDER = PAGE.one_of("b_order", ("reversed", "rotated", "swapped"), label=N_("Change the order"))
QUERY = PAGE.one_of("b_query", label=N_("Query"))
N_TARGETS = PAGE.one_of("b_things", ("2", "3", "4"), label=N_("Places that each word has to look at"))
SHARE = PAGE.real("b_share", 0.5, low=0.0, high=1.0, label=N_("Share of the single head's weight for the first"))
QUERY_WORD = PAGE.one_of("b_looker", label=N_("Where does this word look?"))
DIGIT = PAGE.integer("b_digit", two_sources.Config.digit, low=0, high=9, label=N_("Picture: the digit"))
PICTURE = PAGE.one_of("b_picture", ("digit", *(sample.id for sample in SAMPLES)), label=N_("Picture"))
NORMS = PAGE.one_of("b_norms", two_sources.NORMS, label=N_("What RMSNorm is applied to"))
FACTOR = PAGE.real(
    "b_factor", two_sources.Config.factor, low=0.0, high=3.0, label=N_("Factor of what the picture brings")
)
CODE = PAGE.one_of("b_code", ("module", "sdpa", "mha"), label=N_("Written as"))
