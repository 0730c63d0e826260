"""One number for every head of a trace: its entropy, its largest score, its share on the first token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from attnviz.base.extras import load_figures, pandas
from attnviz.base.message import require_whole
from attnviz.models.capture.bands import split_bands
from attnviz.models.capture.head_selection import to_float32
from attnviz.models.capture.recorded_layer import RecordedLayer

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class HeadMeasure:
    """A measure of every head over all real rows of each sentence, (N, B, H) of N layers."""

    name: str
    values: Tensor  #: (N, B, H)
    layers: tuple[str, ...]  #: dotted names of the layers

    @property
    def mean(self) -> Tensor:
        """Mean over the sentences of the batch, (N, H)."""
        return self.values.nanmean(1)

    def top(self, n: int = 5, lowest: bool = False) -> list[tuple[int, int, float]]:
        """The n heads of the largest mean, or of the lowest, as (layer, head, value)."""
        require_whole("n", n)
        flat, width = self.mean.flatten(), self.values.shape[2]
        order = flat.argsort(descending=not lowest)[:n].tolist()
        return [(index // width, index % width, float(flat[index])) for index in order]

    def to_dataframe(self) -> pd.DataFrame:
        """One row for each head and sentence: layer, name, batch, head and the value. Needs pandas."""
        places = torch.cartesian_prod(*(torch.arange(size) for size in self.values.shape)).tolist()
        values = self.values.flatten().tolist()
        rows = [
            {"layer": layer, "name": self.layers[layer], "batch": row, "head": head, self.name: value}
            for (layer, row, head), value in zip(places, values, strict=True)
        ]
        return pandas().DataFrame(rows)

    def plot(self) -> Any:
        """A Plotly figure: a map of layers by heads."""
        grid = self.mean.detach().cpu().numpy()
        return load_figures("library_charts").draw_head_map(self.name, grid)

    def __repr__(self) -> str:
        most = ", ".join(f"{layer}.{head} {value:.3g}" for layer, head, value in self.top(3))
        layers, rows, heads = self.values.shape
        return f"<HeadMeasure {self.name}: {layers} layers of {heads} heads, {rows} sentences; largest {most}>"


def largest_scores(layers: Sequence[RecordedLayer]) -> Tensor:
    """The largest score that the softmax of each head is given, (N, B, H), some rows at a time."""
    return torch.stack([_largest_score(layer) for layer in layers])


def _largest_score(layer: RecordedLayer) -> Tensor:
    """The largest visible score of each head over all real queries, (B, H)."""
    batch, heads, *_ = layer.shape
    best = torch.full((batch, heads), -torch.inf, device=layer.device)
    real = layer.real_queries
    for band in split_bands(layer):
        cropped = layer.cropped(band.rows, band.keys)
        for _, group in cropped.group_heads(band.heads):  # of one scale each
            scores = to_float32(cropped.stages_of(group, values=False).masked.amax(-1))
            if real is not None:
                scores = scores.masked_fill(~real[..., band.rows], -torch.inf)
            best[:, group] = torch.maximum(best[:, group], scores.amax(-1))
    return best
