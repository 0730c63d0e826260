"""Configs of transformers: parsing, unread fields, and rules for each model family."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from attnviz.base.message import Problem
from attnviz.core.costs import QKNorm
from attnviz.models.model_files import find_excess

if TYPE_CHECKING:
    from transformers.configuration_utils import PretrainedConfig

#: the most that a config may say
LIMITS = {"hidden_size": 1 << 20, "num_attention_heads": 1 << 14, "num_hidden_layers": 1 << 12, "head_dim": 1 << 14}

_ABOUT_ATTENTION = re.compile(r"head|attn|attention|kv_|window|_rank|layer_types|latent|indexer|mamba|ssm|conv")
_SAYS_NOTHING = re.compile(
    r"dropout|pdrop|softcap|scal|impl|output_|pruned|bias_init|rope|initializer|_eps|temperature"
)


#: Fields that count something of which there must be at least one.
_A_SIZE = re.compile(
    r"^(num_(attention_heads|hidden_layers|key_value_heads|heads|layers)|hidden_size|head_dim|d_model|n_(embd|head|layer))$"
)


def config_from_dict(raw: dict[str, Any]) -> PretrainedConfig:
    """The transformers config that a config.json describes."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING, AutoConfig  # here: it takes a second

    fields = dict(raw)
    model_type = fields.pop("model_type", None)
    if not isinstance(model_type, str):
        raise Problem('the config has no "model_type", the field that names its family')
    for key, value in fields.items():
        if _A_SIZE.search(key) and isinstance(value, int) and not isinstance(value, bool) and value < 1:
            raise Problem("{name}={value} must be a whole number of at least 1", name=key, value=value)
    most = LIMITS["num_hidden_layers"]
    if excess := find_excess(fields, most):
        raise Problem(
            "{name}={value} must be a whole number from 1 to {most}",
            name=excess[0],
            value=str(excess[1])[:40],
            most=most,
        )
    if model_type not in CONFIG_MAPPING:
        raise Problem("model_type={model_type} is not a model type of transformers", model_type=model_type)
    try:
        return AutoConfig.for_model(model_type, **fields)
    except Exception as error:  # configs check themselves in many ways
        raise Problem("the config is not accepted: {reason}", reason=_first_line(error)) from error


def config_from_text(text: str) -> PretrainedConfig:
    """The transformers config in a pasted config.json."""
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Problem("this is not JSON: {reason}", reason=_first_line(error)) from error
    if not isinstance(raw, dict):
        raise Problem("a config.json is one object in braces")
    return config_from_dict(raw)


def max_context(config: Any) -> int | None:
    """The longest text in tokens that the model was made for; None when its config does not say."""
    for field in ("max_position_embeddings", "n_positions", "max_target_positions", "max_seq_len"):
        value = getattr(config, field, None)
        if isinstance(value, int) and 0 < value < 1 << 30:
            return value
    return None


def text_config(config: PretrainedConfig) -> PretrainedConfig:
    """The language model's part of a config that also describes image or audio parts."""
    try:
        return config.get_text_config(decoder=True)
    except ValueError:
        return config


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[-1].strip()


def unread_fields(raw: dict[str, Any], config: Any) -> tuple[str, ...]:
    """Fields whose names suggest attention and that the family's config class does not have."""
    kind: Any = type(config)
    known = _fields(kind) | set(config.attribute_map)
    return tuple(
        key
        for key, value in raw.items()
        if key not in known
        and value not in (None, False)
        and _ABOUT_ATTENTION.search(key)
        and not _SAYS_NOTHING.search(key)
    )


@lru_cache(maxsize=256)
def _fields(kind: Any) -> frozenset[str]:
    """Every field that a config class declares or sets when it is created without arguments."""
    declared = {name for parent in kind.__mro__ for name in getattr(parent, "__annotations__", {})}
    try:
        return frozenset(declared | set(kind().to_dict()))
    except Exception:  # some classes cannot be created without arguments
        return frozenset(declared)


# Facts about each family that its config leaves out or names differently from other families.
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


def _share_rules(names: str, family: FamilyRules) -> dict[str, FamilyRules]:
    """The same rules for several model types; `names` separates them by spaces."""
    return dict.fromkeys(names.split(), family)


FAMILIES: dict[str, FamilyRules] = {
    # decoders
    **_share_rules(
        "llama arcee gemma gemma2 granite granitemoe granitemoeshared olmo smollm3 internlm3 phimoe "
        "nemotron cohere2 aria_text iquestcoder hyperclovax cohere2_moe",
        FamilyRules(),
    ),
    **_share_rules(
        "mistral mixtral phi3 gptj codegen mpt ministral3 cwm",
        FamilyRules(qkv_bias=False, out_bias=False),
    ),
    **_share_rules("qwen3 qwen3_moe apertus gemma3_text hunyuan_v1_dense hy_v3", FamilyRules(qk_norm="head")),
    **_share_rules("qwen3_vl_text qwen3_vl_moe_text", FamilyRules(qk_norm="head")),
    **_share_rules("qwen2 qwen2_vl_text qwen2_5_vl_text", FamilyRules(qkv_bias=True, out_bias=False)),
    **_share_rules("olmo2 olmo3 olmoe flex_olmo", FamilyRules(qk_norm="full")),
    **_share_rules("glm glm4 helium", FamilyRules(out_bias=False)),
    **_share_rules("bloom xglm biogpt ctrl", FamilyRules(qkv_bias=True, out_bias=True, shares_heads=False)),
    **_share_rules("starcoder2 ernie4_5 ernie4_5_moe", FamilyRules(qkv_bias="use_bias", out_bias="use_bias")),
    **_share_rules("granite_swa granitemoe_swa", FamilyRules(sinks=True)),
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
    **_share_rules("deepseek_v2 deepseek_v3 axk1 glm4_moe_lite minicpm3 youtu", FamilyRules(shape="latent")),
    # encoders
    **_share_rules(
        "bert roberta camembert xlm-roberta xlm-roberta-xl electra ernie data2vec-text layoutlm "
        "megatron-bert mpnet distilbert albert roberta-prelayernorm rembert ibert tapas deberta-v2 gte "
        "jina_embeddings_v3 esm mra clip_text_model clip_vision_model vit_mae "
        "bert-generation",
        FamilyRules(shape="encoder", qkv_bias=True, out_bias=True, shares_heads=False),
    ),
    **_share_rules(
        "vit deit vit_msn dinov2 dinov2_with_registers ijepa",
        FamilyRules(shape="encoder", qkv_bias="qkv_bias", out_bias=True, shares_heads=False),
    ),
    "modernbert": FamilyRules(shape="encoder", shares_heads=False),
    "eurobert": FamilyRules(shape="encoder"),
    "nomic_bert": FamilyRules(shape="encoder", qkv_bias=False, out_bias=False),
    # encoder-decoders
    **_share_rules(
        "bart mbart pegasus marian blenderbot blenderbot-small plbart m2m_100 mvp nllb-moe",
        FamilyRules(shape="encoder-decoder", qkv_bias=True, out_bias=True, shares_heads=False),
    ),
    "whisper": FamilyRules(shape="encoder-decoder", qkv_bias=True, out_bias=True, key_bias=False, shares_heads=False),
    **_share_rules(
        "t5 mt5 umt5 switch_transformers",
        FamilyRules(shape="t5", qkv_bias=False, out_bias=False, shares_heads=False),
    ),
}
