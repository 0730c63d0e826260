"""The font of pictures in files: Source Sans 3, its Latin letters, by Adobe, under the SIL Open Font License."""

from pathlib import Path

FOLDER = Path(__file__).with_name("fonts")
FAMILY = "Source Sans 3"  #: its name in SVG
FAMILY_IN_FILES = "Source Sans 3 ExtraLight"  #: its name inside the TTF files, by which resvg finds it
WEIGHTS = (400, 600)


def files(suffix: str) -> dict[int, Path]:
    """The font file of each weight: "woff2" for browsers, "ttf" for resvg."""
    return {weight: FOLDER / f"source-sans-3-{weight}.{suffix}" for weight in WEIGHTS}
