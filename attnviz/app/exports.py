"""The offer of one export menu and the files made from it, for a visitor's click and for a command.

A command that wants files puts a `FigureCollector` into the session before it runs a page: the menus then hand
over what they offer, where a visitor would see a button.
"""

import csv
import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import streamlit as st

from attnviz.app.links import link_state
from attnviz.app.text import move_source_last, split_headline, strip_markdown
from attnviz.base.message import Problem
from attnviz.base.packed import pack_blob, unpack_blob
from attnviz.base.units import Quantity
from attnviz.base.words import _, join_sentences, selected_language, use_language
from attnviz.canvas.head.ahead import SENTENCE, find_offer
from attnviz.figures.export import prepare_figure, standalone_html
from attnviz.figures.title_lines import join_title
from attnviz.live.canvas_page import canvas_page
from attnviz.live.scene_figure import FileOptions, SceneFigure

Table = Mapping[str, Sequence[Any]] | Any  # columns by name, or a pandas DataFrame
Later = Callable[[], Any]  # what is only computed when somebody asks for it

OVERVIEW = "mosaic"  #: the key of Explore's overview: above the head that a link is about, and not what it is about
GATHERING = "_gathering"  #: where the session of a command keeps what gathers its exports


@dataclass(frozen=True)
class LiveFile:
    """A file that stays alive without a server: what its button says, how its name ends, and its text when asked."""

    label: str
    suffix: str
    page: Callable[[], str]


@dataclass(frozen=True)
class LiveCanvas:
    """A component with what it was sent, for a file that stays alive; `link` opens the same in the app."""

    key: str
    component: str
    data: bytes
    link: str | None

    def file(self, title: str, caption: str, moves: bool, language: str | None) -> LiveFile:
        """The file, with a film where it `moves`: what was too much to be sent, and is fetched, is brought along."""

        def build_page() -> str:
            header, payload = unpack_blob(self.data)
            if address := header.get("address"):
                header, payload = header | {"address": ""}, _offered(address)
            if address := header.get("every"):
                all_heads, payload = unpack_blob(_offered(address))
                header |= {"every": None, "raw": all_heads["raw"]}
            with use_language(language):
                return canvas_page(self.component, pack_blob(header, payload), title, caption, self.link, moves=moves)

        return LiveFile(_("Live HTML"), "-live", build_page)


@dataclass(frozen=True)
class ExportOffer:
    """A figure offered for saving, with the table of its numbers; `show.footer` describes the fields."""

    fig: Any  #: a chart or a SceneFigure, or what makes it
    name: str
    key: str
    table: Any = None  #: a Table, or what makes it
    caption: str | None = None  #: as Markdown; plain once it is made
    live: Sequence[LiveFile] = ()
    canvas: LiveCanvas | None = None  #: what it is on the page
    canvases: Sequence[str] = ()  #: keys of those that show it, in order; after a blank, which picture of a canvas
    fallback_title: str = ""  #: its title where nothing is said of it
    sentence: str = ""  #: what the page says below it, as Markdown
    title: str = ""  #: once it is made: what its files say above it unless told otherwise
    credit: str = ""  #: once it is made: the line at their foot that says what made them, unless it is switched off
    language: str | None = None  #: once it is made: what its files' words are looked up in

    @property
    def canvas_keys(self) -> Sequence[str]:
        """Keys of the canvases whose pictures stand in its files; none where Python sends its parts, or a chart."""
        return [self.canvas.key] if self.canvas and isinstance(self.fig, SceneFigure) else self.canvases

    @property
    def file_name(self) -> str:
        """Of any name: letters, digits and hyphens."""
        return re.sub(r"[^\w-]+", "-", self.name, flags=re.UNICODE).strip("-")[:80] or "figure"

    def prepare(self) -> "ExportOffer":
        """Compute figure and table, and settle title, caption and credit; the methods below need a prepared offer.

        A figure may bring a title of its own. Else its title is the first sentence about it, and the caption all else.
        """
        fig, table = (source() if callable(source) else source for source in (self.fig, self.table))
        sentence, caption = (strip_markdown(move_source_last(text)) for text in (self.sentence, self.caption or ""))
        is_scene = isinstance(fig, SceneFigure)
        figure_title = fig.title if is_scene else join_title(fig.layout.title.text)
        title, rest = (figure_title, sentence or caption) if figure_title else split_headline(sentence or caption)
        if is_scene and figure_title:
            caption = caption or sentence
        else:
            caption = rest if sentence in ("", caption) else join_sentences(rest, caption)
        return replace(
            self,
            fig=fig,
            table=table,
            caption=caption,
            title=title or self.fallback_title,
            credit=_credit(),
            language=selected_language(),
        )

    def file_options(self, chosen: FileOptions) -> FileOptions:
        """The chosen options, with the figure's own title, caption and credit where they are None."""
        defaults: dict[str, Any] = {"title": self.title, "caption": self.caption or "", "credit": self.credit}
        return replace(chosen, **{name: default for name, default in defaults.items() if getattr(chosen, name) is None})

    def live_files(self, options: FileOptions) -> Sequence[LiveFile]:
        """Its live files, with what was chosen for them."""
        if self.canvas is not None:
            moves = isinstance(self.fig, SceneFigure) and self.fig.film is not None
            first = self.canvas.file(options.title or "", options.caption or "", moves, self.language)
            return [first, *self.live]
        if self.live or isinstance(self.fig, SceneFigure):
            return self.live
        ready = prepare_figure(self.fig, options.background, options.bar)
        return [LiveFile(_("HTML, interactive"), "", lambda: standalone_html(ready, options.title, options.caption))]


def _offered(address: str) -> bytes:
    offered = find_offer(address[address.index(SENTENCE) :])
    if offered is None:
        raise Problem("What this picture shows is no longer in memory: open the page again.")
    return offered


def _credit() -> str:
    link = link_state.public_address(link_state.LONGEST_IN_CAPTION)
    return _("Made with attnviz: {link}").format(link=link) if link else _("Made with attnviz")


@dataclass
class FigureCollector:
    """Collects a page's offers and prepares the requested figure while the page runs."""

    requested: str | None  #: the name or the key of a figure; "": the one the page is about; None: none
    offers: list[ExportOffer] = field(default_factory=list)
    figure: ExportOffer | None = None  #: made
    warnings: Sequence[str] = ()  #: what the page would say to a visitor
    refused: Sequence[str] = ()  #: why it shows something else than the link asks for, a sentence for each value

    def take(self, offer: ExportOffer) -> None:
        self.offers.append(offer)
        fits = offer.key != OVERVIEW if self.requested == "" else self.requested in (offer.file_name, offer.key)
        if self.figure is None and fits:
            self.figure = offer.prepare()

    @property
    def names(self) -> list[str]:
        """File names of all figures that the page offers."""
        return [offer.file_name for offer in self.offers]


def collect_offer(offer: ExportOffer) -> bool:
    """Hand `offer` over where a command runs the page; False where a visitor does."""
    gathering: FigureCollector | None = st.session_state.get(GATHERING)
    if gathering is not None:
        gathering.take(offer)
        if gathering.figure is not None:
            st.stop()
    return gathering is not None


def cell_columns(
    rows: Sequence[str], cols: Sequence[str], row_at: Sequence[int] = (), col_at: Sequence[int] = ()
) -> dict[str, list[Any]]:
    """The columns that name each cell of a matrix: words, and where they stand, for the same word may stand twice.

    `row_at` and `col_at` say where, unless a word stands where it is in the matrix.
    """
    return {
        "query_position": [q for q in row_at or range(len(rows)) for _col in cols],
        "query": [row for row in rows for _col in cols],
        "key_position": list(col_at or range(len(cols))) * len(rows),
        "key": list(cols) * len(rows),
    }


def to_csv(table: Table) -> str:
    """Columns by name, or a DataFrame, as CSV text; cells that a spreadsheet would run are disarmed."""
    if hasattr(table, "to_csv"):
        return str(table.to_csv(index=False))
    columns = {name: list(cells) for name, cells in table.items()}
    units = {name: next((c.unit for c in cells if isinstance(c, Quantity)), "") for name, cells in columns.items()}
    header = [f"{name} ({unit})" if unit else name for name, unit in units.items()]
    out = io.StringIO()
    csv.writer(out).writerows([header, *(map(_csv_cell, row) for row in zip(*columns.values(), strict=True))])
    return out.getvalue()


def _csv_cell(cell: Any) -> Any:
    """A number as short as it can be read back, to 12 digits; a text so that no spreadsheet runs it."""
    if isinstance(cell, Quantity):
        return _csv_cell(cell.number)
    if isinstance(cell, float | np.floating):
        with np.errstate(over="ignore"):
            short = np.float32(cell)
        return f"{float(cell):.12g}" if float(short) != float(cell) else str(short)
    return "'" + cell if isinstance(cell, str) and cell[:1] in ("=", "+", "@", "-") and len(cell) > 1 else cell
