"""What a visitor can choose on this page."""

from attnviz.app.links.choices import PageChoices
from attnviz.pages.fast.maths import tiles

PAGE = PageChoices("fast")
SECTION = PAGE.one_of("fast_section", ("tiles", "cost", "numerics", "paged", "traps"))

# Tile by tile
TOKENS = PAGE.whole("fast_tokens", tiles.Config.tokens, low=1, high=tiles.MOST_TOKENS)
BLOCK_IDS = tuple(str(block) for block in tiles.BLOCKS)
BLOCK_Q = PAGE.one_of("fast_block_q", BLOCK_IDS)
BLOCK_K = PAGE.one_of("fast_block_k", BLOCK_IDS)
MASK = PAGE.one_of("fast_mask", tiles.MASKS)
WINDOW = PAGE.whole("fast_window", tiles.Config.window, low=1, high=tiles.MOST_TOKENS)
PASS = PAGE.one_of("fast_pass", ("forward", "backward"))
WIDTH = PAGE.whole("fast_width", tiles.Config.width, low=1, high=256)
SEED = PAGE.whole("fast_seed", 0, low=0, high=9999)
#: the tile at work, from 0; None: one in the middle
AT = PAGE.whole("fast_at", None, low=0, high=100_000)
