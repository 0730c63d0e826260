"""A live picture of a long text's heads, which holds q and k of a few heads in place of all weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from attnviz.analysis import long_text
from attnviz.base.head_record import HeadGrid
from attnviz.base.message import Problem
from attnviz.base.words import _, use_language
from attnviz.live import Theme
from attnviz.live.long_text_file import HeadProfile, LongText, TextFigure, TextState
from attnviz.live.scene_figure import SceneFigure
from attnviz.models.capture import RecordedLayer, Trace
from attnviz.models.capture.bands import profile_layers
from attnviz.models.tokens.units import find_unit_starts, spell_tokens
from attnviz.notebook.saved_view import SavedView

LARGEST = 5_000_000  #: bytes of a file
FAR = 1024  #: tokens
PARAGRAPH = 64  #: tokens of one, where no tokenizer says where paragraphs end


@dataclass(frozen=True, repr=False)
class LongTextView(SavedView):
    """A long text with some of its heads; `save` writes it to a file."""

    layers: Sequence[RecordedLayer]
    text: LongText
    heads: Sequence[tuple[int, int]]  #: layer and head of those that the file holds
    theme: Theme = "auto"
    height: int = 640
    title: str = ""
    language: str | None = None

    @property
    def head_title(self) -> str:
        layer, head = self.text.state.tile
        with use_language(self.language):
            return _("Layer {layer}, head {head}").format(layer=self.text.grid.layers[layer], head=head)

    @cached_property
    def html(self) -> str:
        """The whole live file. Problem where it would be larger than a browser opens at once."""
        parts = long_text.file_parts(self.layers, self.heads)
        text = replace(self.text, profiles=_profile_heads(self.layers))
        with use_language(self.language):
            page = text.page(parts, self.title, theme=self.theme)
        if len(page) > LARGEST:
            size, most = (f"{count / 1e6:.1f}" for count in (len(page), LARGEST))
            raise Problem(
                "A picture of {n} tokens with {heads} of their heads takes {size} MB, and more than {most} MB are not "
                "written: show fewer heads or tokens",
                n=f"{len(self.text.tokens):,}",
                heads=len(self.heads),
                size=size,
                most=most,
            )
        return page

    @property
    def csv(self) -> str:
        raise Problem("A head of a long text is too large for a table: trace.row and trace.pooled have its numbers")

    def _film(self, kind: str) -> bytes:
        raise Problem("This picture does not move: it can be had as SVG and PNG.")

    def figure(self) -> SceneFigure:
        layer, head = self.text.state.tile
        overview = long_text.make_overview(self.layers[layer], head)
        return SceneFigure((TextFigure(self.text, overview.step, overview.codes, self.head_title),), self.head_title)

    def __repr__(self) -> str:
        return f"<{self.head_title}: {len(self.text.tokens):,} tokens, of {sum(self.text.grid.heads)} heads>"


def _profile_heads(layers: Sequence[RecordedLayer]) -> list[HeadProfile]:
    """Profiles of every head, layer by layer."""
    profiles = profile_layers(layers)
    far = min(FAR, profiles.edges[-1])
    columns = (
        values[:, 0].flatten().tolist() for values in (profiles.sink_mass, profiles.beyond(far), profiles.entropy)
    )
    return [
        HeadProfile(round(sink, 4), round(beyond, 4), far, round(entropy, 3))
        for sink, beyond, entropy in zip(*columns, strict=True)
    ]


def known_tokens(trace: Trace, row: int, count: int) -> Sequence[int | str] | None:
    """Labels of the `count` tokens of a sentence of a trace, else their ids; None where neither is known."""
    ids = trace.inputs.get("input_ids")
    if trace.tokens:
        labels: Sequence[str] = trace.tokens if isinstance(trace.tokens[0], str) else trace.tokens[row]
        return labels if len(labels) == count else None
    return None if ids is None or ids.dim() != 2 or ids.shape[1] != count else ids[row].tolist()


def text_of_trace(
    trace: Trace, row: int, count: int, grid: HeadGrid, tile: tuple[int, int], labels: Sequence[str] | None = None
) -> LongText:
    """A sentence of `count` tokens with its words, sentences and paragraphs, as its trace's tokenizer tells them.

    Where there is none, or `labels` are given, each token is a unit and every 64 are a paragraph.
    """
    ids = trace.inputs.get("input_ids")
    if labels is None and trace.tokenizer is not None and ids is not None and ids.shape[1:] == (count,):
        known = ids[row].tolist()
        texts = spell_tokens(trace.tokenizer, known)
        units = find_unit_starts(trace.tokenizer, known)
    else:
        texts = [f"{label} " for label in labels or known_tokens(trace, row, count) or range(count)]
        units = {"word": list(range(count)), "paragraph": list(range(0, count, PARAGRAPH))}
    return LongText(texts, units, grid, TextState(tile, "sentence" if "sentence" in units else "word"))
