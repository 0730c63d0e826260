"""Real word vectors for the building page: rows of a trained model's embedding table, cut to a few columns."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from attnviz.core.message import Problem
from attnviz.experiments.building.inputs import MOST_WORDS
from attnviz.models.catalogue import LoadedModel
from attnviz.models.tokens import Frame, encode, frames


@dataclass(frozen=True)
class Rows:
    """Tokens of up to two sentences and a vector for each."""

    words: tuple[str, ...]
    other: tuple[str, ...]
    rows: tuple[tuple[float, ...], ...]  #: (words + other, width)
    name: str  #: the model's name
    whole_width: int  #: columns of the model's embedding table, of which the first `width` are used
    factor: float  #: the rows were multiplied by this, so that the table's standard deviation is about 1


def rows(loaded: LoadedModel, text: str, other: str, width: int) -> Rows:
    """The first `width` numbers of each token's embedding row, times one factor for the whole table."""
    table = loaded.model.get_input_embeddings()
    weight = getattr(table, "weight", None)
    if weight is None or loaded.tokenizer is None:
        raise Problem("{name} has no table of word vectors", name=loaded.entry.name)
    frame: Frame = "none" if "none" in frames(loaded) else "usual"
    sides = [encode(loaded, side, frame=frame) for side in (text, other) if side.strip()]
    ids = [torch.tensor(side.ids[:MOST_WORDS], device=weight.device) for side in sides]
    with torch.no_grad():
        factor = float(f"{1 / weight[:4096, :width].float().std().item():.2g}")
        vectors = (weight[torch.cat(ids), :width].float() * factor).cpu()
    labels = [tuple(span.label for span in side.spans[:MOST_WORDS]) for side in sides]
    return Rows(
        labels[0],
        labels[1] if len(labels) > 1 else (),
        tuple(tuple(round(x, 3) for x in row) for row in vectors.tolist()),
        loaded.name,
        weight.shape[1],
        factor,
    )
