"""Colours and layout that all figures share: one colour means one thing."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

from attnviz.base.extras import explain_missing_extra
from attnviz.base.words import N_

if TYPE_CHECKING:
    pass


from collections.abc import Sequence

#: What has which colour: one for one thing, on every page, in formulas, charts and canvases (`canvas/shared/roles.js`).
#: Safe for colour-blind readers. What is changed stands beside what it was before: `reference`.
ROLES = {
    "query": "#0072B2",
    "key": "#D55E00",
    "value": "#009E73",
    "score": "#8571CC",
    "weight": "#BC3A79",
    "hidden": "#9AA0A6",
    "reference": "#9AA0A6",
    "changed": "#B8860B",
    "MHA": "#3B8EA5",
    "GQA": "#5B8C3A",
    "MQA": "#A0522D",
    "MLA": "#6A5ACD",
}
Q_BLUE, K_VERMILION, V_GREEN = ROLES["query"], ROLES["key"], ROLES["value"]

#: The theme's own colour on a light and on a dark page, as `.streamlit/config.toml` has it.
PRIMARY = ("#7A2382", "#B565C6")

#: A cell that the mask hides: a neutral colour that is on no scale.
MASKED = ROLES["hidden"]

#: Attention weights, always 0 to 1 unless a label says otherwise: dark is little, bright is much. The darkest still
#: stands off a dark page.
WEIGHTS: list[tuple[float, str]] = [
    (0.0, "#2F1C5C"),
    (0.15, "#4A2178"),
    (0.35, "#7A2382"),
    (0.55, "#BC3A79"),
    (0.75, "#F0685F"),
    (0.9, "#FBAE6C"),
    (1.0, "#FCF3C0"),
]

#: Scores and differences, always centred on 0: violet is negative, orange positive. On a dark page nought is dark, so
#: that cells which hold nothing do not light it up.
SCORES: list[tuple[float, str]] = [
    (0.0, "#4A2A83"),
    (0.25, "#998EC3"),
    (0.5, "#F3F2EF"),
    (0.75, "#E9A23B"),
    (1.0, "#A34F00"),
]
SCORES_ON_DARK: list[tuple[float, str]] = [
    (0.0, "#CBBEFF"),
    (0.25, "#8571CC"),
    (0.5, "#26222E"),
    (0.75, "#BE7A26"),
    (1.0, "#FFCB85"),
]

#: The same meaning where a chart does not know whether its page is light or dark: nought is the page itself, so that a
#: dark one is not lit up by cells that hold nothing.
SIGNED: list[tuple[float, str]] = [
    (0.0, "rgba(106,81,190,1)"),
    (0.25, "rgba(128,108,200,0.55)"),
    (0.5, "rgba(150,140,160,0.05)"),
    (0.75, "rgba(226,146,40,0.55)"),
    (1.0, "rgba(214,120,10,1)"),
]

# Lines that are compared with each other: raw scores, scaled scores, and the alternative under study.
RAW = "#C44E9B"
SCALED = "#3B8EA5"
ALTERNATIVE = "#C9A227"
THEORY = "#7F7F7F"

#: Any other set of lines, in this order.
SERIES = [SCALED, RAW, ALTERNATIVE, "#6A5ACD", "#5B8C3A", "#A0522D", "#8C8C8C", "#20808D"]

SHARING = ("MHA", "GQA", "MQA", "MLA")  #: schemes of sharing keys and values

#: Heads laid over each other, on a light and on a dark page; told apart by colour-blind readers, and none is the colour
#: of Q, K or V.
HEADS = [
    ("#AD2BA7", "#D463AC"),
    ("#6D00DD", "#905FEB"),
    ("#25A5D3", "#6ED4EB"),
    ("#B39E32", "#FDBC43"),
    ("#776E23", "#A5914C"),
    ("#155E5A", "#51C297"),
    ("#616CFF", "#8497FC"),
    ("#26296C", "#E2FFFF"),
]

Background = Literal["white", "transparent", "dark"]  #: what is behind a figure in a file
PAPER: dict[Background, str] = {"white": "#FFFFFF", "transparent": "none", "dark": "#14161C"}

#: The pictures' own font: files bring it along, and the app's pages have it under Streamlit's name for it. Then the
#: reader's own fonts, the Chinese ones of Linux, macOS and Windows among them; nothing is downloaded.
FONT = (
    '"Source Sans 3", "Source Sans", system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", '
    '"Noto Sans CJK SC", "PingFang SC", "Microsoft YaHei", sans-serif'
)


def series_colour(name: str, number: int) -> str:
    """The colour of a line by its name, where that names a scheme of sharing, or else by its place among others."""
    return next((ROLES[kind] for kind in SHARING if kind in name), SERIES[number % len(SERIES)])


#: The most negative and the most positive number of a small tensor, by what the numbers are: below nought the same hue,
#: greyed.
TENSORS = {
    "q": ("#8295A3", Q_BLUE),
    "k": ("#AD9484", K_VERMILION),
    "v": ("#84A398", V_GREEN),
    "scores": ("#7B68B5", "#E08A1E"),
    "x": ("#8F939B", "#5F7FA8"),
    "w": ("#9C948A", "#9A7B4F"),
    "mask": (MASKED, MASKED),
    "plain": ("#9A9A9A", "#7F7F7F"),
}


def __getattr__(name: str) -> Any:
    """`Figure` is Plotly's, for those who draw with it; colours and an SVG need no Plotly."""
    if name != "Figure":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with explain_missing_extra(N_("A chart")):
        from plotly.graph_objects import Figure

    return Figure


#: Margins grow until every tick's label has its place. Plotly need not look after that, label by label, whether one
#: leaves the figure: that took a quarter of the time in which a chart is drawn.
AXIS = {"automargin": True, "ticklabeloverflow": "allow"}


def frame(title: str | None, height: int | None) -> dict[str, Any]:
    """Fonts, margins and transparent backgrounds of a chart; the page's theme colours text and axes."""
    # A plot's upper edge moves as the window grows: a legend that is tied to it stays where it was, over the chart.
    legend = {"yanchor": "bottom"} if title else {"yref": "container", "yanchor": "top"}
    return {
        "title": {
            "text": title or "",
            "font": {"size": 15},
            "x": 0,
            "xanchor": "left",
            "xref": "container",
            "pad": {"l": 8},
        },
        "font": {"family": FONT, "size": 13},
        "height": height,
        "margin": {"l": 8, "r": 8, "t": 40 if title else 12, "b": 8},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "hoverlabel": {"font": {"family": FONT}},
        "legend": {"orientation": "h", "xanchor": "left", "x": 0, "y": 1.0} | legend,
    }


def add_alpha(colour: str, alpha: float) -> str:
    """Colour `#RRGGBB` with an opacity, as Plotly writes it."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{alpha})"


def mix_colours(colour: str, second: str, share: float) -> str:
    """Mix of two colours `#RRGGBB`, with `share` (0 to 1) of the second."""
    pairs = [(int(colour[i : i + 2], 16), int(second[i : i + 2], 16)) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(a + (b - a) * share):02X}" for a, b in pairs)


def colour_at(stops: list[tuple[float, str]], position: float) -> str:
    """Colour of a scale at `position`, 0 to 1."""
    for (low, under), (high, over) in pairwise(stops):
        if position <= high:
            return mix_colours(under, over, min(1.0, max(0.0, (position - low) / (high - low))))
    return stops[-1][1]


def ramp(stops: list[tuple[float, str]]) -> list[str]:
    """A scale in 256 colours."""
    return [colour_at(stops, i / 255) for i in range(256)]


def luminance(colour: str) -> float:
    """Relative luminance of a colour, 0 to 1, by WCAG."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first: str, second: str) -> float:
    """Contrast ratio of two colours by WCAG, 1 to 21; text needs 4.5."""
    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


def choose_text_colour(colour: str) -> str:
    """Black or white, whichever has more contrast on a colour; the canvases choose alike."""
    return max(("#FFFFFF", "#000000"), key=lambda ink: contrast(colour, ink))


#: Ground, text, and the quieter text of axes, on a light and on a dark page; `.streamlit/config.toml` and canvases have
#: the same.
GROUND, INK, QUIET = ("#FFFFFF", "#14161C"), ("#1F2328", "#E8EAED"), ("#5D6066", "#A9ADB4")


def text_style() -> str:
    """A style sheet for the letters of charts: a chart does not know whether its page is light or dark."""
    colours = {*ROLES.values(), *SERIES, THEORY, PRIMARY[1]}
    rules = []
    for colour in sorted(colours):
        red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
        shades = ",".join(readable_colour(colour, dark=dark) for dark in (False, True))
        rules.append(f'text[style*="fill: rgb({red}, {green}, {blue})"]{{fill:light-dark({shades})!important}}')
    return "html:root .js-plotly-plot{" + "".join(rules) + "}"


def readable_colour(colour: str, *, dark: bool) -> str:
    """Colour for text: lighter on a dark page, darkened to a contrast of 4.5 on white."""
    if dark:
        return mix_colours(colour, "#FFFFFF", 0.35)
    shades = (mix_colours(colour, "#000000", i / 20) for i in range(20))
    return next(shade for shade in shades if contrast(shade, "#FFFFFF") >= 4.5)


MOST_HEADS = len(HEADS)


def overlaid_heads(chosen: Sequence[int], lead: int, count: int) -> tuple[int, ...]:
    """Heads to overlay in a picture of a layer of `count` heads, `lead` first, at most MOST_HEADS."""
    others = [head for head in dict.fromkeys(chosen) if head != lead and 0 <= head < count]
    return (lead, *others)[:MOST_HEADS]
