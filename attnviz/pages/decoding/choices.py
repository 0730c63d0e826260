"""What a visitor can choose on the page about decoding with a cache."""

from attnviz.app.links.choices import Move, PageChoices
from attnviz.base.words import N_
from attnviz.core.cache import EVICTION_RULES
from attnviz.core.precision import PLAIN_BITS
from attnviz.models.architecture import gpus
from attnviz.pages.decoding.maths import growing_bytes, kept_positions, token_by_token

PROMPT_EXAMPLE = "The capital of France is Paris. The capital of Italy is"
TEXT_EXAMPLE = (
    "The lighthouse keeper wrote down every ship that passed. On Monday there were four ships, on Tuesday there were "
    "two, and on Wednesday a storm kept every ship away. On Thursday the keeper went down to the harbour and asked the "
    "fishermen about the storm. They told him that four ships had been lost, and that the keeper of the other "
    "lighthouse had seen it all. On Friday the keeper wrote down what the fishermen had told him, and lit the lamp "
    "again."
)

PAGE = PageChoices("decoding")
VIEW = PAGE.one_of("d_view", ("steps", "bytes", "numbers", "policies"), label=N_("Section"), moved={"speed": "bytes"})
MODEL = PAGE.one_of("d_model", label=N_("Decoder"))
SEED = PAGE.integer("d_seed", 0, low=0, high=9999, label=N_("Seed"))

# Step by step
PROMPT = PAGE.text("d_prompt", PROMPT_EXAMPLE, longest=2000, label=N_("Prompt"))
STEPS = PAGE.integer("d_steps", 8, low=0, high=token_by_token.MOST_STEPS, label=N_("Steps"))
TEMPERATURE = PAGE.real("d_t", 0.0, low=0.0, high=2.0, label=N_("Temperature"))
LAYER = PAGE.integer("d_layer", 17, low=0, high=9999, label=N_("Layer, from 0"))
HEAD = PAGE.integer("d_head", 5, low=0, high=9999, label=N_("Head, from 0"))
#: the step that the player stands at, from 0; None: the last one
AT = PAGE.integer("d_at", None, low=0, high=token_by_token.MOST_STEPS, label=N_("Step on show, from 0"))

# Bytes
DTYPES = tuple(PLAIN_BITS)
TOKENS = PAGE.integer("d_tokens", growing_bytes.Config.tokens, low=1, high=1 << 24, label=N_("Tokens at the end"))
DTYPE = PAGE.one_of("d_dtype", DTYPES, growing_bytes.Config.dtype, label=N_("Numbers"))
#: the place on the film of growing caches; None: its end
GROWN = PAGE.integer("d_grown", None, low=0, high=growing_bytes.POINTS, label=N_("Tokens so far"))

# Numbers, policies
TEXT = PAGE.text("d_text", TEXT_EXAMPLE, longest=3000, label=N_("Text: the first half is the prompt"))
POLICY = PAGE.one_of("d_policy", [*EVICTION_RULES], "heavy", label=N_("Policy"))
BUDGET = PAGE.one_of(
    "d_budget", tuple(str(n) for n in sorted(kept_positions.BUDGETS)), "16", label=N_("Positions kept")
)
KEPT_LAYER = PAGE.integer("d_kept_layer", 0, low=0, high=9999, label=N_("Layer, from 0"))
KEPT_GROUP = PAGE.integer("d_kept_head", 0, low=0, high=9999, label=N_("K/V head, from 0"))

# Prefill and decode
MACHINE = PAGE.one_of(
    "d_machine", tuple(gpus()), "a100-80gb", label=N_("Machine"), moved={"here": "a100-80gb", "": "a100-80gb"}
)

PAGE.moved["d_view", "traps"] = Move(
    "mistakes",
    {"mistake": "{d_trap}", "guess": "{d_trap}.0", "mi_text": "{d_sentence}", "mi_seed": "{d_seed}"},
    {"d_trap": "top_left"},
    ("d-trap", "mistake"),
)
for name in ("d_flops", "d_time", "d_layers"):  # charts that the bricks stand for
    PAGE.moved["figure", name] = Move(
        "decoding",
        {choice.name: f"{{{choice.name}}}" for choice in (MODEL, SEED, PROMPT, STEPS, TEMPERATURE, AT)},
        {},
        (name, "d_bricks_save"),
    )
