"""Files that visitors upload: what is a picture is read upright and flat, all else gets a sentence."""

import io
import struct
import subprocess
import sys
import zlib

import numpy as np
import pytest
from PIL import Image

from attnviz.base.message import Problem
from attnviz.models.pictures.sources import MOST_BYTES, read_photo


def saved(image, kind="PNG", **more):
    out = io.BytesIO()
    image.save(out, kind, **more)
    return out.getvalue()


def picture(width=30, height=20):
    return Image.fromarray(np.random.default_rng(0).integers(0, 256, (height, width, 3), np.uint8))


def png_that_claims(width, height):
    """A PNG of a few bytes whose head promises so many pixels."""

    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0" * 1000)) + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize(
    "data, sentence",
    [
        (b"only words, and no picture", "cat.png is not a picture in one of these formats: PNG, JPEG, WebP"),
        (b"", "cat.png is not a picture"),
        (b"GIF89a" + bytes(40), "cat.png is not a picture"),
        (saved(picture(1, 1)), "cat.png is 1 × 1 pixels; each side needs at least 2"),
        (saved(picture(4097, 3)), "cat.png is 4097 × 3 pixels; a side may have 4096"),
        (saved(picture(200, 200))[:3000], "cat.png begins as a picture and cannot be read to its end"),
        (bytes(MOST_BYTES + 1), "cat.png has 5.0 MB; a picture may have 5 MB"),
    ],
)
def test_what_is_no_picture_gets_a_sentence_that_names_it(data, sentence):
    with pytest.raises(Problem) as told:
        read_photo(data, "cat.png")
    assert sentence in str(told.value)


def test_a_bomb_is_refused_before_it_is_unpacked(monkeypatch):
    monkeypatch.setattr(Image.Image, "load", lambda self: pytest.fail("unpacked"))
    for side in (9_000, 50_000):
        with pytest.raises(Problem, match=r"may have 4096|any side of 4096"):
            read_photo(png_that_claims(side, side))


def test_the_camera_s_note_turns_a_picture_upright():
    image = picture()
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned by 90 degrees, clockwise
    photo = read_photo(saved(image, "PNG", exif=exif))
    np.testing.assert_array_equal(photo.pixels, np.asarray(image.rotate(-90, expand=True)))
    assert "Turned upright" in " ".join(map(str, photo.notices))


#: Reads twenty pictures of the largest allowed sides and keeps them, as twenty visitors do, in little more memory than
#: one takes while it is unpacked.
TWENTY = """
import io, resource, sys
from PIL import Image
from attnviz.models.pictures.sources import read_photo

out = io.BytesIO()
Image.new(sys.argv[1], (4096, 4096), int(sys.argv[3]) if sys.argv[1] == "I;16" else "teal").save(out, sys.argv[2])
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 420 * 2**20, resource.RLIM_INFINITY))
kept = [read_photo(out.getvalue()) for _ in range(20)]
print(sum(each.pixels.nbytes + len(each.file) for each in kept))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is bounded by Linux")
@pytest.mark.parametrize("mode, kind", [("I;16", "PNG"), ("RGB", "JPEG"), ("P", "PNG")])
def test_twenty_pictures_of_the_largest_sides_take_the_memory_of_one(mode, kind):
    done = subprocess.run([sys.executable, "-c", TWENTY, mode, kind, "9999"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-500:]
    assert int(done.stdout) < 20 * 4 * 2**20
