"""A picture as a model asks for it, and as it then looks: what is shown is what the model is given; and the words that
models of both are given with it: which tokens are patches, and what the others are called.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from attnviz.base.message import Message, Problem
from attnviz.models.catalogue import LoadedModel
from attnviz.models.file_faults import DAMAGED
from attnviz.models.pictures.patch_grid import (
    MOST_SIDE,
    PatchGrid,
    cut_up,
    image_token,
    merge_factor,
    put_together,
    scores_independently,
    size_for,
    vision_config,
)
from attnviz.models.pictures.sources import DIGIT_SIDE, MOST_DIGITS

COUNTS = 16  #: the largest value in the pictures that our own models know


@dataclass(frozen=True, eq=False)
class PreparedPicture:
    """A model's inputs for one picture, and the same pixels for display."""

    inputs: dict[str, Tensor]
    pixels: np.ndarray  #: 8 bits, (height, width, 3)
    notices: tuple[Message, ...] = ()

    @property
    def size(self) -> tuple[int, int]:
        """Height and width of the model's input."""
        height, width = self.pixels.shape[:2]
        return int(height), int(width)


def prepare(loaded: LoadedModel, pixels: np.ndarray) -> PreparedPicture:
    """A picture for a model: counts (height, width) from 0 to 16, or colours (height, width, 3) of 8 bits."""
    if loaded.entry.shipped:  # our own models know pictures in counts
        return _digit_counts(loaded, pixels)
    return _apply_processor(loaded, ink_picture(pixels) if pixels.ndim == 2 else pixels)


def ink_picture(counts: np.ndarray) -> np.ndarray:
    """Counts as dark ink on white, (height, width, 3)."""
    return np.repeat(np.rint(255 - counts.astype(np.float64) * (255 / COUNTS)).astype(np.uint8)[..., None], 3, -1)


def _digit_counts(loaded: LoadedModel, pixels: np.ndarray) -> PreparedPicture:
    # the reader alone writes about several
    width = DIGIT_SIDE * (MOST_DIGITS if loaded.model.config.is_encoder_decoder else 1)
    notices: tuple[Message, ...] = ()
    if pixels.ndim == 3:
        # darker is more: its middle, as wide and high as the model's pictures are
        small = _middle(Image.fromarray(pixels).convert("L"), DIGIT_SIDE, width, Image.Resampling.BOX)
        counts = np.rint((255 - small.astype(np.float64)) * COUNTS / 255).astype(np.uint8)
        notices = (
            Message(
                "{name} has only ever seen handwritten digits. A photograph is {width} × {height} pixels to it, and "
                "lies outside what it knows: what it says of one means nothing.",
                {"name": loaded.name, "width": width, "height": DIGIT_SIDE},
            ),
        )
    else:
        digit = pixels[:, :width]
        counts = np.pad(digit, ((0, 0), (0, width - digit.shape[1]))).astype(np.uint8)
        if pixels[:, width:].any():
            notices = (Message("{name} reads one digit: it is given the first.", {"name": loaded.name}),)
    values = torch.from_numpy(counts.astype(np.float32)) / (COUNTS / 2) - 1
    return PreparedPicture({"pixel_values": values[None, None]}, ink_picture(counts), notices)


def _middle(image: Image.Image, height: int, width: int, how: Image.Resampling, share: float = 1.0) -> np.ndarray:
    """The largest middle part of these proportions, or this share of its sides, in so many pixels."""
    times = min(image.width / width, image.height / height) * share
    cut = max(1, round(width * times)), max(1, round(height * times))
    left, top = (image.width - cut[0]) // 2, (image.height - cut[1]) // 2
    return np.array(image.crop((left, top, left + cut[0], top + cut[1])).resize((width, height), how))


def _apply_processor(loaded: LoadedModel, pixels: np.ndarray) -> PreparedPicture:
    """By the preprocessing that lies beside the model's weights; without any, by the usual numbers for its size."""
    processor = _processor(loaded)
    if processor is None:
        return _apply_config(loaded, pixels)
    image = Image.fromarray(pixels)
    if merge_factor(loaded.model) > 1:
        image.thumbnail((MOST_SIDE, MOST_SIDE))
    processed = processor(images=image, return_tensors="pt")
    inputs = {name: processed[name] for name in ("pixel_values", "image_grid_thw") if name in processed}
    values = processed["pixel_values"]
    if "image_grid_thw" in processed:
        values = put_together(loaded.model, values, processed["image_grid_thw"])
    mean, spread = torch.zeros(3), torch.ones(3)
    if getattr(processor, "do_normalize", True):
        of_files = (getattr(processor, name, None) or [0.5] * 3 for name in ("image_mean", "image_std"))
        mean, spread = map(torch.tensor, of_files)
    return PreparedPicture(inputs, _visible_pixels(values, mean, spread))


def _processor(loaded: LoadedModel) -> Any:
    """The image processor in the model's folder; None where there is none. A Problem where it cannot run here."""
    from transformers.models.auto.image_processing_auto import AutoImageProcessor

    folder = Path(str(getattr(loaded.model, "name_or_path", "") or ""))
    if not (folder / "preprocessor_config.json").is_file() and not (folder / "processor_config.json").is_file():
        return None
    try:
        return AutoImageProcessor.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except ImportError as error:
        raise Problem(
            "{name} prepares its pictures with torchvision, which is not installed here: pip install torchvision",
            name=loaded.name,
        ) from error
    except DAMAGED as error:
        raise Problem("How {name} prepares a picture cannot be read from its files", name=loaded.name) from error


def _apply_config(loaded: LoadedModel, pixels: np.ndarray) -> PreparedPicture:
    config = vision_config(loaded.model)
    size = getattr(config, "image_size", 224)
    channels = int(getattr(config, "num_channels", None) or getattr(config, "in_channels", 3) or 3)
    height, width = (size, size) if isinstance(size, int) else (size[0], size[1])
    if merge_factor(loaded.model) > 1:
        height, width = size_for(loaded.model, *pixels.shape[:2])
    image = Image.fromarray(pixels).convert("RGB" if channels == 3 else "L")
    small = _middle(image, height, width, Image.Resampling.BICUBIC, getattr(config, "crop_share", 1.0))
    values = torch.from_numpy(small.astype(np.float32).reshape(height, width, channels)).movedim(-1, 0)[None]
    half = [0.5] * channels
    of_config = getattr(config, "image_mean", None), getattr(config, "image_std", None)  # timm's configs have them
    known = all(statistics is not None and len(statistics) == channels for statistics in of_config)
    mean, spread = (torch.tensor(statistics) for statistics in (of_config if known else (half, half)))
    values = (values / 255 - mean[:, None, None]) / spread[:, None, None]
    made_up = Message(
        "{name} comes without its preprocessing: the middle of the picture, from -1 to 1, is given to it.",
        {"name": loaded.name},
    )
    inputs = {"pixel_values": values} if merge_factor(loaded.model) == 1 else cut_up(loaded.model, values)
    return PreparedPicture(inputs, _visible_pixels(values, mean, spread), () if known else (made_up,))


def _visible_pixels(values: Tensor, mean: Tensor, spread: Tensor) -> np.ndarray:
    """Displayable pixels of a model's input (1, channels, height, width)."""
    picture = values[0].float().cpu() * spread[:, None, None] + mean[:, None, None]
    if picture.shape[0] == 1:
        picture = picture.expand(3, -1, -1)
    pixels: np.ndarray = (picture.clamp(0, 1) * 255).round().byte().movedim(0, -1).numpy()
    return pixels


# A picture among words, for models that are given both.
PICTURE, QUESTION = "{picture}", "{words}"
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
    """Inputs of a vision-language model, and the positions of the picture's tokens."""

    inputs: dict[str, Tensor]
    grid: PatchGrid  #: the picture's tokens, without any special ones
    places: Tensor  #: (P,): the place of each patch's token among all tokens, row by row

    @property
    def after(self) -> int:
        """The place of the first token after the picture."""
        return int(self.places.max()) + 1


def prepare_prompt(loaded: LoadedModel, prepared: PreparedPicture, question: str) -> PromptedPicture:
    """The picture and a visitor's words, laid out as the family was taught."""
    model, tokenizer = loaded.model, cast(Any, loaded.tokenizer)
    if tokenizer is None:
        raise Problem("{name} comes without a tokenizer", name=loaded.name)

    def ids_of(text: str) -> list[int]:
        return tokenizer(text, add_special_tokens=False)["input_ids"] if text else []

    side = float(vision_config(model).patch_size) * merge_factor(model)
    grid = PatchGrid(int(prepared.size[0] // side), int(prepared.size[1] // side), (), (side, side))
    # LLaVA may be given the class token, too: it comes first
    count = grid.patches + int(getattr(model.config, "vision_feature_select_strategy", "default") == "full")
    kind = str(getattr(model.config, "model_type", ""))
    before, after = LAYOUTS.get(kind, "{picture}{words}").split(PICTURE)
    start = getattr(tokenizer, "bos_token_id", None)
    begin = [] if start is None or kind.startswith("qwen") else [int(start)]
    question_ids = ids_of(after.replace(QUESTION, question))
    if len(question_ids) > LONGEST:
        raise Problem(
            "The question has {count} tokens; a model is asked about a picture with at most {most}",
            count=len(question_ids),
            most=LONGEST,
        )
    lead, tail = ([], begin + question_ids) if kind == "paligemma" else (begin + ids_of(before), question_ids)
    token = image_token(model.config)
    ids = torch.tensor([[*lead, *[token] * count, *tail]])
    inputs = prepared.inputs | {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    if merge_factor(model) > 1:
        inputs |= {"mm_token_type_ids": ids.eq(int(token or 0)).int()}
    if kind == "paligemma":
        inputs |= {"token_type_ids": torch.zeros_like(ids)}
    first = len(lead) + count - grid.patches
    return PromptedPicture(inputs, grid, torch.arange(first, first + grid.patches))


def append_token(inputs: dict[str, Any], token: Tensor) -> dict[str, Any]:
    """The same inputs with one more token that the model wrote, (1, 1)."""
    ones = torch.ones_like(token)
    # PaliGemma's question is read as a whole, type 0; what it writes looks back only, type 1
    more = {"input_ids": token, "attention_mask": ones, "token_type_ids": ones, "mm_token_type_ids": 0 * ones}
    return inputs | {
        name: torch.cat([inputs[name], value.to(inputs[name].dtype)], 1)
        for name, value in more.items()
        if name in inputs
    }


def token_names(loaded: LoadedModel, ids: Tensor) -> tuple[str, ...]:
    """Text of each token (T,), with visible line breaks."""
    tokenizer: Any = loaded.tokenizer
    return tuple(str(tokenizer.decode([int(token_id)])).replace("\n", "⏎").strip() or "␣" for token_id in ids)


def special_names(names: tuple[str, ...]) -> tuple[Message, ...]:
    """Words as names of tokens that are no patches."""
    return tuple(Message("“{word}”", {"word": name}) for name in names)


MOST_NAMES = 8


def encode_descriptions(loaded: LoadedModel, names: tuple[str, ...]) -> dict[str, Tensor]:
    """The descriptions as token ids (N, T), each filled up as its family does it."""
    if loaded.tokenizer is None:
        raise Problem("{name} comes without a tokenizer", name=loaded.name)
    if not 1 <= len(names) <= MOST_NAMES:
        raise Problem(
            "{count} descriptions: give 1 to {most}, with a comma between them",
            count=len(names),
            most=MOST_NAMES,
        )
    text = loaded.model.config.text_config
    longest = int(text.max_position_embeddings)
    ids = [list(loaded.tokenizer(name)["input_ids"])[:longest] for name in names]
    ids = [text_ids or [int(text.eos_token_id)] for text_ids in ids]
    fill = loaded.tokenizer.pad_token_id
    fill = int(text.eos_token_id if fill is None else fill)
    sigmoid = scores_independently(loaded.model)
    length = longest if sigmoid else max(map(len, ids))  # SigLIP learned from texts that were all filled up
    inputs = {"input_ids": torch.tensor([text_ids + [fill] * (length - len(text_ids)) for text_ids in ids])}
    if not sigmoid:
        inputs["attention_mask"] = torch.tensor(
            [[1] * len(text_ids) + [0] * (length - len(text_ids)) for text_ids in ids]
        )
    return inputs
