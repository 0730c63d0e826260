"""transformers configs from a pasted config.json, and which of their fields no rule reads."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any

from transformers.configuration_utils import PretrainedConfig
from transformers.models.auto.configuration_auto import CONFIG_MAPPING, AutoConfig

from attnviz.base.message import Problem
from attnviz.models.architecture.config_to_layers import LIMITS
from attnviz.models.config_limits import too_many

_ABOUT_ATTENTION = re.compile(r"head|attn|attention|kv_|window|_rank|layer_types|latent|indexer|mamba|ssm|conv")
_SAYS_NOTHING = re.compile(
    r"dropout|pdrop|softcap|scal|impl|output_|pruned|bias_init|rope|initializer|_eps|temperature"
)


#: Fields that count something of which there must be at least one.
_A_SIZE = re.compile(
    r"^(num_(attention_heads|hidden_layers|key_value_heads|heads|layers)|hidden_size|head_dim|d_model|n_(embd|head|layer))$"
)


def config_from(given: dict[str, Any]) -> PretrainedConfig:
    """The transformers config that a config.json describes."""
    fields = dict(given)
    model_type = fields.pop("model_type", None)
    if not isinstance(model_type, str):
        raise Problem('the config has no "model_type", the field that names its family')
    for key, value in fields.items():
        if _A_SIZE.search(key) and isinstance(value, int) and not isinstance(value, bool) and value < 1:
            raise Problem("{name}={value} must be a whole number of at least 1", name=key, value=value)
    most = LIMITS["num_hidden_layers"]
    if many := too_many(fields, most):
        raise Problem(
            "{name}={value} must be a whole number from 1 to {most}",
            name=many[0],
            value=str(many[1])[:40],
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
        given = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Problem("this is not JSON: {reason}", reason=_first_line(error)) from error
    if not isinstance(given, dict):
        raise Problem("a config.json is one object in braces")
    return config_from(given)


def max_context(config: Any) -> int | None:
    """The longest text in tokens that the model was made for; None when its config does not say."""
    for field in ("max_position_embeddings", "n_positions", "max_target_positions", "max_seq_len"):
        value = getattr(config, field, None)
        if isinstance(value, int) and 0 < value < 1 << 30:
            return value
    return None


def text_part(config: PretrainedConfig) -> PretrainedConfig:
    """The language model's part of a config that also describes image or audio parts."""
    try:
        return config.get_text_config(decoder=True)
    except ValueError:
        return config


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[-1].strip()


def unread_fields(given: dict[str, Any], config: Any) -> tuple[str, ...]:
    """Fields whose names suggest attention and that the family's config class does not have."""
    kind: Any = type(config)
    known = _fields(kind) | set(config.attribute_map)
    return tuple(
        key
        for key, value in given.items()
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
