"""A picture through a real model: where each patch looks, what the model says, and what a change does.

What makes pictures belongs to `models`; it is exported here too, because `ui` draws it.
"""

from attnviz.experiments.pictures.patch_measures import (
    PATCH_MEASURES,
    HeadMaps,
    PatchMeasure,
    head_maps,
    rolled_out,
    sinks,
)
from attnviz.experiments.pictures.picture_program import program
from attnviz.experiments.pictures.picture_run import (
    HeadChange,
    PatchStack,
    PictureAnswer,
    PictureRun,
    PictureStack,
    rerun,
    run_picture,
    seen_keys,
)
from attnviz.experiments.pictures.smallest_patches import SmallestSet, smallest_set
from attnviz.models.pictures import (
    SAMPLES,
    PatchGrid,
    Photo,
    Sample,
    composed,
    counts_of_drawing,
    held_out,
    looks,
    read_photo,
    sample,
)

__all__ = [
    "PATCH_MEASURES",
    "SAMPLES",
    "HeadChange",
    "HeadMaps",
    "PatchGrid",
    "PatchMeasure",
    "PatchStack",
    "Photo",
    "PictureAnswer",
    "PictureRun",
    "PictureStack",
    "Sample",
    "SmallestSet",
    "composed",
    "counts_of_drawing",
    "head_maps",
    "held_out",
    "looks",
    "program",
    "read_photo",
    "rerun",
    "rolled_out",
    "run_picture",
    "sample",
    "seen_keys",
    "sinks",
    "smallest_set",
]
