"""A mask over thousands of words."""

import numpy as np

from attnviz.base.words import _
from attnviz.figures.chart import BARE, THIN_BAR, axis, cells, chart
from attnviz.figures.theme import MASKED, WEIGHTS, Figure


def density_map(density: np.ndarray, length: int) -> Figure:
    """A mask over `length` words in tiles: the share of each tile's pairs that is kept, 0 to 1."""
    grey = [(0, MASKED), (1, MASKED)]
    shares = {np.sqrt(share): f"{share:.0%}" for share in (0.01, 0.1, 0.25, 0.5, 1)}
    density_cells = cells(
        np.sqrt(np.where(density > 0, density, np.nan)),
        WEIGHTS,
        0,
        1,
        bar=axis(labels=shares) | THIN_BAR | {"title": {"text": _("share kept"), "side": "right"}},
        customdata=density,
        hoverongaps=False,
        hover=_("{share} of this tile's pairs are kept").format(share="<b>%{customdata:.2%}</b>"),
    )
    tiles = len(density)
    named = {tile - 0.5: f"{int(tile * length / tiles):,}" for tile in np.linspace(0, tiles, 5)}
    square = axis(labels=named, constrain="domain", **BARE)
    return chart(
        [cells(np.where(density > 0, np.nan, 1.0), grey, 0, 1, opacity=0.3, hover=""), density_cells],
        square | axis(_("key position"), side="top"),
        square | axis(_("query position"), autorange="reversed", scaleanchor="x"),
        height=460,
    )
