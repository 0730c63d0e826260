"""Write how wide each letter of the pictures' font is: `python -m scripts.font_widths`.

Source Sans 3, regular and semibold, its Latin letters, from the npm package @fontsource/source-sans-3 5.3.1. The TTF
files hold the same fonts unpacked, for resvg, which reads no WOFF2.
"""

import json
from pathlib import Path

from fontTools.ttLib import TTFont

ROOT = Path(__file__).parents[1]
FONTS = ROOT / "attnviz/base/fonts"
WIDTHS = ROOT / "attnviz/canvas/scene/advance_widths.json"
WEIGHTS = (400, 600)


def advance_widths(weight: int) -> dict[str, int]:
    """How far each letter of a weight moves the next one on, in thousandths of the font's size."""
    font = TTFont(FONTS / f"source-sans-3-{weight}.ttf")
    widths = font["hmtx"]
    return {chr(code): widths[glyph][0] for code, glyph in sorted(font.getBestCmap().items()) if code >= 32}


if __name__ == "__main__":
    table = {str(weight): advance_widths(weight) for weight in WEIGHTS}
    WIDTHS.write_text(json.dumps(table, ensure_ascii=True, separators=(",", ":")) + "\n", "utf-8")
