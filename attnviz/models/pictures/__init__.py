"""Pictures for models: safely decoded, drawn or composed; prepared as a model asks; and where their patches lie."""

from attnviz.models.pictures.digit_pictures import Digits, card, composed, counts_of_drawing, held_out
from attnviz.models.pictures.patch_grid import (
    PatchGrid,
    Windows,
    grid_of,
    looks_in_windows,
    merged,
    of_all_patches,
    pixels_of_patches,
    seen_in_windows,
    windows_of,
)
from attnviz.models.pictures.photo import SAMPLES, Photo, Sample, read_photo, sample
from attnviz.models.pictures.prepare import COUNTS, PreparedPicture, looks, prepare
from attnviz.models.pictures.prompted import (
    PromptedPicture,
    compares,
    descriptions,
    image_token,
    longer,
    prompted,
    reads_words,
    says_each_alone,
    special_names,
    token_names,
)

__all__ = [
    "COUNTS",
    "SAMPLES",
    "Digits",
    "PatchGrid",
    "Photo",
    "PreparedPicture",
    "PromptedPicture",
    "Sample",
    "Windows",
    "card",
    "compares",
    "composed",
    "counts_of_drawing",
    "descriptions",
    "grid_of",
    "held_out",
    "image_token",
    "longer",
    "looks",
    "looks_in_windows",
    "merged",
    "of_all_patches",
    "pixels_of_patches",
    "prepare",
    "prompted",
    "read_photo",
    "reads_words",
    "sample",
    "says_each_alone",
    "seen_in_windows",
    "special_names",
    "token_names",
    "windows_of",
]
