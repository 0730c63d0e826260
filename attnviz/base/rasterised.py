"""An SVG as a PNG, by resvg: no browser, and nothing of the system but its fonts; and the font of pictures in files."""

import base64
import html
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

from attnviz.base.extras import explain_missing_extra
from attnviz.base.message import Problem
from attnviz.base.words import N_

#: of the font of pictures in files: Source Sans 3, its Latin letters, by Adobe, under the SIL Open Font License
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


LATIN, CHINESE = "A", "注"  #: letters that stand for their script
CHINESE_TEXT = "sans-serif:lang=zh-cn"  #: what fontconfig calls the font that a browser takes for Chinese
_TEXT = re.compile(r"<text\b.*?</text>", re.DOTALL)
_HAN = re.compile(r"[\u4e00-\u9fff]")
_OWN_FONT = re.compile(rf"""(['"]|&quot;|&\#x27;){FAMILY}\1""")
_SIGNS = re.compile(rf"[^{LETTERS}\s](?=[^<>]*<)")
_OTHER_FONT = re.compile(rf"""font-family="(?!'{FAMILY}')|style="[^"]*font-family""")
_ONE_WORD = '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20">{}</svg>'


def render_png(svg: str, scale: float = 2.0) -> bytes:
    """The picture with `scale` pixels for each of its own, as the app's “PNG 2x” has them.

    A Problem where there is no font: words in the picture would be missing without a sound.
    """
    in_picture_font = _OWN_FONT.search(svg) is not None
    if "<text" in svg and not in_picture_font and not _has_font(LATIN):
        raise Problem(
            "A PNG needs a font for its words and this machine has none: install one (on Debian "
            "fonts-dejavu-core), or save the figure as SVG"
        )
    if "<text" in svg and _HAN.search(svg) and not _has_font(CHINESE):
        raise Problem(
            "A PNG needs a font for the Chinese characters in it and this machine has none: install one (on "
            "Debian fonts-wqy-microhei or fonts-noto-cjk), or save the figure as SVG, which its reader's fonts draw"
        )
    needs_other_glyphs = any(_HAN.search(text) or _SIGNS.search(text) for text in _TEXT.findall(svg))
    only_picture_font = in_picture_font and not needs_other_glyphs and not _OTHER_FONT.search(svg)
    styled = _TEXT.sub(_set_sign_font, svg) if in_picture_font else svg
    styled = _TEXT.sub(_set_chinese_font, styled)
    styled = styled.replace("system-ui", _match_font("system-ui"))
    styled = _OWN_FONT.sub(rf"\g<1>{FAMILY_IN_FILES}\g<1>", styled)
    fonts = [str(file) for file in font_files("ttf").values()]
    # looking through the system's fonts takes as long as a small picture
    return bytes(_resvg()(svg_string=styled, zoom=scale, font_files=fonts, skip_system_fonts=only_picture_font))


def _set_chinese_font(match: re.Match[str]) -> str:
    """A text with Chinese letters begins its list of fonts with a Chinese one.

    resvg takes the first font of a list that is there, and draws all of a text in any other that has the letters which
    this one lacks: Chinese, and the Latin words in it, came out in a serif font beside labels that have none.
    """
    text, font = match[0], _match_font(CHINESE_TEXT)
    if not _HAN.search(text):
        return text
    if "system-ui" in text:
        return text.replace("system-ui", font)
    return text.replace("<text", f'<text font-family="{font}, sans-serif"', 1)


def _set_sign_font(match: re.Match[str]) -> str:
    """A text with signs that the pictures' font lacks, such as √, in the system's usual font.

    resvg would draw all of it in any font that has the sign, however heavy or slanted.
    """
    text = match[0]
    if _HAN.search(text) or not _SIGNS.search(text):
        return text
    font = f"'{_match_font('sans-serif')}'"
    replaced = _OWN_FONT.sub(font, text)
    return replaced if replaced != text else text.replace("<text", f'<text font-family="{font}"', 1)


@cache
def _match_font(pattern: str) -> str:
    """The font that a browser on this machine takes for `system-ui`, which resvg does not know, or for Chinese."""
    fc_match = shutil.which("fc-match")
    if fc_match is None:
        return "system-ui"
    process = subprocess.run(
        [fc_match, "-f", "%{family[0]}", pattern], capture_output=True, encoding="utf-8", errors="replace", check=False
    )
    return html.escape(process.stdout.strip()) or "system-ui"


@cache
def _has_font(letter: str) -> bool:
    """Whether a font of this machine has the letter: resvg leaves out letters without a font."""
    draw = _resvg()
    word = f'<text x="2" y="15" font-family="sans-serif">{letter}</text>'
    return bool(draw(svg_string=_ONE_WORD.format(word)) != draw(svg_string=_ONE_WORD.format("")))


def _resvg() -> Any:
    with explain_missing_extra(N_("A PNG")):
        from resvg_py import svg_to_bytes  # here: only PNG needs it
    return svg_to_bytes
