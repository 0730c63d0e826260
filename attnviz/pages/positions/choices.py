"""What a visitor can choose on the positions page."""

from attnviz.app.links.choices import Move, PageChoices
from attnviz.base.words import N_
from attnviz.models.loading import EXAMPLES
from attnviz.pages.positions.maths import position_scores, rotation, turning_words, video

PAGE = PageChoices("positions")
SECTION = PAGE.one_of(
    "p_section",
    ("circle", "scores", "longer", "video", "head"),
    label=N_("Section"),
    moved={"order": "circle"},
)

# Shared by several sections
SENTENCE = PAGE.sentence("p_text", EXAMPLES[0].text, longest=2000, label=N_("Sentence"))
SEED = PAGE.integer("p_seed", 0, low=0, high=9999, label=N_("Seed"))
WIDTH = PAGE.integer("p_width", 64, low=2, high=512, label=N_("Width D"))
BASE = PAGE.real("p_base", 10_000.0, 2.0, 1e9, label=N_("Base b"))

# 1 Words on a dial
TURNED = PAGE.integer("p_turned", 100, low=0, high=100, label=N_("Turned by RoPE, percent"))
WORD_ORDER = PAGE.text("p_words", longest=100, label=N_("Which word stands at each place"))
ROW = PAGE.integer("p_row", 8, low=0, high=turning_words.MOST - 1, label=N_("Word that looks, from 0"))
GUESS = PAGE.one_of("p_guess", label=N_("Your guess"))
PAIR = PAGE.integer("p_pair", 0, low=0, high=255, label=N_("Pair"))

# 2 Position against position
ENCODING = PAGE.one_of("p_encoding", position_scores.ENCODINGS, "rope-half", label=N_("Positions"))
COUNT = PAGE.integer("p_n", 64, low=2, high=position_scores.MOST, label=N_("Positions shown"))
CONTENT = PAGE.one_of("p_content", ("same", "random"), label=N_("Content"))
SHIFT = PAGE.integer("p_shift", 1000, low=0, high=1_000_000, label=N_("Shift all by"))
HEADS = PAGE.integer("p_heads", 8, low=1, high=64, label=N_("Heads"))
DISPLAYED_HEAD = PAGE.integer("p_shown", 0, low=0, high=63, label=N_("Head, from 0"))
BOTH_WAYS = PAGE.flag("p_both", True, label=N_("Later keys too"))
TABLE = PAGE.one_of("p_table", ("random", "trained"), label=N_("Table"))

# 3 Longer than trained
METHOD = PAGE.one_of("p_method", rotation.METHODS, "yarn", label=N_("Scaling"))
FACTOR = PAGE.real("p_factor", 4.0, 1.0, 128.0, label=N_("Times longer, s"))
TRAINED = PAGE.integer("p_trained", 4096, low=2, high=1_000_000, label=N_("Trained on, positions"))

# 4 Video
SPLIT = PAGE.one_of("p_split", video.SPLITS, label=N_("Split of the head"))
D_HEAD = PAGE.integer("p_dhead", 64, low=2, high=512, label=N_("Width of a head"))
AXIS_WIDTHS = tuple(
    PAGE.integer(f"p_own_{axis}", width, low=0, high=512, label=label)
    for axis, width, label in zip(
        video.AXES, (22, 21, 21), (N_("of it for time"), N_("of it for height"), N_("of it for width")), strict=True
    )
)
SIZES = tuple(
    PAGE.integer(f"p_{axis}s", size, low=1, high=64, label=label)
    for axis, size, label in zip(video.AXES, (3, 6, 8), (N_("Frames"), N_("Rows"), N_("Columns")), strict=True)
)
QUERY = (N_("Query: frame"), N_("Query: row"), N_("Query: column"))
PATCH = tuple(
    PAGE.integer(f"p_at_{axis}", at, low=0, high=63, label=label)
    for axis, at, label in zip(video.AXES, (1, 2, 3), QUERY, strict=True)
)
VIDEO_DIGIT = PAGE.integer("p_v_digit", video.AttentionConfig.digit, low=0, high=9, label=N_("Digit that moves"))
VIDEO_AT = tuple(
    PAGE.integer(f"p_v_{axis}", at, low=0, high=size - 1, label=label)
    for axis, at, size, label in zip(
        ("frame", "row", "column"),
        video.AttentionConfig.at,
        (video.FRAMES, video.ROWS, video.COLUMNS),
        QUERY,
        strict=True,
    )
)
VIDEO_HEAD = PAGE.integer("p_v_head", 0, low=0, high=video.HEADS - 1, label=N_("Head"))
VIDEO_TURNED = PAGE.flag("p_v_turned", True, label=N_("Rotate by time, height and width"))
VIDEO_NORMED = PAGE.flag("p_v_normed", True, label=N_("Normalise q and k"))
VIDEO_NORM = PAGE.one_of("p_v_norm", video.NORMS, label=N_("RMSNorm of q and k"))
VIDEO_GROWTH = PAGE.real("p_v_growth", 1.0, 0.5, 32.0, label=N_("W_q and W_k ×"))

# 5 A real head
MODEL = PAGE.one_of("p_model", label=N_("Model"))
LAYER = PAGE.integer("p_layer", 16, low=0, high=999, label=N_("Layer, from 0"))
HEAD = PAGE.integer("p_head", 0, low=0, high=999, label=N_("Head, from 0"))
CHANGE = PAGE.one_of("p_change", ("removed", "base"), label=N_("Change"))
NEW_BASE = PAGE.real("p_newbase", 1000.0, 2.0, 1e9, label=N_("New base"))
WHERE = PAGE.one_of("p_where", ("head", "layer", "all"), label=N_("Where"))

for name in ("norm", *(f"p_norm_{figure}" for figure in ("without", "with", "logit", "entropy", "gradient"))):
    PAGE.moved["p_section" if name == "norm" else "figure", name] = Move(
        "positions",
        {"p_section": "video", "p_v_norm": "{p_norm}", "p_v_growth": "{p_growth}"},
        {"p_norm": "full", "p_growth": "8"},
        (name, "p_video_attention"),
    )
