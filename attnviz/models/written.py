"""What a decoder has written so far, as the tokens it is given: its start token, then the text."""

from __future__ import annotations

from dataclasses import replace

import torch

from attnviz.core.message import Problem
from attnviz.models import spelling
from attnviz.models.loading import LoadedModel
from attnviz.models.pieces import Piece
from attnviz.models.tokens import Frame, Tokens, encode, frames


def written(loaded: LoadedModel, text: str) -> Tokens:
    """The decoder's side of an encoder-decoder: never empty, for it begins with the start token."""
    config = loaded.model.config
    start = getattr(config, "decoder_start_token_id", None)
    if start is None:
        start = config.get_text_config(decoder=True).bos_token_id
    if start is None:
        raise Problem("{name} does not say which token its decoder starts with", name=loaded.entry.name)
    first = _start_piece(loaded, int(start))
    if not text.strip():
        return Tokens(("",), (first,), (text,), _inputs(loaded, (first,)))
    frame: Frame = "none" if "none" in frames(loaded) else "usual"
    body = encode(loaded, text, frame=frame)
    pieces = (first, *(replace(piece, position=piece.position + 1) for piece in body.pieces))
    return replace(body, pieces=pieces, inputs=_inputs(loaded, pieces))


def _start_piece(loaded: LoadedModel, number: int) -> Piece:
    assert loaded.tokenizer is not None
    name = str(loaded.tokenizer.convert_ids_to_tokens(number))
    return Piece(0, number, spelling.label(name), name, 0, 0, None, True, 0)


def _inputs(loaded: LoadedModel, pieces: tuple[Piece, ...]) -> dict[str, torch.Tensor]:
    ids = torch.tensor([[piece.id for piece in pieces]], device=loaded.model.device)
    return {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
