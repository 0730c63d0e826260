"""What may stand in Latin letters on a page in Chinese: names, symbols and units. Each group says why."""

from attnviz.models.architecture import all_presets, gpus, published_claims, published_quality
from attnviz.models.catalogue import CATALOGUE
from attnviz.pages.compare.maths.layer_costs import USES
from attnviz.pages.fast.maths import measured
from attnviz.pages.scaling.maths import alternatives

#: names and what is cited, as they stand in the app's own data: of models, of papers, of files
NAMES: tuple[str, ...] = tuple(
    sorted(
        {
            *(entry.name for entry in CATALOGUE),
            *(entry.id for entry in CATALOGUE),
            *(preset.id for preset in all_presets().values()),
            *(preset.source for preset in all_presets().values()),
            *(claim.source for claim in published_claims()),
            *("Command-R", "Jamba-v0.1", "Mixtral-8x7B"),  # of which they are
            *(gpu.source for gpu in gpus().values()),
            published_quality()[1],
            *(use.model for use in USES),
            *(use.source for use in USES),
            "value cannot be converted to type c10::Half without overflow",  # torch, of a number
            "value cannot be converted to",
            "shapes cannot be multiplied",  # torch, of two matrices
            "TransformerEncoderLayer",  # a module of torch
            *(result.machine.processor for result in measured.stored_results().values()),
            *(family.paper for family in alternatives.FAMILIES),
            *(family.file.split("/")[-1] for family in alternatives.FAMILIES),
            *(family.setting for family in alternatives.FAMILIES),
        }
        - {""},
        key=len,
        reverse=True,
    )
)
#: kinds of attention and of parts of a model, which the field writes so in Chinese, too (docs/developing/terms.zh.md)
FIELD = """
ALiBi BERT CLIP CNN DeiT DINO DeepSeek DynamicCache FFN Flash FlexAttention GELU GPT GQA GRU Gemma KV LSTM
LayerNorm MATH SDPA
Linear Llama LoRA LongNet Longformer MHA MLA MLP MQA Mistral MultiheadAttention NTK OLMo OPT PaliGemma QK Qwen RMSNorm
ReLU RoPE SmolLM SigLIP Swin
Transformer Transformers ViT YaRN BigBird HeavyHitters SWA Granite Neo
argmax attnviz autograd Autograd logit softmax sigmoid tanh eager dropout Dropout nn torch transformers numpy NumPy
PyTorch
kernel trace capture meta train eval view expand repeat weight dtype finfo NaN Top top masked
scaled scores weights output merged SwiGLU
"""
#: symbols, functions and letters of formulas, as on paper
SYMBOLS = "cos sin exp log ln max min mod Dv Dk dk dv std tr KL"
#: units, kinds of files, parts of a machine, keys
UNITS = """
ns ms kB MB GB TB KiB MiB GiB FLOP FLOPs GFLOP TFLOP TFLOPs CPU GPU cpu cuda bfloat float int fp
CSV HTML JSON PNG SVG TOML JPEG WebP GIF GGUF UTF Python Streamlit JavaScript Chromium Enter Escape Ctrl Tab iframe
NVIDIA SXM PCIe RTX KB TiB MFLOP TXT MD JSONL https arXiv XXL
"""
#: what a trained model answers, parts of a word that is cut, and who made the pictures and where they come from
ANSWERS = "believ Spain Rome Roma Florence Venice Milan But function science zero vultilion UCI scikit CC BY Vaswani"
ALLOWED = frozenset(" ".join((FIELD, SYMBOLS, UNITS, ANSWERS)).split())

#: What Streamlit itself says of its buttons and boxes, on the screen or to a screen reader: in English alone.
STREAMLITS = frozenset(
    """Skip to main content|Navigate to home page|Logo|Sidebar Logo|Sidebar|Expand sidebar|Collapse sidebar|Main menu
    |Choose an option|Choose options|No results|Clear value|Clear all|Select all|Type to search|Increment|Decrement
    |Fullscreen|Close fullscreen|Download as CSV|Show/hide columns|Search|Copy to clipboard|Copied|Upload|Open|Close
    |Dismiss|Press Enter to apply|Connecting|Running...|Please wait...|Help|Link to heading|progress|file upload
    |check icon|close icon""".replace("\n    ", "").split("|")
)


def is_streamlits(text: str) -> bool:
    """Whether the whole of a text is Streamlit's own."""
    own = text.removeprefix(": ")
    return own in STREAMLITS or own.startswith(("Help for ", "Remove ")) or own.endswith(" per file")
