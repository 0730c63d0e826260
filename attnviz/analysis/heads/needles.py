"""Needles in haystacks: long texts in which one sentence is asked for and given again at the end."""

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from attnviz.analysis.heads.batches import passages
from attnviz.base.message import Problem
from attnviz.models.catalogue import LoadedModel, require_positions
from attnviz.models.tokens.units import split_units

NEEDLE = " The best thing to do in San Francisco is to eat a sandwich in Dolores Park on a sunny day."
QUESTION = "\n\nQuestion: What is the best thing to do in San Francisco?\nAnswer:"


def needle_in_haystack(
    tokenizer: LoadedModel | Any,
    lengths: Sequence[int] = (512, 1024, 2048),
    depths: Sequence[float] = (0.1, 0.3, 0.5, 0.7, 0.9),
    needle: str = NEEDLE,
    question: str = QUESTION,
    haystack: str | None = None,
) -> Iterator[Tensor]:
    """Yield token ids (1, length) for each length and each depth in it: a text with a needle, a question, the needle.

    `depths` are shares of the haystack before the needle, which stands between two of its sentences. The haystack is
    passages of novels, or a text of one's own, repeated where it is too short. With `find_heads` and the pattern
    "retrieval" they say which heads look at the needle while it is copied (Wu et al. 2024).

    >>> table = find_heads(loaded, needle_in_haystack(loaded), patterns=("retrieval",))
    """
    reader: Any = tokenizer.tokenizer if isinstance(tokenizer, LoadedModel) else tokenizer

    def read(text: str) -> list[int]:
        return list(reader(text, add_special_tokens=False)["input_ids"])

    copied, asked = read(needle), read(question)
    first = [reader.bos_token_id] if reader("a")["input_ids"][0] == reader.bos_token_id else []
    hay = read("\n\n".join(passages()) if haystack is None else haystack)
    if not hay:
        raise Problem("the haystack is empty")
    for length in lengths:
        room = length - len(first) - 2 * len(copied) - len(asked)
        if room < 1:
            raise Problem("a needle with its question needs more than {count} tokens", count=length - room)
        if isinstance(tokenizer, LoadedModel):
            require_positions(type(tokenizer.model).__name__, length, tokenizer.max_positions)
        text = (hay * -(-room // len(hay)))[:room]
        starts = torch.tensor([unit.start for unit in split_units(reader, text, "sentence")] + [room])
        for depth in depths:
            at = int(starts[(starts - depth * room).abs().argmin()])
            yield torch.tensor([[*first, *text[:at], *copied, *text[at:], *asked, *copied]])
