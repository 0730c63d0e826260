"""What a visitor can choose on this page."""

from attnviz.app.links.choices import PageChoices
from attnviz.models.architecture import gpus
from attnviz.pages.fast.maths import cost, numerics, paged, tiles, traps

PAGE = PageChoices("fast")
SECTION = PAGE.one_of("fast_section", ("tiles", "cost", "measured", "numerics", "paged", "traps"))
SEED = PAGE.whole("fast_seed", 0, low=0, high=9999)

# Tile by tile
FILM_TOKENS = PAGE.whole("fast_n", tiles.Config.tokens, low=1, high=tiles.MOST_TOKENS)
BLOCK_IDS = {str(block): str(block) for block in tiles.BLOCKS}  #: each is called what its id is
BLOCK_Q = PAGE.one_of("fast_block_q", tuple(BLOCK_IDS))
BLOCK_K = PAGE.one_of("fast_block_k", tuple(BLOCK_IDS))
MASK = PAGE.one_of("fast_mask", tiles.MASKS)
WINDOW = PAGE.whole("fast_window", tiles.Config.window, low=1, high=tiles.MOST_TOKENS)
PASS = PAGE.one_of("fast_pass", ("forward", "backward"))
FILM_WIDTH = PAGE.whole("fast_d", tiles.Config.width, low=1, high=256)
#: the tile at work, from 0; None: one in the middle
AT = PAGE.whole("fast_at", None, low=0, high=100_000)

# Rounding
SCORES = PAGE.real("fast_scores", numerics.Config.size, low=0.5, high=12.0)
BLOCK_ROUNDED = PAGE.one_of("fast_rounded", tuple(BLOCK_IDS), str(numerics.Config.block))

# What it costs
TOKENS = PAGE.whole("fast_tokens", cost.Config.tokens, *cost.LIMITS["tokens"])
HEADS = PAGE.whole("fast_heads", cost.Config.heads, *cost.LIMITS["heads"])
KV_HEADS = PAGE.whole("fast_kv", cost.Config.kv_heads, *cost.LIMITS["kv_heads"])
D_HEAD = PAGE.whole("fast_width", cost.Config.d_head, *cost.LIMITS["d_head"])
FAST_KIB = PAGE.whole("fast_kib", cost.FAST_KIB, *cost.LIMITS["fast_kib"])
CAUSAL = PAGE.flag("fast_causal")
DTYPE = PAGE.one_of("fast_dtype", ("bfloat16", "float32"))
GPU = PAGE.one_of("fast_gpu", tuple(gpus()), "a100-80gb")

# Measured
MACHINE = PAGE.one_of("fast_machine")  #: the name of a file of measurements; "": this machine's, else the one shipped

# Paged cache
STEP = PAGE.whole("fast_step", None, low=0, high=10_000)  #: None: where most is reserved
PAGED = {name: PAGE.whole(f"fast_{name}", getattr(paged.Config, name), *paged.LIMITS[name]) for name in paged.LIMITS}

# Traps
SENTENCE = PAGE.sentence("fast_text", "The cat sat on the mat because it was tired", longest=3000)
TRAP = PAGE.one_of("fast_trap", tuple(traps.TILE_TRAPS))
