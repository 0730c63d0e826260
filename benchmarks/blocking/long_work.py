"""The longest that a visitor can ask for in each section of Decoding, Positions and Compare, none of it prepared."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

SENTENCE = "The old bridge over the river was closed all winter because of the rain and the snow that fell"
PROMPT = " ".join([SENTENCE] * 5)  #: with 48 steps nearly as many tokens as that section takes
TEXT = " ".join([SENTENCE] * 13)  #: more tokens than are read
WORDS = " ".join(SENTENCE.split()[:16] * 3)


@dataclass(frozen=True)
class LongWork:
    """A link, and the button that starts the work where the link alone does not."""

    page: str
    what: str
    chosen: dict[str, object]
    button: str = ""

    @property
    def query(self) -> str:
        return urlencode(self.chosen)


def decoding(what: str, view: str, button: str = "", **chosen: object) -> LongWork:
    return LongWork("decoding", what, {"d_view": view} | chosen, button)


def positions(what: str, section: str, **chosen: object) -> LongWork:
    return LongWork("positions", what, {"p_section": section} | chosen)


def compare(what: str, section: str, button: str = "", **chosen: object) -> LongWork:
    return LongWork("compare", what, {"c_section": section} | chosen, button)


LONGEST = (
    decoding("48 steps, with a cache and without", "steps", d_prompt=PROMPT, d_steps=48),
    decoding("a growing cache of 16 million tokens", "bytes", d_tokens=1 << 24),
    decoding("five formats of a cache, 256 tokens", "numbers", d_text=TEXT),
    decoding("all policies and budgets, 256 tokens", "policies", d_text=TEXT),
    decoding("prefill and decode measured", "speed", "d_measure"),
    decoding("a trap of 48 words", "traps", d_sentence=WORDS),
    positions("48 words in another order", "order", p_text=WORDS, p_width=512, p_kind="rope-half"),
    positions("256 positions against each other", "scores", p_n=256, p_width=512, p_content="random"),
    positions("a pair of 256 turns", "circle", p_width=512, p_q=511),
    positions("a text 128 times as long as trained", "longer", p_factor=128.0, p_trained=1_000_000, p_width=512),
    positions("a video of 64 x 64 x 64 patches", "video", p_times=64, p_heights=64, p_widths=64, p_dhead=512),
    positions("every head without RoPE", "head", p_text=" ".join([SENTENCE] * 9), p_where="all"),
    positions("growing logits, 256 wide", "norm", p_normwidth=256),
    compare("a table of 2^20 tokens, width 2^14", "table", c_n=1 << 20, c_d=1 << 14, c_k=255, c_heads=256),
    compare("six layers measured up to 8,192 tokens", "measured", "c_measure", c_where="here", c_longest=8192),
    compare("six layers trained for 1,000 steps", "reach", "c_train", c_reach_n=64, c_reach_steps=1000),
    compare("48 places mixed", "shared", c_places=48, c_kernel=32),
)
