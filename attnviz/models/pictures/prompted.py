"""A picture among words, for models that are given both: which tokens are patches, and what the others are called."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from attnviz.base.message import Message, Problem
from attnviz.models.catalogue import LoadedModel
from attnviz.models.pictures.patch_grid import PatchGrid, merged, vision_config
from attnviz.models.pictures.prepare import PreparedPicture

PICTURE, WORDS = "{picture}", "{words}"
#: how each family is asked, by the type in its config; any other is given the picture and then the words
LAYOUTS = {
    "llava": "USER: {picture}\n{words} ASSISTANT:",
    "paligemma": "{picture}{words}\n",
    "qwen2_vl": "<|im_start|>user\n<|vision_start|>{picture}<|vision_end|>{words}<|im_end|>\n<|im_start|>assistant\n",
    "qwen2_5_vl": "<|im_start|>user\n<|vision_start|>{picture}<|vision_end|>{words}<|im_end|>\n<|im_start|>assistant\n",
}
LONGEST = 64  #: tokens of a question


@dataclass(frozen=True, eq=False)
class PromptedPicture:
    """What a model of pictures and words is given, and where the picture lies in it."""

    inputs: dict[str, Tensor]
    grid: PatchGrid  #: the picture's tokens, without any special ones
    places: Tensor  #: (P,): the place of each patch's token among all tokens, row by row

    @property
    def after(self) -> int:
        """The place of the first token after the picture."""
        return int(self.places.max()) + 1


def reads_words(model: Any) -> bool:
    """Whether a model is given words and a picture among them, as Qwen2-VL, LLaVA and PaliGemma are."""
    config = model.config
    return getattr(config, "vision_config", None) is not None and image_token(config) is not None


def image_token(config: Any) -> int | None:
    """The token that stands for a patch of a picture."""
    token = getattr(config, "image_token_id", None)
    return int(token) if isinstance(token, int) else None


def prompted(loaded: LoadedModel, prepared: PreparedPicture, words: str) -> PromptedPicture:
    """The picture and a visitor's words, laid out as the family was taught."""
    model = loaded.model
    if loaded.tokenizer is None:
        raise Problem("{name} comes without a tokenizer", name=loaded.name)
    grid, count = _grid(model, prepared)
    kind = str(getattr(model.config, "model_type", ""))
    before, after = LAYOUTS.get(kind, "{picture}{words}").split(PICTURE)
    begin, given = _begin(loaded), _ids(loaded, after.replace(WORDS, words))
    if len(given) > LONGEST:
        raise Problem(
            "The question has {count} tokens; a model is asked about a picture with at most {most}",
            count=len(given),
            most=LONGEST,
        )
    lead = [] if kind == "paligemma" else begin + _ids(loaded, before)
    tail = begin + given if kind == "paligemma" else given
    token = image_token(model.config)
    ids = torch.tensor([[*lead, *[token] * count, *tail]])
    inputs = prepared.inputs | {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    if merged(model) > 1:
        inputs |= {"mm_token_type_ids": ids.eq(int(token or 0)).int()}
    if kind == "paligemma":
        inputs |= {"token_type_ids": torch.zeros_like(ids)}
    first = len(lead) + count - grid.patches  # LLaVA may be given the class token, too: it comes first
    return PromptedPicture(inputs, grid, torch.arange(first, first + grid.patches))


def longer(inputs: dict[str, Any], token: Tensor) -> dict[str, Any]:
    """The same inputs with one more token that the model wrote, (1, 1)."""
    one = torch.ones_like(token)
    # PaliGemma's question is read as a whole, type 0; what it writes looks back only, type 1
    more = {"input_ids": token, "attention_mask": one, "token_type_ids": one, "mm_token_type_ids": 0 * one}
    return inputs | {
        name: torch.cat([inputs[name], value.to(inputs[name].dtype)], 1)
        for name, value in more.items()
        if name in inputs
    }


def token_names(loaded: LoadedModel, ids: Tensor) -> tuple[str, ...]:
    """What each token (T,) reads as; a line break is said."""
    tokenizer: Any = loaded.tokenizer
    return tuple(str(tokenizer.decode([int(each)])).replace("\n", "↵").strip() or "␣" for each in ids)


def _grid(model: Any, prepared: PreparedPicture) -> tuple[PatchGrid, int]:
    """The picture's tokens among the words, and how many tokens the model takes for it."""
    config, side = vision_config(model), merged(model)
    patch = int(config.patch_size)
    height, width = prepared.size
    rows, columns = height // (patch * side), width // (patch * side)
    grid = PatchGrid(rows, columns, (), (float(patch * side), float(patch * side)))
    return grid, grid.patches + (
        1 if (getattr(model.config, "vision_feature_select_strategy", "default") == "full") else 0
    )


def _begin(loaded: LoadedModel) -> list[int]:
    """The token that begins every text, where the tokenizer puts one."""
    start = getattr(loaded.tokenizer, "bos_token_id", None)
    if start is None or str(getattr(loaded.model.config, "model_type", "")).startswith("qwen"):
        return []
    return [int(start)]


def _ids(loaded: LoadedModel, text: str) -> list[int]:
    tokenizer: Any = loaded.tokenizer
    return [int(each) for each in tokenizer(text, add_special_tokens=False)["input_ids"]] if text else []


def special_names(names: tuple[str, ...]) -> tuple[Message, ...]:
    """Words as names of tokens that are no patches."""
    return tuple(Message("“{word}”", {"word": name}) for name in names)


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
