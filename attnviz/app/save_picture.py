"""The component that saves a picture as SVG or PNG, in the browser, of what is on show there."""

from collections.abc import Mapping
from typing import get_args

from attnviz.app.exports import ExportOffer, FileLook
from attnviz.base.packed import blob
from attnviz.base.words import _
from attnviz.canvas.shared.component import FILM_MENU, VIDEO, app_root, component, reported
from attnviz.figures.export import for_browser
from attnviz.figures.theme import K_VERMILION, Q_BLUE, Background, Figure
from attnviz.live import canvas_wording
from attnviz.live.scene_figure import SceneFigure


def save_picture(key: str, made: ExportOffer, addresses: Mapping[str, str]) -> None:
    """Draw the buttons, and what a visitor can choose for a file."""
    fig = made.fig
    parts = fig.parts if isinstance(fig, SceneFigure) and not made.drawn_by else ()
    film = {"menu": app_root() + FILM_MENU, "video": app_root() + VIDEO, "labels": canvas_wording.film_menu()}
    payloads = [part.payload for part in parts]
    header = {
        "canvases": list(made.drawn_by),
        "parts": [{"header": part.header, "size": len(payload)} for part, payload in zip(parts, payloads, strict=True)],
        "chart": None if isinstance(fig, SceneFigure) else _chart(fig),
        "name": made.file_name,
        "live": made.canvas is not None or not isinstance(fig, SceneFigure),
        "title": made.title,
        "caption": made.caption or "",
        "credit": made.credit,
        "words": _words(),
        "film": film if isinstance(fig, SceneFigure) and fig.film is not None and made.drawn_by else None,
        **addresses,
    }
    component("save_picture")(key=key, data=blob(header, b"".join(payloads)), on_look_change=lambda: None)


def chosen_look(key: str, made: ExportOffer) -> FileLook:
    """What a visitor has chosen there; at first, what is proposed."""
    told = reported(key, "look")
    background: Background = told["background"] if told.get("background") in get_args(Background) else "white"
    return FileLook(
        str(told.get("title", made.title)),
        str(told.get("caption", made.caption or "")),
        str(told.get("credit", made.credit)),
        background,
        told.get("bar") is not False,
    )


def _chart(fig: Figure) -> dict[str, object]:
    data, layouts = for_browser(fig)
    return {"data": data, "layouts": layouts, "colours": {"q": Q_BLUE, "k": K_VERMILION}}


def _words() -> dict[str, str]:
    """Names of the buttons and of what can be chosen; {names} are filled in by the browser."""
    return {
        "name": _("Save this picture"),
        "svg": _("SVG"),
        "png": _("PNG"),
        "copy": _("Copy"),
        "working": _("Drawing…"),
        "saved": _("{file} is in your downloads."),
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
