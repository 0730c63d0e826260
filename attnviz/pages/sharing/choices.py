"""What a visitor can choose on the page about sharing keys and values."""

from typing import get_args

from attnviz.app.links.choices import PageChoices
from attnviz.core.precision import DTYPES
from attnviz.models.architecture import CONVENTIONS, CustomShape, all_presets, gpus
from attnviz.models.catalogue import EXAMPLES
from attnviz.pages.sharing import maths
from attnviz.runs.head_sharing import Method

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
VIEW = PAGE.one_of("h_view", ("see", "count", "size", "prove", "latent", "published"))

# See it
COLUMNS = PAGE.one_of("h_columns", tuple(all_presets()), "llama-3.1-8b")
MODEL = PAGE.one_of("h_lm")
SENTENCE = PAGE.sentence("h_text", EXAMPLES[0].text, longest=2000)
LAYER = PAGE.one_of("h_layer")
KEPT = PAGE.one_of("h_kept")
METHOD = PAGE.one_of("h_by", get_args(Method))
GROUP = PAGE.one_of("h_group")
SCOPE = PAGE.one_of("h_scope", ("layer", "all"))
HEADS = PAGE.flag("h_heads")  #: whether the box with all heads is open

# Count it, size it, prove it
WAY = PAGE.one_of("h_from", ("preset", "own", "config"))
PRESET = PAGE.one_of("h_model", tuple(all_presets()), "llama-3.1-8b")
SCHEME = PAGE.one_of("h_scheme", ("heads", "latent"))
#: the sizes of the visitor's own shape, by field of CustomShape
SHAPE = {
    name: PAGE.whole(f"h_{name}", getattr(CustomShape, name), low=1, high=LARGEST)
    for name in ("n_layers", "d_model", "n_heads", "n_kv_heads", "d_head", "d_ff", "vocab", "kv_rank", "d_rope")
}
CONFIG = PAGE.text("h_config", EXAMPLE_CONFIG, longest=5000)
CONTEXT = PAGE.whole("h_context", 8192, low=1, high=1 << 27)
BATCH = PAGE.whole("h_batch", 1, low=1, high=1 << 16)
MEASURED_TOKENS = PAGE.whole("h_tokens", 512, low=1, high=1 << 17)
AXIS = PAGE.one_of("h_axis", ("context", "batch", "heads"))
WEIGHTS_DTYPE = PAGE.one_of("h_weights", tuple(DTYPES), "bfloat16")
CACHE_DTYPE = PAGE.one_of("h_cache", tuple(DTYPES), "bfloat16")
NUMBERS_PER_SCALE = PAGE.whole("h_scale", 64, low=1, high=4096)
CONVENTION = PAGE.one_of("h_as", CONVENTIONS)
HYBRID = PAGE.flag("h_hybrid", True)
MACHINE = PAGE.one_of("h_gpu", (*gpus(), TYPED), "a100-80gb")
MEMORY_GIB = PAGE.whole("h_gib", 80, low=1, high=1 << 20)
GIGABYTES_PER_SECOND = PAGE.whole("h_gbs", 2039, low=1, high=1 << 20)
TERAFLOPS = PAGE.whole("h_tflops", 312, low=1, high=1 << 20)
#: the layer that is really built and timed, by field of maths.Config
LIVE = {
    name: PAGE.whole(f"h_live_{name}", getattr(maths.Config, name), low=1, high=1 << 20)
    for name in ("d_model", "n_heads", "n_kv_heads", "tokens")
}

# MLA
_WITH_LATENTS = tuple(name for name, preset in all_presets().items() if preset.attention == "MLA")
LATENT_MODEL = PAGE.one_of("h_mla", _WITH_LATENTS, "deepseek-v3")
