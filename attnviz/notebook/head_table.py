"""The scores of all heads as a table: to sort, to draw, to hand on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from attnviz.base.extras import needed_for
from attnviz.base.words import N_
from attnviz.runs.heads.head_scores import HeadScore, HeadScores

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("layer", "name", "head", "pattern", "mean", "stderr", "stability", "sentences")


@dataclass(frozen=True, repr=False)
class HeadTable:
    """How strongly each head shows each pattern, from 0 to 1, or what each costs."""

    scores: HeadScores
    complete: bool = True  #: False if the run was interrupted
    signed: bool = False  #: costs, which may be below 0 and above 1

    @property
    def mean(self) -> dict[str, np.ndarray]:
        """Pattern -> (layers, heads): the mean over the sentences in which it can occur; NaN where no head is."""
        return self._grids(self.scores.mean)

    @property
    def stderr(self) -> dict[str, np.ndarray]:
        """Pattern -> (layers, heads): the standard error of that mean."""
        return self._grids(self.scores.stderr)

    @property
    def stability(self) -> dict[str, np.ndarray]:
        """Pattern -> (layers, heads): in which share of the sentences the head is among the ten that show it most."""
        return self._grids(self.scores.stability)

    @property
    def sentences(self) -> int:
        return self.scores.sentences

    def top(self, n: int = 5, pattern: str | None = None) -> list[HeadScore]:
        """The `n` heads that show a pattern most; of each pattern in turn where none is named."""
        return self.scores.top(n, pattern)

    def to_dataframe(self) -> pd.DataFrame:
        """One row for each head and pattern: layer, name, head, pattern, mean, stderr, stability, sentences."""
        with needed_for(N_("A DataFrame")):
            import pandas as pd  # here because the table itself does not need it

        return pd.DataFrame(self.rows(), columns=list(COLUMNS))

    def rows(self) -> list[dict[str, Any]]:
        """The same as dictionaries, with the names of COLUMNS."""
        names = dict(zip(self.scores.places, self.scores.names, strict=True))
        every = len(self.scores.places)
        return [
            {"layer": each.layer, "name": names[each.layer, each.head], "head": each.head, "pattern": each.pattern}
            | {"mean": each.mean, "stderr": each.stderr, "stability": each.stability, "sentences": each.sentences}
            for each in self.top(every)
        ]

    def plot(self, pattern: str | None = None) -> Any:
        """A Plotly figure: a map of layers by heads for one pattern, or for each beside the others."""
        with needed_for(N_("A plot")):
            from attnviz.figures import attention_figures  # here because plotly is only needed for the picture

        chosen = [pattern] if pattern is not None else list(self.scores.by_sentence)
        return attention_figures.head_maps(
            {name: self.scores.grid(name) for name in chosen}, self._layers(), self.signed
        )

    def _layers(self) -> list[int]:
        return sorted({layer for layer, _ in self.scores.places})

    def _grids(self, flat: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        layers = self._layers()
        width = 1 + max(head for _, head in self.scores.places)
        made = {name: np.full((len(layers), width), np.nan) for name in flat}
        for name, values in flat.items():
            for value, (layer, head) in zip(values, self.scores.places, strict=True):
                made[name][layers.index(layer), head] = value
        return made

    def __repr__(self) -> str:
        stopped = "" if self.complete else ", interrupted"
        lines = [f"{len(self.scores.places)} heads over {self.sentences} sentences{stopped}"]
        for each in self.top(3):
            error = "" if np.isnan(each.stderr) else f" ± {each.stderr:.3f}"
            lines.append(f"  {each.pattern:<16} layer {each.layer:>2} head {each.head:>2}   {each.mean:.3f}{error}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        shown: str = (
            self.to_dataframe().groupby("pattern", sort=False).head(5).to_html(index=False, float_format="%.3f")
        )
        return shown
