"""What a decoder has written so far, as the tokens it is given: its start token, then the text."""

from __future__ import annotations

from attnviz.models.loading import LoadedModel
from attnviz.models.tokens import Tokens, encode_target


def written(loaded: LoadedModel, text: str) -> Tokens:
    """The decoder's side of an encoder-decoder: never empty, for it begins with the start token."""
    return encode_target(loaded, text)
