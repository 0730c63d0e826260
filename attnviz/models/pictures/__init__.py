"""Pictures for models: safely decoded, drawn or composed; prepared as a model asks; and where their patches lie."""

from attnviz.models.pictures.digit_pictures import Digits, composed, counts_of_drawing, held_out
from attnviz.models.pictures.patch_grid import PatchGrid, grid_of
from attnviz.models.pictures.photo import Photo, read_photo
from attnviz.models.pictures.prepare import COUNTS, PreparedPicture, looks, prepare
from attnviz.models.pictures.samples import SAMPLES, Sample, sample

__all__ = [
    "COUNTS",
    "SAMPLES",
    "Digits",
    "PatchGrid",
    "Photo",
    "PreparedPicture",
    "Sample",
    "composed",
    "counts_of_drawing",
    "grid_of",
    "held_out",
    "looks",
    "prepare",
    "read_photo",
    "sample",
]
