"""What a visitor can choose on this page."""

from attnviz.app.links.choices import Move, PageChoices
from attnviz.base.words import N_
from attnviz.models.architecture import gpus
from attnviz.pages.fast.maths import cost, measured, numerics, paged, tiles

PAGE = PageChoices("fast")
SECTION = PAGE.one_of("fast_section", ("tiles", "cost", "measured", "numerics", "paged"), label=N_("Section"))
SEED = PAGE.integer("fast_seed", 0, low=0, high=9999, label=N_("Seed"))

# Tile by tile
FILM_TOKENS = PAGE.integer("fast_n", tiles.Config.tokens, low=1, high=tiles.MOST_TOKENS, label=N_("Tokens"))
BLOCK_IDS = {str(block): str(block) for block in tiles.BLOCKS}  #: each is called what its id is
BLOCK_Q = PAGE.one_of("fast_block_q", tuple(BLOCK_IDS), label=N_("Queries in a tile"))
BLOCK_K = PAGE.one_of("fast_block_k", tuple(BLOCK_IDS), label=N_("Keys in a tile"))
MASK = PAGE.one_of("fast_mask", tiles.MASKS, label=N_("Mask"))
WINDOW = PAGE.integer(
    "fast_window", tiles.Config.window, low=1, high=tiles.MOST_TOKENS, label=N_("Width of the window")
)
PASS = PAGE.one_of("fast_pass", ("forward", "backward"), label=N_("Pass"))
FILM_WIDTH = PAGE.integer("fast_d", tiles.Config.width, low=1, high=256, label=N_("Width of a head, d"))
GUESS = PAGE.one_of("fast_guess", label=N_("Your guess"))  #: what is guessed, and of which pass: "queries.forward"
#: the tile at work, from 0; None: one in the middle
AT = PAGE.integer("fast_at", None, low=0, high=100_000, label=N_("Tile"))

# Rounding
SCORES = PAGE.real("fast_scores", numerics.Config.size, low=0.5, high=12.0, label=N_("How large scores are"))
BLOCK_ROUNDED = PAGE.one_of("fast_rounded", tuple(BLOCK_IDS), str(numerics.Config.block), label=N_("Keys in a tile"))

# What it costs
TOKENS = PAGE.integer("fast_tokens", cost.Config.tokens, *cost.LIMITS["tokens"], label=N_("Tokens"))
HEADS = PAGE.integer("fast_heads", cost.Config.heads, *cost.LIMITS["heads"], label=N_("Query heads"))
KV_HEADS = PAGE.integer("fast_kv", cost.Config.kv_heads, *cost.LIMITS["kv_heads"], label=N_("K/V heads"))
D_HEAD = PAGE.integer("fast_width", cost.Config.d_head, *cost.LIMITS["d_head"], label=N_("Head width"))
FAST_KIB = PAGE.integer("fast_kib", cost.FAST_KIB, *cost.LIMITS["fast_kib"], label=N_("Fast memory of a worker, KiB"))
CAUSAL = PAGE.flag("fast_causal", label=N_("Causal mask"))
DTYPE = PAGE.one_of("fast_dtype", ("bfloat16", "float32"), label=N_("Numbers of"))
GPU = PAGE.one_of("fast_gpu", tuple(gpus()), "a100-80gb", label=N_("GPU"))

# Measured
SUBJECT = PAGE.one_of("fast_ways", tuple(measured.SUBJECTS), label=N_("What is measured"))
MACHINE = PAGE.one_of(
    "fast_machine", label=N_("Measured on")
)  #: the name of a file of measurements; "": this machine's, else the one shipped

# Paged cache
STEP = PAGE.integer("fast_step", None, low=0, high=10_000, label=N_("Step"))  #: None: where most is reserved
PAGED_LABELS = {
    "block": N_("Tokens of a block"),
    "shared": N_("Tokens of the shared prefix"),
    "requests": N_("Requests"),
    "answer": N_("Longest answer, tokens"),
}
PAGED = {
    name: PAGE.integer(f"fast_{name}", getattr(paged.Config, name), *paged.LIMITS[name], label=label)
    for name, label in PAGED_LABELS.items()
}

PAGE.moved["fast_section", "traps"] = Move(
    "mistakes",
    {"mistake": "{fast_trap}", "guess": "{fast_trap}.0", "mi_text": "{fast_text}", "mi_seed": "{fast_seed}"},
    {"fast_trap": "no_maximum"},
    ("fast-trap", "mistake"),
)
