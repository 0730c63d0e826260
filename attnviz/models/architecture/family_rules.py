"""Facts about each model family that its config leaves out or names differently from other families."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from attnviz.core.costs import QKNorm

#: Either a fixed answer (True, False) or the name of the config field that has it.
Flag = bool | str
FamilyShape = Literal["decoder", "encoder", "encoder-decoder", "t5", "latent", "hybrid"]


@dataclass(frozen=True)
class FamilyRules:
    """How to read one family's config. The defaults describe Llama."""

    shape: FamilyShape = "decoder"
    qkv_bias: Flag = "attention_bias"
    out_bias: Flag = "attention_bias"
    key_bias: bool = True  #: False where only queries and values have a bias (Whisper)
    qk_norm: QKNorm | None = None
    qk_norm_flag: Flag = True  #: whether the norm is present
    sinks: Flag = False
    gated: Flag = False
    shares_heads: bool = True  #: False where every query head has its own keys, even if the config says otherwise
    extra_per_width: int = 0  #: additional parameters, in multiples of the head width
    cache: bool = True  #: False where transformers has no cache for the family
    sub_norm: bool = False  #: whether there is a norm over the model width before W_O


def _each(names: str, family: FamilyRules) -> dict[str, FamilyRules]:
    """The same rules for several model types; `names` separates them by spaces."""
    return dict.fromkeys(names.split(), family)


FAMILIES: dict[str, FamilyRules] = {
    # decoders
    **_each(
        "llama arcee gemma gemma2 granite granitemoe granitemoeshared olmo smollm3 internlm3 phimoe "
        "nemotron cohere2 aria_text iquestcoder hyperclovax cohere2_moe",
        FamilyRules(),
    ),
    **_each(
        "mistral mixtral phi3 gptj codegen mpt ministral3 cwm",
        FamilyRules(qkv_bias=False, out_bias=False),
    ),
    **_each("qwen3 qwen3_moe apertus gemma3_text hunyuan_v1_dense hy_v3", FamilyRules(qk_norm="head")),
    **_each("qwen3_vl_text qwen3_vl_moe_text", FamilyRules(qk_norm="head")),
    **_each("qwen2 qwen2_vl_text qwen2_5_vl_text", FamilyRules(qkv_bias=True, out_bias=False)),
    **_each("olmo2 olmo3 olmoe flex_olmo", FamilyRules(qk_norm="full")),
    **_each("glm glm4 helium", FamilyRules(out_bias=False)),
    **_each("bloom xglm biogpt ctrl", FamilyRules(qkv_bias=True, out_bias=True, shares_heads=False)),
    **_each("starcoder2 ernie4_5 ernie4_5_moe", FamilyRules(qkv_bias="use_bias", out_bias="use_bias")),
    **_each("granite_swa granitemoe_swa", FamilyRules(sinks=True)),
    "bitnet": FamilyRules(sub_norm=True),
    "cohere": FamilyRules(qk_norm="full", qk_norm_flag="use_qk_norm"),
    "diffllama": FamilyRules(extra_per_width=4),
    "exaone4": FamilyRules(qkv_bias=False, out_bias=False, qk_norm="head"),
    "falcon": FamilyRules(qkv_bias="bias", out_bias="bias"),
    "glm4_moe": FamilyRules(out_bias=False, qk_norm="head", qk_norm_flag="use_qk_norm"),
    "gpt_bigcode": FamilyRules(qkv_bias=True, out_bias=True),
    "gpt_neo": FamilyRules(qkv_bias=False, out_bias=True, shares_heads=False),
    "gpt_neox": FamilyRules(shares_heads=False),
    "gpt_oss": FamilyRules(sinks=True),
    "gpt2": FamilyRules(qkv_bias=True, out_bias=True, shares_heads=False),
    "llama4_text": FamilyRules(),
    "openai-gpt": FamilyRules(qkv_bias=True, out_bias=True, shares_heads=False, cache=False),
    "opt": FamilyRules(qkv_bias="enable_bias", out_bias="enable_bias", shares_heads=False),
    "persimmon": FamilyRules(
        qkv_bias=True, out_bias=True, shares_heads=False, qk_norm="head-layernorm", qk_norm_flag="qk_layernorm"
    ),
    "phi": FamilyRules(qkv_bias=True, out_bias=True, qk_norm="head-layernorm", qk_norm_flag="qk_layernorm"),
    "qwen2_moe": FamilyRules(qkv_bias="qkv_bias", out_bias=False),
    "seed_oss": FamilyRules(out_bias="attention_out_bias"),
    "gemma3n_text": FamilyRules(shape="hybrid", qk_norm="head"),
    "gemma4_text": FamilyRules(shape="hybrid", qk_norm="head"),
    "stablelm": FamilyRules(qkv_bias="use_qkv_bias", out_bias=False, qk_norm="full", qk_norm_flag="qk_layernorm"),
    # hybrids of attention and a recurrent state
    "qwen3_next": FamilyRules(shape="hybrid", qk_norm="head", gated=True),
    "qwen3_5_text": FamilyRules(shape="hybrid", qk_norm="head", gated=True),
    "qwen3_5_moe_text": FamilyRules(shape="hybrid", qk_norm="head", gated=True),
    "jamba": FamilyRules(shape="hybrid", qkv_bias=False, out_bias=False),
    "lfm2": FamilyRules(shape="hybrid", qkv_bias=False, out_bias=False, qk_norm="head"),
    "falcon_h1": FamilyRules(shape="hybrid"),
    # latent attention
    **_each("deepseek_v2 deepseek_v3 axk1 glm4_moe_lite minicpm3 youtu", FamilyRules(shape="latent")),
    # encoders
    **_each(
        "bert roberta camembert xlm-roberta xlm-roberta-xl electra ernie data2vec-text layoutlm "
        "megatron-bert mpnet distilbert albert roberta-prelayernorm rembert ibert tapas deberta-v2 gte "
        "jina_embeddings_v3 esm mra clip_text_model clip_vision_model vit_mae "
        "bert-generation",
        FamilyRules(shape="encoder", qkv_bias=True, out_bias=True, shares_heads=False),
    ),
    **_each(
        "vit deit vit_msn dinov2 dinov2_with_registers ijepa",
        FamilyRules(shape="encoder", qkv_bias="qkv_bias", out_bias=True, shares_heads=False),
    ),
    "modernbert": FamilyRules(shape="encoder", shares_heads=False),
    "eurobert": FamilyRules(shape="encoder"),
    "nomic_bert": FamilyRules(shape="encoder", qkv_bias=False, out_bias=False),
    # encoder-decoders
    **_each(
        "bart mbart pegasus marian blenderbot blenderbot-small plbart m2m_100 mvp nllb-moe",
        FamilyRules(shape="encoder-decoder", qkv_bias=True, out_bias=True, shares_heads=False),
    ),
    "whisper": FamilyRules(shape="encoder-decoder", qkv_bias=True, out_bias=True, key_bias=False, shares_heads=False),
    **_each(
        "t5 mt5 umt5 switch_transformers",
        FamilyRules(shape="t5", qkv_bias=False, out_bias=False, shares_heads=False),
    ),
}
