"""Run a long search to its end, or to where the person at the keyboard stops it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable

from attnviz.experiments.heads import HeadScores


def run_to_the_end(scores: Iterable[HeadScores], progress: Callable[[int], object] | None) -> tuple[HeadScores, bool]:
    """The last of the scores, and whether they are complete: interrupting keeps what is done, with a warning."""
    found: HeadScores | None = None
    try:
        for found in scores:
            if progress is not None:
                progress(found.sentences)
    except KeyboardInterrupt:
        if found is None:
            raise
        warnings.warn(f"stopped after {found.sentences} sentences", stacklevel=3)
        return found, False
    assert found is not None  # an empty data set is refused
    return found, True
