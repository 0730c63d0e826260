"""Query heads that share keys and values: a slider from a K/V head for each query head to one for all."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from attnviz.base import units
from attnviz.base.words import _, end_sentence, join_list, join_sentences
from attnviz.canvas.shared.component import count, mount_component
from attnviz.figures.theme import V_GREEN
from attnviz.live import canvas_wording


@dataclass(frozen=True)
class SharingColumn:
    """One way of sharing: `heads` query heads read `kv_heads` key/value heads."""

    name: str
    heads: int
    kv_heads: int
    cache_bytes: int
    share: float  #: of the cache of MHA, 0 to 1

    @property
    def captions(self) -> dict[str, str]:
        """Captions: how many heads share how many, what is cached beside MHA, and the alternative text."""
        kept = units.binary(self.cache_bytes)
        text = _("{h} query heads on 1 K/V head") if self.kv_heads == 1 else _("{h} query heads on {g} K/V heads")
        counted = text.format(h=self.heads, g=self.kv_heads)
        compared = _("{share:.3g}% of what MHA keeps").format(share=100 * self.share)
        parts = (self.name, counted, join_list((kept, compared)))
        spoken = join_sentences(*map(end_sentence, parts))
        return {"counted": counted, "kept": kept, "compared": compared, "spoken": spoken}


@dataclass(frozen=True)
class SharingFigure:
    """The ways of sharing, at place `at` of which the picture stands, as a part of a figure too."""

    scene: ClassVar[str] = "sharing"
    payload: ClassVar[bytes] = b""
    columns: Sequence[SharingColumn]
    at: int
    title: str = ""

    @property
    def header(self) -> dict[str, Any]:
        return {
            "columns": [vars(column) | column.captions for column in self.columns],
            "at": self.at,
            "title": self.title,
            "colours": canvas_wording.scene_colours() | {"v": V_GREEN},
            "words": _texts(),
        }


def sharing_columns(key: str, figure: SharingFigure, *, on_stop: Callable[[int], None]) -> None:
    """Draw the picture; `on_stop` receives the place at which the visitor let go."""
    mount_component(
        "sharing_columns",
        key,
        "stood",
        figure.header,
        lambda report: count(report.get("at"), len(figure.columns)),
        on_stop,
    )


def _texts() -> dict[str, str]:
    return {
        "step": _("K/V heads, from one for each query head to one for all"),
        "heads": _("{n} K/V {n:head|heads}"),
        "play": _("Play"),
        "pause": _("Pause"),
        "queries": _("Query heads"),
        "keys": _("Their K/V heads"),
        "cache": _("Cache"),
        "state": _("A fixed state"),
        "film": _("From a K/V head for each query head to one for all"),
    }
