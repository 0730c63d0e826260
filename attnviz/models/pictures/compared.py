"""Models of two towers, for pictures and for words (CLIP, SigLIP): descriptions that a picture is compared with."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from attnviz.core.message import Problem
from attnviz.models.catalogue import LoadedModel
from attnviz.models.pictures.prompted import image_token

MOST_NAMES = 8


def compares(model: Any) -> bool:
    """Whether a model has a tower for pictures and one for words, and says how well they fit."""
    config = model.config
    both = all(getattr(config, f"{name}_config", None) is not None for name in ("vision", "text"))
    return both and image_token(config) is None and hasattr(model, "logit_scale")


def descriptions(loaded: LoadedModel, names: tuple[str, ...]) -> dict[str, Tensor]:
    """The descriptions as token ids (N, T), each filled up as its family does it."""
    if loaded.tokenizer is None:
        raise Problem("{name} comes without a tokenizer", name=loaded.name)
    if not 1 <= len(names) <= MOST_NAMES:
        raise Problem(
            "{count} descriptions: a picture is compared with between 1 and {most}, one a comma",
            count=len(names),
            most=MOST_NAMES,
        )
    text = loaded.model.config.text_config
    longest = int(text.max_position_embeddings)
    ids = [list(loaded.tokenizer(name)["input_ids"])[:longest] for name in names]
    ids = [each or [int(text.eos_token_id)] for each in ids]
    fill = loaded.tokenizer.pad_token_id
    fill = int(text.eos_token_id if fill is None else fill)
    sigmoid = says_each_alone(loaded.model)
    length = longest if sigmoid else max(map(len, ids))  # SigLIP learned from texts that were all filled up
    inputs = {"input_ids": torch.tensor([each + [fill] * (length - len(each)) for each in ids])}
    if not sigmoid:
        inputs["attention_mask"] = torch.tensor([[1] * len(each) + [0] * (length - len(each)) for each in ids])
    return inputs


def says_each_alone(model: Any) -> bool:
    """Whether each description has a probability of its own (SigLIP) rather than a share of one (CLIP)."""
    return hasattr(model, "logit_bias")
