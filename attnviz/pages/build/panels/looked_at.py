"""Who is looked at most in all: the columns of the weights do not sum to 1, as the rows do."""

from __future__ import annotations

import numpy as np

from attnviz.app import show
from attnviz.app.cache.kept_charts import chart_of
from attnviz.base.words import _
from attnviz.pages.build.figures import building as figures
from attnviz.pages.build.panels.board_wording import Seen


def panel(seen: Seen) -> None:
    """Draw the sums of rows and columns of the head on show."""
    weights = seen.cut("weights").astype(np.float64)  # (Q, K)
    rows, cols = weights.sum(1), weights.sum(0)
    result, place = seen.result, seen.sentence
    show.figure(
        chart_of(figures.sums, rows, cols, result.q_words[place], result.k_words[place]),
        name="build-sums",
        key="build_sums",
        words=_words(seen, cols),
        table={"key": list(result.k_words[place]), "column sum": cols.tolist()},
    )


def _words(seen: Seen, cols: np.ndarray) -> str:
    """A sentence that names who gets most and least of what all queries give together."""
    most, least = int(cols.argmax()), int(cols.argmin())
    if np.ptp(cols) < 0.005:
        return _("Every row sums to 1, and here every column does to {sum:.2f} too: nobody is looked at more.").format(
            sum=cols[most]
        )
    said = _(
        "A row sums to 1, a column need not: of the {given:.0f} that all rows of head {h} give together, {most} gets "
        "{top:.2f}, most of all, and {least} gets {low:.2f}, least."
    )
    if seen.result.config.mask == "causal":
        said = _(
            "A row sums to 1, a column need not: of the {given:.0f} that all rows of head {h} give together, {most} "
            "gets {top:.2f}, most of all, and {least} gets {low:.2f}, least. Under a causal mask more words may look "
            "at an early word than at a late one."
        )
    return said.format(
        given=cols.sum(),
        h=seen.head + 1,
        most=seen.key(most),
        top=cols[most],
        least=seen.key(least),
        low=cols[least],
    )
