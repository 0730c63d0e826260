"""The font of pictures in files: Source Sans 3, its Latin letters, by Adobe, under the SIL Open Font License."""

import base64
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).with_name("fonts")
FAMILY = "Source Sans 3"  #: its name in SVG
FAMILY_IN_FILES = "Source Sans 3 ExtraLight"  #: its name inside the TTF files, by which resvg finds it
WEIGHTS = (400, 600)
ROUTE = "attnviz/pictures_font.css"  #: of `font_style`, below the app's root
#: what it has letters for, as a class of a regular expression
LETTERS = (
    "\u0020-\u007e\u00a0-\u00ff\u0131\u0152\u0153\u02bb\u02bc\u02c6\u02da\u02dc\u2009\u200b\u2013\u2014\u2018-\u201a"
    "\u0300\u0301\u0303\u0304\u0308\u0309\u0323\u0329\u201c-\u201e\u2022\u2026\u2032\u2033\u2039\u203a\u2044\u20ac\u2122\u2191\u2193\u2212\u2215"
)


def font_files(suffix: str) -> dict[int, Path]:
    """The font file of each weight: "woff2" for browsers, "ttf" for resvg."""
    return {weight: FOLDER / f"source-sans-3-{weight}.{suffix}" for weight in WEIGHTS}


@cache
def font_style() -> str:
    """The style that brings the font along inside an SVG, so that a file looks alike everywhere."""
    return "".join(
        f"@font-face{{font-family:'{FAMILY}';font-weight:{weight};src:url(data:font/woff2;base64,"
        f"{base64.b64encode(file.read_bytes()).decode()}) format('woff2')}}"
        for weight, file in font_files("woff2").items()
    )
