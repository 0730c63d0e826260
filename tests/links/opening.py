"""Opens kept links and saved views, each in a session of its own; makes the tiny model that some links name."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from transformers import MarianConfig, MarianMTModel

from tests.links.views import TRANSLATOR
from tests.models.tiny_tokenizers import marian

SHARE_MENU = "share"
VIEW_FILE = "view-file"  #: the control that opens a saved view


def translator(folder: Path) -> str:
    """An encoder-decoder of two layers, with weights from a formula, so that it is the same on every machine."""
    tokenizer = marian(folder)
    last = len(tokenizer) - 1
    width = {"d_model": 32, "encoder_ffn_dim": 32, "decoder_ffn_dim": 32, "max_position_embeddings": 64}
    heads = {"encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_layers": 2, "decoder_layers": 2}
    config = MarianConfig(vocab_size=last + 1, pad_token_id=last, decoder_start_token_id=last, **width, **heads)
    model = MarianMTModel(config)
    with torch.no_grad():
        for number, (name, weights) in enumerate(model.named_parameters()):
            if name.endswith("weight") and weights.dim() == 2:
                at = torch.arange(weights.numel(), dtype=torch.float64) * (number + 2) ** 0.5 + number
                weights.copy_((torch.sin(at) * 0.3).reshape(weights.shape))
    to = folder / "translator"
    model.save_pretrained(to)
    tokenizer.save_pretrained(to)
    return str(to)


def agreed(page: Any) -> Any:
    """The page after its visitor let the model that the link names be loaded, where it asks."""
    asked = [button for button in page.button if button.key == "agree"]
    return asked[0].click().run() if asked else page


def opened(visit: Callable[..., Any], kept: dict[str, Any], folder: str) -> Any:
    """The page that a kept link opens, or that a saved view leads to; `folder` holds the tiny model."""
    link = {name: text.replace(TRANSLATOR, folder) for name, text in kept["link"].items()}
    page = agreed(visit(kept["page"], **link))
    if kept.get("file"):
        page.session_state[SHARE_MENU] = True  # the control lies in a menu whose contents exist only when it is open
        page.run()
        page.file_uploader(key=VIEW_FILE).upload("view.json", json.dumps(kept["file"]).encode(), "application/json")
        page.run()
    return page
