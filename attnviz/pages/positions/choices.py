"""What a visitor can choose on the positions page."""

from attnviz.app.links.choices import PageChoices
from attnviz.models.catalogue import EXAMPLES
from attnviz.pages.positions.maths import position_scores, qk_norm_growth, rotation, shuffled_words, video

PAGE = PageChoices("positions")
SECTION = PAGE.one_of("p_section", ("order", "scores", "circle", "longer", "video", "head", "norm"))

# Shared by several sections
SENTENCE = PAGE.sentence("p_text", EXAMPLES[0].text, longest=2000)
SEED = PAGE.whole("p_seed", 0, low=0, high=9999)
WIDTH = PAGE.whole("p_width", 64, low=2, high=512)
BASE = PAGE.real("p_base", 10_000.0, 2.0, 1e9)

# 1 Words in another order
KIND = PAGE.one_of("p_kind", position_scores.KINDS)
ORDER = PAGE.one_of("p_order", shuffled_words.ORDERS, "swap")
CAUSAL = PAGE.flag("p_causal")
OWN_RANGE = PAGE.flag("p_own_range")

# 2 Position against position
ENCODING = PAGE.one_of("p_encoding", position_scores.ENCODINGS, "rope-half")
COUNT = PAGE.whole("p_n", 64, low=2, high=position_scores.MOST)
CONTENT = PAGE.one_of("p_content", ("same", "random"))
SHIFT = PAGE.whole("p_shift", 1000, low=0, high=1_000_000)
HEADS = PAGE.whole("p_heads", 8, low=1, high=64)
HEAD_SHOWN = PAGE.whole("p_shown", 0, low=0, high=63)
BOTH_WAYS = PAGE.flag("p_both", True)
TABLE = PAGE.one_of("p_table", ("random", "trained"))

# 3 One pair turns
LAST = 511  #: the last position that the sliders reach
PAIR = PAGE.whole("p_pair", 4, low=0, high=255)
Q_AT = PAGE.whole("p_q", 12, low=0, high=LAST)
K_AT = PAGE.whole("p_k", 4, low=0, high=LAST)

# 4 Longer than trained
METHOD = PAGE.one_of("p_method", rotation.METHODS, "yarn")
FACTOR = PAGE.real("p_factor", 4.0, 1.0, 128.0)
TRAINED = PAGE.whole("p_trained", 4096, low=2, high=1_000_000)

# 5 Video
SPLIT = PAGE.one_of("p_split", video.SPLITS)
D_HEAD = PAGE.whole("p_dhead", 64, low=2, high=512)
OWN = tuple(
    PAGE.whole(f"p_own_{axis}", width, low=0, high=512) for axis, width in zip(video.AXES, (22, 21, 21), strict=True)
)
SIZES = tuple(PAGE.whole(f"p_{axis}s", size, low=1, high=64) for axis, size in zip(video.AXES, (3, 6, 8), strict=True))
PATCH = tuple(PAGE.whole(f"p_at_{axis}", at, low=0, high=63) for axis, at in zip(video.AXES, (1, 2, 3), strict=True))
VIDEO_DIGIT = PAGE.whole("p_v_digit", video.AttentionConfig.digit, low=0, high=9)
VIDEO_AT = tuple(
    PAGE.whole(f"p_v_{axis}", at, low=0, high=size - 1)
    for axis, at, size in zip(
        ("frame", "row", "column"),
        video.AttentionConfig.at,
        (video.FRAMES, video.ROWS, video.COLUMNS),
        strict=True,
    )
)
VIDEO_HEAD = PAGE.whole("p_v_head", 0, low=0, high=video.HEADS - 1)
VIDEO_TURNED = PAGE.flag("p_v_turned", True)
VIDEO_NORMED = PAGE.flag("p_v_normed", True)
VIDEO_NORM = PAGE.one_of("p_v_norm", qk_norm_growth.NORMS)

# 6 A real head
MODEL = PAGE.one_of("p_model")
LAYER = PAGE.whole("p_layer", 16, low=0, high=999)
HEAD = PAGE.whole("p_head", 0, low=0, high=999)
CHANGE = PAGE.one_of("p_change", ("removed", "base"))
NEW_BASE = PAGE.real("p_newbase", 1000.0, 2.0, 1e9)
WHERE = PAGE.one_of("p_where", ("head", "layer", "all"))

# 7 Normalised queries and keys
NORM = PAGE.one_of("p_norm", qk_norm_growth.NORMS, "full")
GROWTH = PAGE.real("p_growth", 8.0, 0.5, 32.0)
NORM_WIDTH = PAGE.whole("p_normwidth", 32, low=6, high=256)
