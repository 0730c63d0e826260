"""What a visitor can choose on the page about sharing keys and values."""

from typing import get_args

from attnviz.analysis.head_sharing import Method
from attnviz.app.links.choices import Move, PageChoices
from attnviz.base.words import N_
from attnviz.core.precision import DTYPES
from attnviz.models.architecture import CONVENTIONS, CustomShape, all_presets, gpus
from attnviz.models.loading import EXAMPLES
from attnviz.pages.sharing import maths

TYPED = "typed"  #: id of the machine whose numbers the visitor types
LARGEST = 1 << 24  #: the largest value of any size in the visitor's own shape
EXAMPLE_CONFIG = """{
  "model_type": "qwen3",
  "hidden_size": 1024,
  "num_hidden_layers": 28,
  "num_attention_heads": 16,
  "num_key_value_heads": 8,
  "head_dim": 128,
  "intermediate_size": 3072,
  "vocab_size": 151936,
  "tie_word_embeddings": true
}"""

PAGE = PageChoices("sharing")
VIEW = PAGE.one_of(
    "h_view", ("see", "count", "size", "prove", "latent"), label=N_("Section"), moved={"published": "count"}
)

# See it
#: K/V heads that the picture stands at; None: as trained
SHARED = PAGE.integer("h_shared", None, low=1, high=LARGEST, label=N_("K/V heads"))
COLUMNS = PAGE.one_of("h_columns", tuple(all_presets()), "llama-3.1-8b", label=N_("Cache of"))
MODEL = PAGE.one_of("h_lm", label=N_("Model"))
SENTENCE = PAGE.sentence("h_text", EXAMPLES[0].text, longest=2000, label=N_("Sentence"))
LAYER = PAGE.one_of("h_layer", label=N_("Layer"))
KV_HEADS = PAGE.one_of("h_kept", label=N_("K/V heads"))
METHOD = PAGE.one_of("h_by", get_args(Method), label=N_("How the heads of a group become one"))
GROUP = PAGE.one_of("h_group", label=N_("Heads that share"))
SCOPE = PAGE.one_of("h_scope", ("layer", "all"), label=N_("Where"))
HEADS = PAGE.flag("h_heads", label=N_("Head by head"))  #: whether the box with all heads is open

# Count it, size it, prove it
WAY = PAGE.one_of("h_from", ("preset", "own", "config"), label=N_("What to count"))
PRESET = PAGE.one_of("h_model", tuple(all_presets()), "llama-3.1-8b", label=N_("Model"))
SCHEME = PAGE.one_of("h_scheme", ("heads", "latent"), label=N_("Scheme"))
#: the sizes of the visitor's own shape, by field of CustomShape
SHAPE = {
    name: PAGE.integer(f"h_{name}", getattr(CustomShape, name), low=1, high=LARGEST, label=label)
    for name, label in (
        ("n_layers", N_("Layers")),
        ("d_model", N_("Model width M")),
        ("n_heads", N_("Query heads H")),
        ("n_kv_heads", N_("K/V heads G")),
        ("d_head", N_("Head width D")),
        ("d_ff", N_("FFN width")),
        ("vocab", N_("Vocabulary")),
        ("kv_rank", N_("Latent width")),
        ("d_rope", N_("Rotary width")),
    )
}
CONFIG = PAGE.text("h_config", EXAMPLE_CONFIG, longest=5000, label=N_("Contents of a config.json from the hub"))
CONTEXT = PAGE.integer("h_context", 8192, low=1, high=1 << 27, label=N_("Tokens of context"))
BATCH = PAGE.integer("h_batch", 1, low=1, high=1 << 16, label=N_("Batch"))
MEASURED_TOKENS = PAGE.integer("h_tokens", 512, low=1, high=1 << 17, label=N_("Tokens"))
AXIS = PAGE.one_of("h_axis", ("context", "batch"), label=N_("Over"), moved={"heads": "context"})
WEIGHTS_DTYPE = PAGE.one_of("h_weights", tuple(DTYPES), "bfloat16", label=N_("Weights"))
CACHE_DTYPE = PAGE.one_of("h_cache", tuple(DTYPES), "bfloat16", label=N_("Cache"))
NUMBERS_PER_SCALE = PAGE.integer("h_scale", 64, low=1, high=4096, label=N_("Numbers per scale"))
CONVENTION = PAGE.one_of("h_as", CONVENTIONS, label=N_("Count the cache as"))
HYBRID = PAGE.flag("h_hybrid", True, label=N_("The server manages windowed layers separately"))
MACHINE = PAGE.one_of("h_gpu", (*gpus(), TYPED), "a100-80gb", label=N_("Machine"))
MEMORY_GIB = PAGE.integer("h_gib", 80, low=1, high=1 << 20, label=N_("Memory, GiB"))
GIGABYTES_PER_SECOND = PAGE.integer("h_gbs", 2039, low=1, high=1 << 20, label=N_("Bandwidth, GB/s"))
TERAFLOPS = PAGE.integer("h_tflops", 312, low=1, high=1 << 20, label=N_("Peak, TFLOP/s"))
#: the layer that is really built and timed, by field of maths.Config
LIVE = {
    name: PAGE.integer(f"h_live_{name}", getattr(maths.Config, name), low=1, high=1 << 20, label=label)
    for name, label in (
        ("d_model", N_("Model width M")),
        ("n_heads", N_("Query heads H")),
        ("n_kv_heads", N_("K/V heads G")),
        ("tokens", N_("Tokens in the cache")),
    )
}

# MLA
_WITH_LATENTS = tuple(name for name, preset in all_presets().items() if preset.attention == "MLA")
LATENT_MODEL = PAGE.one_of("h_mla", _WITH_LATENTS, "deepseek-v3", label=N_("Model"))

PAGE.moved["figure", "h-wiring"] = Move(
    "sharing", {"h_columns": "smollm2-135m", "h_shared": "{h_kept}"}, {}, ("h-wiring", "h-three")
)
PAGE.moved["figure", "h-over-heads"] = Move(
    "sharing",
    {"h_columns": "{h_model}", "h_context": "{h_context}", "h_batch": "{h_batch}"},
    {},
    ("h-over-heads", "h-three"),
)
