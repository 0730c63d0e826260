"""The end of the page: the numbers of sections 1 and 2 again, in PyTorch."""

from __future__ import annotations

from dataclasses import replace

from attnviz.experiments.scaling import scaling_snippet, variance
from attnviz.ui.scaling import results, saturation_panel, variance_panel
from attnviz.ui.shared import snippet
from attnviz.words import _


def panel() -> None:
    """Draw the code for the current controls, with as many pairs as the page itself drew."""
    spread = variance_panel.chosen()
    if spread not in results.all_pairs():
        spread = replace(spread, pairs=min(spread.pairs, variance.per_block(spread)))
    snippet(scaling_snippet.code(spread, saturation_panel.chosen()), "scaling", _("Sections 1 and 2 in PyTorch"))
