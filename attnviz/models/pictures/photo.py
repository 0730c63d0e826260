"""A visitor's file as a picture: decoded only after its format, its size and its sides were looked at."""

from __future__ import annotations

import io
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

from attnviz.base.message import Message, Problem
from attnviz.base.words import N_

FORMATS: Final = ("PNG", "JPEG", "WEBP")
MOST_BYTES: Final = 5 * 2**20
MOST_SIDE: Final = 4096  #: pixels
LEAST_SIDE: Final = 2


@dataclass(frozen=True, eq=False)
class Photo:
    """Pixels (height, width, 3) of 8 bits, and what was done to the file so that it became these."""

    pixels: np.ndarray
    notices: tuple[Message, ...] = ()
    file: bytes = b""  #: the file that it was read from, as it came

    @property
    def height(self) -> int:
        return int(self.pixels.shape[0])

    @property
    def width(self) -> int:
        return int(self.pixels.shape[1])


def read_photo(data: bytes, name: str = "") -> Photo:
    """The picture in a file, upright; a Problem that names what is wrong with any other file.

    Sides and format are read from the head of the file, so that no large picture is ever unpacked.
    """
    shown = name[:80] or "this file"
    if len(data) > MOST_BYTES:
        raise Problem(
            "{name} has {megabytes} MB; a picture may have {most} MB",
            name=shown,
            megabytes=f"{len(data) / 2**20:.1f}",
            most=MOST_BYTES // 2**20,
        )
    opened = _opened(data, shown)
    width, height = opened.size
    if max(width, height) > MOST_SIDE:
        raise Problem(
            "{name} is {width} × {height} pixels; a side may have {most}",
            name=shown,
            width=width,
            height=height,
            most=MOST_SIDE,
        )
    if min(width, height) < LEAST_SIDE:
        raise Problem(
            "{name} is {width} × {height} pixels; each side needs at least {least}",
            name=shown,
            width=width,
            height=height,
            least=LEAST_SIDE,
        )
    notices = _notices(opened)
    try:
        upright = ImageOps.exif_transpose(opened)
        pixels = np.asarray(_flat(upright), np.uint8)
    except (OSError, ValueError, SyntaxError, EOFError, MemoryError) as error:
        raise Problem("{name} begins as a picture and cannot be read to its end", name=shown) from error
    if upright.size != opened.size or opened.getexif().get(0x0112, 1) not in (0, 1):
        notices += (Message("Turned upright, as the camera noted in the file."),)
    if (pixels == pixels[0, 0]).all():
        plain = Message(
            "The picture is {width} × {height} pixels of one colour: there is nothing in it to look at.",
            {"width": pixels.shape[1], "height": pixels.shape[0]},
        )
        notices += (plain,)
    return Photo(pixels, notices, data)


def _opened(data: bytes, shown: str) -> Image.Image:
    """The file with its head read and nothing unpacked."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # the sides are looked at by the caller
            return Image.open(io.BytesIO(data), formats=FORMATS)
    except Image.DecompressionBombError as error:
        raise Problem("{name} claims more pixels than any side of {most} allows", name=shown, most=MOST_SIDE) from error
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError) as error:
        raise Problem(
            "{name} is no picture in one of these formats: {formats}", name=shown, formats="PNG, JPEG, WebP"
        ) from error


def _notices(opened: Image.Image) -> tuple[Message, ...]:
    frames = getattr(opened, "n_frames", 1)
    possible = (
        (frames > 1, Message("Animated, {count} pictures: the first one is used.", {"count": frames})),
        (_see_through(opened), Message("Transparent parts are white here.")),
        (
            opened.mode == "CMYK",
            Message("Its colours were made for print (CMYK); they were turned into those of a screen."),
        ),
    )
    return tuple(message for holds, message in possible if holds)


def _see_through(image: Image.Image) -> bool:
    return "A" in image.getbands() or "a" in image.getbands() or "transparency" in image.info


def _flat(image: Image.Image) -> Image.Image:
    """In red, green and blue, with white where it was transparent."""
    if image.mode in ("I;16", "I;16B", "I;16L", "I"):
        values = np.asarray(image, np.float64)
        return Image.fromarray((values / max(1.0, values.max() / 255)).astype(np.uint8)).convert("RGB")
    if not _see_through(image):
        return image.convert("RGB")
    layered = image.convert("RGBA")
    ground = Image.new("RGBA", layered.size, "white")
    return Image.alpha_composite(ground, layered).convert("RGB")


# Two photographs that come with attnviz: scikit-learn's sample pictures, made smaller.
FOLDER: Final = Path(__file__).parents[1] / "shipped" / "photographs"


@dataclass(frozen=True)
class Sample:
    """A photograph, who took it, and under which licence."""

    id: str
    name: str
    by: str
    source: str
    licence: str = "CC BY 2.0"


SAMPLES: Final = (
    Sample("flower", N_("A flower"), "vultilion", "https://www.flickr.com/photos/vultilion/6056698931/"),
    Sample("temple", N_("A temple"), "danielbuechele", "https://www.flickr.com/photos/danielbuechele/6061409035/"),
)


def sample(name: str) -> Photo:
    """The photograph of this id; LookupError where there is none."""
    if name not in {each.id for each in SAMPLES}:
        raise LookupError(name)
    return read_photo((FOLDER / f"{name}.jpg").read_bytes(), name)
