"""Where pictures come from: a visitor's file, decoded only after its format, its size and its sides were looked at; two
photographs that are shipped; and digits of 8 x 8 counts, held-out ones that are shipped or a visitor's drawing.

The counts are those of the data set that the two models learned from (scikit-learn's copy of the UCI Optical
Recognition of Handwritten Digits, E. Alpaydin and C. Kaynak 1998, CC BY 4.0): a bitmap of 32 x 32 is divided into
blocks of 4 x 4, and the pixels that are on are counted in each.
"""

import io
import json
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
from PIL import Image, ImageOps

from attnviz.base.message import Message, Problem, require_between
from attnviz.base.rounding import Rounded
from attnviz.base.words import N_
from attnviz.models.file_faults import DAMAGED

FOLDER: Final = Path(__file__).parents[1] / "shipped"

FORMATS: Final = ("PNG", "JPEG", "WEBP")
MOST_BYTES: Final = 5 * 2**20
MOST_SIDE: Final = 4096  #: pixels
LEAST_SIDE: Final = 2
#: pixels along the longer side of what is kept: no model here reads more, and 4,096 x 4,096 are 50 MB for each visitor
KEPT_SIDE: Final = 1024


@dataclass(frozen=True, eq=False)
class Photo:
    """Pixels (height, width, 3) of 8 bits, and notices about how the file was changed."""

    pixels: np.ndarray
    notices: tuple[Message, ...] = ()
    file: bytes = b""  #: the file that it was read from; of one that was made smaller, one that holds these pixels


def read_photo(data: bytes, name: str = "") -> Photo:
    """Decode a picture file and turn it upright; a Problem for any other file.

    Sides and format are read from the head of the file, so that no large picture is ever unpacked. What is larger than
    `KEPT_SIDE` is made smaller before anything else is done to it.
    """
    display_name = name[:80] or "this file"
    if len(data) > MOST_BYTES:
        raise Problem(
            "{name} has {megabytes} MB; a picture may have {most} MB",
            name=display_name,
            megabytes=f"{Rounded(len(data) / 2**20):.1f}",
            most=MOST_BYTES // 2**20,
        )
    opened = _open_image(data, display_name)
    width, height = opened.size
    if max(width, height) > MOST_SIDE:
        raise Problem(
            "{name} is {width} × {height} pixels; a side may have {most}",
            name=display_name,
            width=width,
            height=height,
            most=MOST_SIDE,
        )
    if min(width, height) < LEAST_SIDE:
        raise Problem(
            "{name} is {width} × {height} pixels; each side needs at least {least}",
            name=display_name,
            width=width,
            height=height,
            least=LEAST_SIDE,
        )
    frames = getattr(opened, "n_frames", 1)
    made_for_print = Message("Its colours were made for print (CMYK); they were turned into those of a screen.")
    possible = (
        (frames > 1, Message("Animated, {count} pictures: the first one is used.", {"count": frames})),
        (_see_through(opened), Message("Transparent parts are white here.")),
        (opened.mode == "CMYK", made_for_print),
    )
    notices = tuple(message for holds, message in possible if holds)
    try:
        small = _small(opened)
        upright = ImageOps.exif_transpose(small)
        pixels = np.asarray(_flat(upright), np.uint8)
        if upright.size != small.size or opened.getexif().get(0x0112, 1) not in (0, 1):
            notices += (Message("Turned upright, as the camera noted in the file."),)
    except Exception as error:  # whatever Pillow's readers of formats, profiles and cameras' notes stumble over
        raise Problem("{name} begins as a picture and cannot be read to its end", name=display_name) from error
    if (pixels == pixels[0, 0]).all():
        notices += (
            Message(
                "The picture is {width} × {height} pixels of one colour: there is nothing in it to look at.",
                {"width": pixels.shape[1], "height": pixels.shape[0]},
            ),
        )
    if max(width, height) > KEPT_SIDE:
        notices += (Message("Made smaller, from {width} × {height} pixels.", {"width": width, "height": height}),)
        png = io.BytesIO()
        Image.fromarray(pixels).save(png, "PNG")
        data = png.getvalue()
    return Photo(pixels, notices, data)


def _small(image: Image.Image) -> Image.Image:
    """The picture with no side above KEPT_SIDE; a JPEG is decoded to hardly more than that."""
    if max(image.size) <= KEPT_SIDE:
        return image
    if _see_through(image) or image.mode in ("P", "1"):  # of which no means can be taken
        image = image.convert("RGBA")
    image.thumbnail((KEPT_SIDE, KEPT_SIDE), reducing_gap=None if image.mode.startswith("I;16") else 2.0)
    return image


def _open_image(data: bytes, display_name: str) -> Image.Image:
    """The file with its head read and nothing unpacked."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # the sides are looked at by the caller
            return Image.open(io.BytesIO(data), formats=FORMATS)
    except Image.DecompressionBombError as error:
        raise Problem(
            "{name} claims more pixels than any side of {most} allows", name=display_name, most=MOST_SIDE
        ) from error
    except DAMAGED as error:
        raise Problem(
            "{name} is not a picture in one of these formats: {formats}", name=display_name, formats="PNG, JPEG, WebP"
        ) from error


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
    return Image.alpha_composite(Image.new("RGBA", layered.size, "white"), layered).convert("RGB")


# Two photographs that come with attnviz: scikit-learn's sample pictures, made smaller.


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
    if name not in {known.id for known in SAMPLES}:
        raise LookupError(name)
    return read_photo((FOLDER / "photographs" / f"{name}.jpg").read_bytes(), name)


# Digits of 8 x 8 counts.
DIGITS_FILE: Final = FOLDER / "held_out_digits.npz"
DIGIT_SIDE: Final = 8  #: counts along a side
CANVAS_SIDE: Final = 32  #: pixels along the side of a drawing
BLOCK: Final = CANVAS_SIDE // DIGIT_SIDE
WIDEST: Final = 24  #: pixels that a drawn digit takes across: those of the data set leave their sides empty
MOST_DIGITS: Final = 3  #: digits side by side


@dataclass(frozen=True, eq=False)
class Digits:
    """Held-out pictures (N, 8, 8) in counts from 0 to 16, and which digit each is (N,)."""

    pictures: np.ndarray
    labels: np.ndarray

    def like(self, digit: int, number: int = 0) -> int:
        """The place of the `number`-th picture of a digit; after the last one comes the first again."""
        require_between("digit", digit, 0, 9)
        places = np.flatnonzero(self.labels == digit)
        return int(places[number % len(places)])


@cache
def held_out_digits() -> Digits:
    """The fifth of the data set that neither model has learned from."""
    with np.load(DIGITS_FILE) as arrays:
        return Digits(arrays["pictures"], arrays["said"])


def join_digits(pictures: Sequence[np.ndarray], width: int = MOST_DIGITS) -> np.ndarray:
    """Digits (8, 8) side by side, (8, 8 * width), with nothing to the right of the last."""
    if not 1 <= len(pictures) <= width:
        raise Problem("{count} digits do not fit; between 1 and {most} do", count=len(pictures), most=width)
    return np.hstack([*pictures, np.zeros((DIGIT_SIDE, DIGIT_SIDE * (width - len(pictures))), np.uint8)]).astype(
        np.uint8
    )


def count_ink(bitmap: np.ndarray) -> np.ndarray:
    """A drawing (32, 32), True where there is ink, as the data set prepares its own: (8, 8) counts from 0 to 16.

    What is drawn is first stretched to the full height and moved to the middle, as the data set's own digits are.
    """
    bitmap = np.asarray(bitmap, bool)
    if bitmap.shape != (CANVAS_SIDE, CANVAS_SIDE):
        raise Problem("a drawing has {shape} pixels; it must have 32 × 32", shape=" × ".join(map(str, bitmap.shape)))
    if not bitmap.any():
        return np.zeros((DIGIT_SIDE, DIGIT_SIDE), np.uint8)
    return stretch_ink(bitmap).reshape(DIGIT_SIDE, BLOCK, DIGIT_SIDE, BLOCK).sum((1, 3)).astype(np.uint8)


def stretch_ink(bitmap: np.ndarray) -> np.ndarray:
    """The ink stretched to the whole height, in the middle; a stroke that is very thin keeps its width."""
    rows, columns = np.flatnonzero(bitmap.any(1)), np.flatnonzero(bitmap.any(0))
    cut = bitmap[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    times = min(CANVAS_SIDE / cut.shape[0], WIDEST / cut.shape[1])
    size = max(1, round(cut.shape[1] * times)), max(1, round(cut.shape[0] * times))
    stretched = np.asarray(Image.fromarray(cut.astype(np.uint8) * 255).resize(size, Image.Resampling.BILINEAR)) >= 128
    canvas = np.zeros((CANVAS_SIDE, CANVAS_SIDE), bool)
    top, left = (CANVAS_SIDE - size[1]) // 2, (CANVAS_SIDE - size[0]) // 2
    canvas[top : top + size[1], left : left + size[0]] = stretched
    return canvas


def model_card(model: str) -> Message | None:
    """The figures that training wrote beside a model's weights, in a sentence; None for a model that is not ours."""
    file = FOLDER / model / "figures.json"
    if not file.is_file():
        return None
    figures = json.loads(file.read_text("utf-8"))
    if "exact" in figures:
        return Message(
            "On digits that it has not learned from, this model writes {pairs} of pairs and {triples} of triples "
            "without a mistake. Data (UCI digits, as scikit-learn has them) and weights: CC BY 4.0.",
            {name: f"{Rounded(share):.1%}" for name, share in figures["exact"].items()},
        )
    return Message(
        "This model is right on {held_out} of the held-out fifth of its data. A model trained without the last 360 "
        "pictures is right on {last} of those: 252 are by people of whom it saw none, 108 by one of whom it saw 22. "
        "This one, which learned from most of them, is right on {learned}. Data (UCI digits, as scikit-learn has them) "
        "and weights: CC BY 4.0.",
        {
            "held_out": f"{Rounded(figures['held_out_fifth']):.1%}",
            "last": f"{Rounded(figures['last_360_not_learned']):.1%}",
            "learned": f"{Rounded(figures['last_360_mostly_learned']):.1%}",
        },
    )
