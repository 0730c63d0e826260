"""Draw figures, tables and programs, with a sentence and a menu that saves SVG, PNG, HTML, CSV or Markdown."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Literal, get_args

import pyarrow as pa
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attnviz.app import presenting, share_menu
from attnviz.app.cache import shared_results
from attnviz.app.exports import ExportOffer, Later, LiveCanvas, LiveFile, Table, collect_offer, to_csv
from attnviz.app.links import link_state
from attnviz.app.text import escape_markdown, strip_markdown, typeset_minus
from attnviz.base import rasterised
from attnviz.base.packed import pack_blob
from attnviz.base.words import _
from attnviz.canvas.shared.component import (
    FILM_MENU,
    VIDEO,
    app_root,
    get_component,
    last_payload,
    last_report,
    last_sent,
    projector,
)
from attnviz.figures.export import browser_figure
from attnviz.figures.label_room import enlarge_for_room
from attnviz.figures.theme import K_VERMILION, Q_BLUE, Background, Figure
from attnviz.figures.title_lines import join_title
from attnviz.live import canvas_wording
from attnviz.live.scene_figure import FileOptions, SceneFigure

ColumnTable = dict[str, list[Any]]
HIGHEST = 460  #: pixels of a chart beside the words of a presented step, unless it is higher by itself
#: where the server keeps plotly.js for exports, below the app's root
PLOTLY_ROUTE = "attnviz/plotly.min.js"
#: and the style that brings the pictures' font into a file
FONT_ROUTE = rasterised.ROUTE

chart_of = shared_results.cached_chart


def figure(
    fig: Figure,
    *,
    name: str,
    key: str,
    table: Table | Later | None = None,
    caption: str | None = None,
    sentence: str | None = None,
    on_pick: Callable[[int], None] | None = None,
) -> None:
    """Draw `fig`; under it one sentence (`sentence`, Markdown already made safe) and the menu that saves it.

    `name` becomes the file name ("saturation-dk64"), `caption` (or else `sentence`) is offered with the exported
    picture, without its Markdown, `table` holds the numbers behind it. `key` must be unique on the page.
    `on_pick` receives which point was clicked, by the number that the figure gives it as `customdata`.
    """
    sentence = typeset_minus(sentence) if sentence else None
    look: dict[str, Any] = {"key": key, "config": {"displayModeBar": False, "scrollZoom": False}}
    look["alt"] = alternative_text(fig, sentence or caption)
    _leave_on_wall(key)
    if caption is None and sentence and "$" not in sentence:  # a formula's source is nothing for a picture
        caption = sentence
    if on_pick is not None:
        look |= {"on_select": partial(_report_click, key, on_pick), "selection_mode": "points"}
    if not presenting.is_presenting():
        st.plotly_chart(shared_results.ensure_label_room(fig), **look, **_height_option(fig))
        footer(fig, name=name, key=key, table=table, caption=caption, sentence=sentence)
        return
    with st.container(key=f"picture-of-{key}"):  # the style of the presentation mode makes it as high as the window
        st.plotly_chart(shared_results.ensure_label_room(enlarge_for_room(fig)), height="stretch", **look)
        if sentence:
            st.markdown(sentence)


def chart(fig: Figure, *, key: str, alt: str | None = None, width: int | Literal["stretch"] = "stretch") -> None:
    """Draw `fig` alone, without a sentence or a menu; `alt` is what a screen reader says of it."""
    look: dict[str, Any] = {
        "config": {"displayModeBar": False},
        "alt": alternative_text(fig, alt),
        **_height_option(fig),
    }
    _leave_on_wall(key)
    if presenting.is_presenting():
        high = look.get("height", 320)
        fig, look["height"] = enlarge_for_room(fig), max(high, min(round(1.3 * high), HIGHEST))
    st.plotly_chart(shared_results.ensure_label_room(fig), key=key, width=width, **look)


def _leave_on_wall(key: str) -> None:
    """Note a chart that phones in the page's room cannot show."""
    if (room := projector()) is not None:
        room.show_on_wall(key)


def _height_option(fig: Figure) -> dict[str, Any]:
    """The height of a figure that has one, so that its place is kept before the browser can draw it."""
    height = fig.to_dict()["layout"].get("height")
    return {"height": int(height)} if height else {}


def alternative_text(fig: Figure, markdown: str | None) -> str:
    """The alternative text of a chart: its title, and the sentence about it."""
    layout = fig.to_dict()["layout"]  # Plotly takes a millisecond to look into its own objects
    axes = (_title(layout.get(axis, {})) for axis in ("yaxis", "xaxis"))
    name, sentence = _title(layout) or " / ".join(filter(None, axes)), strip_markdown(markdown or "")
    return _("{first}. {next}").format(first=name, next=sentence) if name and sentence else name or sentence


def _title(layout: Mapping[str, Any]) -> str:
    return join_title(layout.get("title", {}).get("text"))


def _report_click(key: str, on_pick: Callable[[int], None]) -> None:
    """Pass on the number of a clicked point. A callback; a click beside all points changes nothing."""
    path = (key, "selection", "points", 0, "customdata")
    number = last_sent(int, *path) if (first := last_sent(int, *path, 0)) is None else first
    if number is not None:
        on_pick(number)


def caption_line(key: str) -> DeltaGenerator:
    """The line right under the picture of this key: by its name the picture is found that another page shows alone."""
    return st.container(horizontal=True, vertical_alignment="center", key=f"{key}-under")


def footer(
    fig: Figure | SceneFigure | Later,
    *,
    name: str,
    key: str,
    table: Table | Later | None = None,
    caption: str | None = None,
    sentence: str | None = None,
    label: str | None = None,
    embeds: bool = True,
    canvas: LiveCanvas | None = None,
    canvases: Sequence[str] = (),
) -> None:
    """Draw the line below a picture, drawn by Plotly or a canvas: the sentence and the menu that saves it.

    `canvas` drew it, or `canvases`, by their keys, in this order. `fig` and `table` may be functions: they are then
    called when the menu is opened. `embeds`: it stands right above, so that another page can show it alone with
    this line. The title of its files is the first of `sentence`, else of `caption`, else the page's heading.
    """
    with caption_line(key):
        if sentence:
            sentence = typeset_minus(sentence)
            st.markdown(sentence, width="stretch")
        save_menu(fig, name, key, table, caption, label, (), embeds, sentence, canvas, canvases)


def live_canvas(key: str, linked: bool = True) -> LiveCanvas:
    """The canvas that this page has drawn under that key, to be saved as a live file; `linked`: its link opens it."""
    name, data = last_payload(key)
    link = link_state.public_address(link_state.LONGEST_IN_CAPTION) if linked else None
    return LiveCanvas(key, name, data, link)


def save_menu(
    fig: Figure | SceneFigure | Later,
    name: str,
    key: str,
    table: Table | Later | None,
    caption: str | None,
    label: str | None = None,
    live: Sequence[LiveFile] = (),
    embeds: bool = False,
    sentence: str | None = None,
    canvas: LiveCanvas | None = None,
    canvases: Sequence[str] = (),
    beside: tuple[str, str, ExportOffer] | None = None,
) -> None:
    """A small button that opens to everything a figure can be saved as; computed only when open.

    `beside` is the picture right beside it, saved from the same menu, after what both are called there.
    """
    offer = ExportOffer(
        fig, name, key, table, caption, live, canvas, canvases, presenting.current_heading(), sentence or ""
    )
    collected = [collect_offer(each) for each in (offer, *(beside[2:] if beside else ()))]
    if collected[0]:
        return
    if embeds:
        share_menu.note_figure(key)
    menu = st.popover(
        label or _("Save"),
        icon=":material/download:",
        type="tertiary",
        key=f"{key}-save-menu",
        on_change="rerun",
        width="content",
    )
    if not menu.open:
        return
    with menu:
        chosen = offer if beside is None else _choose_picture(f"{key}-which", beside[:2], (offer, beside[2]))
        prepared = chosen.prepare()
        _save_form(prepared)
        if embeds and chosen is offer:
            share_menu.figure_code_button(key, prepared.title or _("Attention, shown with attnviz"))


def _choose_picture(key: str, names: Sequence[str], offers: Sequence[ExportOffer]) -> ExportOffer:
    """Draw which of several pictures the menu saves; the first until another is chosen."""
    return offers[
        st.segmented_control(
            _("Which picture"),
            range(len(offers)),
            default=0,
            required=True,
            format_func=names.__getitem__,
            label_visibility="collapsed",
            key=key,
        )
    ]


def _save_form(offer: ExportOffer) -> None:
    """The files: pictures are made in the browser of what is on show, live files and tables by Python."""
    name, key, table = offer.file_name, offer.key, offer.table
    with st.container(key=f"{key}-files"):  # in which the browser hears what is pressed
        _picture_buttons(f"{key}-save", f"{key}-files", offer)
        with st.container(horizontal=True):
            for number, live_file in enumerate(offer.live_files(_chosen_file_options(f"{key}-save", offer))):
                st.download_button(
                    live_file.label,
                    data=live_file.page,
                    file_name=f"{name}{live_file.suffix}.html",
                    mime="text/html",
                    on_click="ignore",
                    key=f"{key}-html{number or ''}",
                )
            if table is not None:
                st.download_button(
                    _("CSV, the numbers"),
                    data=lambda: to_csv(table),
                    file_name=f"{name}.csv",
                    mime="text/csv",
                    on_click="ignore",
                    key=f"{key}-csv",
                )


def _picture_buttons(key: str, files: str, offer: ExportOffer) -> None:
    """Draw what saves a picture as SVG, PNG or film, in the browser, and what a visitor can choose for a file.

    `files` is the key of what holds these and the server's buttons: it is said of each file when it is asked for.
    """
    fig, root = offer.fig, app_root()
    is_scene = isinstance(fig, SceneFigure)
    parts = fig.parts if is_scene and not offer.canvas_keys else ()
    film = {"menu": root + FILM_MENU, "video": root + VIDEO, "labels": canvas_wording.film_menu_text()}
    payloads = [component.payload for component in parts]
    header = {
        "canvases": list(offer.canvas_keys),
        "parts": [
            {"header": component.header, "size": len(payload)}
            for component, payload in zip(parts, payloads, strict=True)
        ],
        "chart": None if is_scene else _chart(fig),
        "name": offer.file_name,
        "live": offer.canvas is not None or not is_scene,
        "title": offer.title,
        "caption": offer.caption or "",
        "credit": offer.credit,
        "files": files,
        "words": _file_menu_text(),
        "film": film if is_scene and fig.film is not None and offer.canvas_keys else None,
        "fonts": root + FONT_ROUTE,
        "plotly": root + PLOTLY_ROUTE,
    }
    get_component("save_picture")(key=key, data=pack_blob(header, b"".join(payloads)), on_look_change=lambda: None)


def _chosen_file_options(key: str, offer: ExportOffer) -> FileOptions:
    """The file options that the visitor chose in the menu; at first the proposed ones."""
    report = last_report(key, "look")
    background: Background = report["background"] if report.get("background") in get_args(Background) else "white"
    texts = {name: str(report[name]) for name in ("title", "caption", "credit") if name in report}
    return offer.file_options(FileOptions(background, bar=report.get("bar") is not False, **texts))


def _chart(fig: Figure) -> dict[str, object]:
    data, layouts = browser_figure(fig)
    return {"data": data, "layouts": layouts, "colours": {"q": Q_BLUE, "k": K_VERMILION}}


def _file_menu_text() -> dict[str, str]:
    """Names of the buttons and of what can be chosen; {names} are filled in by the browser."""
    return {
        "name": _("Save this picture"),
        "svg": _("SVG"),
        "png": _("PNG"),
        "copy": _("Copy"),
        "working": _("Drawing…"),
        "saved": _("{file} is in your downloads."),
        "sent": _("“{file}” is on its way to your downloads."),
        "unreached": _("What a film is saved with could not be fetched: reload the page and try again."),
        "copied": _("Copied."),
        "insecure": _("Only a page with https may copy a picture: save the PNG."),
        "failed": _("This figure could not be drawn:"),
        "gone": _("it is no longer on the page."),
        "film": _("Film"),
        "look": _("Title, caption, background"),
        "title": _("Title (leave empty for none)"),
        "caption": _("Caption (leave empty for none)"),
        "background": _("Background"),
        "white": _("white"),
        "transparent": _("transparent"),
        "dark": _("dark"),
        "bar": _("Colour bar"),
        "fine": _("PNG twice as fine"),
        "credit": _("Credit line: “Made with attnviz”"),
    }


def formulas(*parts: str) -> None:
    """Draw `parts`, LaTeX each, side by side; on a phone each gets a line of its own."""
    with st.container(horizontal=True, horizontal_alignment="center", gap="medium"):
        for formula in parts:
            st.latex(formula, width="content")


def to_columns(rows: Sequence[dict[str, Any]]) -> ColumnTable:
    """Rows with the same keys, turned into columns by name."""
    return {name: [row[name] for row in rows] for name in rows[0]}


def to_arrow(table: ColumnTable) -> Any:
    """The table as Streamlit sends it: by way of pandas that takes a millisecond or two, at every open.

    Columns of several kinds are left to Streamlit, which makes words of them.
    """
    try:
        return pa.table(table)
    except pa.ArrowException:
        return table
    except OverflowError:  # a whole number of more than 64 bits, as FLOPs of the largest context are
        return to_arrow({name: [float(n) if isinstance(n, int) else n for n in cells] for name, cells in table.items()})


_BEFORE_UNIT = re.compile(r"(?<=\d) (?=[^\W\d])")
SHOWN_WHOLE = 16  #: rows of a table that is not scrolled in itself


def draw_table(
    table: ColumnTable,
    key: str | None = None,
    link: str = "",
    width: Literal["stretch", "content"] = "stretch",
    height: int | Literal["content"] = "content",
) -> None:
    """Draw a table whose cells wrap, so that no column is out of sight; the column `link` holds addresses.

    `height`: pixels, where many rows are scrolled in themselves.
    """
    written = {name: [_cell_markdown(cell, name == link) for cell in cells] for name, cells in table.items()}
    with st.container(key=key):  # a phone has room for some only to scroll: the style of their page says how wide
        st.table(pa.table(written), border="horizontal", hide_index=True, width=width, height=height)


def _cell_markdown(cell: Any, is_link: bool) -> str:
    """A cell as Markdown that shows it as it is: numbers as sentences write them, each in a line with its unit."""
    if cell is None:
        return ""
    if is_link:
        return "[" + _("open") + f"]({cell})"
    return _BEFORE_UNIT.sub("\u00a0", f"{cell:,}" if isinstance(cell, (int, float)) else escape_markdown(str(cell)))


def table_with_downloads(table: ColumnTable, name: str, key: str, link: str = "", wraps: bool = False) -> None:
    """Draw a table, and buttons that download it as CSV and Markdown; the column `link` holds addresses.

    A long one is scrolled in itself, unless it `wraps`: long sentences stand in it, which are read whole.
    """
    if wraps or max(map(len, table.values()), default=0) <= SHOWN_WHOLE:
        draw_table(table, key, link)
    else:
        integer_columns = [
            name for name, cells in table.items() if all(cell is None or isinstance(cell, int) for cell in cells)
        ]
        config = dict.fromkeys(integer_columns, st.column_config.NumberColumn(format="localized"))
        st.dataframe(to_arrow(table), hide_index=True, key=key, column_config=config)
    with st.container(horizontal=True):
        st.download_button(
            _("CSV"), lambda: to_csv(table), f"{name}.csv", "text/csv", on_click="ignore", key=f"{key}-csv"
        )
        st.download_button(
            _("Markdown"), lambda: to_markdown(table), f"{name}.md", "text/markdown", on_click="ignore", key=f"{key}-md"
        )


def to_markdown(table: ColumnTable) -> str:
    """The table in GitHub's Markdown."""
    cells = ([str("" if cell is None else cell).replace("|", "\\|") for cell in column] for column in table.values())
    rows = [list(table), ["---"] * len(table), *zip(*cells, strict=True)]
    return "".join("| " + " | ".join(row) + " |\n" for row in rows)


def program(code: str | Callable[[], str], key: str, title: str | None = None, about: str | None = None) -> None:
    """Show a short program that reproduces the page; a function, where its text takes long to make.

    `about` says which of the numbers above it prints; without it, it prints them all.
    """
    box = None if presenting.is_presenting() else program_box(key, title)
    if box is None:
        return
    with box:
        st.caption(about or _("Paste this code into a notebook: it prints the numbers above."))
        st.code(code() if callable(code) else code, language="python")


def program_box(key: str, title: str | None = None) -> DeltaGenerator | None:
    """A box for a program, None while it is closed: the browser then needs no highlighter, which is 1.5 MB."""
    box = st.expander(title or _("The same in PyTorch"), icon=":material/code:", key=f"code-{key}", on_change="rerun")
    return box if box.open else None
