"""What a visitor can choose on the page about decoding with a cache."""

from __future__ import annotations

from attnviz.experiments.decoding import token_by_token
from attnviz.ui.shared import PageChoices

PROMPT_EXAMPLE = "The capital of France is Paris. The capital of Italy is"

PAGE = PageChoices("decoding")
VIEW = PAGE.one_of("d_view", ("steps", "bytes", "numbers", "policies", "speed", "traps"))
MODEL = PAGE.one_of("d_model")
SEED = PAGE.whole("d_seed", 0, low=0, high=9999)

# Step by step
PROMPT = PAGE.text("d_prompt", PROMPT_EXAMPLE, longest=2000)
STEPS = PAGE.whole("d_steps", 16, low=0, high=token_by_token.MOST_STEPS)
TEMPERATURE = PAGE.real("d_t", 0.0, low=0.0, high=2.0)
LAYER = PAGE.whole("d_layer", 18, low=0, high=9999)
HEAD = PAGE.whole("d_head", 6, low=0, high=9999)
#: the step that the player stands at, from 0; None: the last one
AT = PAGE.whole_or_none("d_at", low=0, high=token_by_token.MOST_STEPS)
