"""A picture through a real model: where each patch looks, what the model says, and what a change does.

What makes pictures belongs to `models`; it is exported here too, because `ui` draws it.
"""

from attnviz.experiments.pictures.changed_weights import weights_under
from attnviz.experiments.pictures.patch_measures import (
    PATCH_MEASURES,
    HeadMaps,
    PatchMeasure,
    head_maps,
    mean_of_layers,
    received,
    rolled_out,
    sinks,
)
from attnviz.experiments.pictures.picture_program import changed_program, program
from attnviz.experiments.pictures.picture_record import (
    STAGES,
    HeadChange,
    PatchStack,
    PictureAnswer,
    PictureRun,
    PictureStack,
    TextTower,
    seen_keys,
)
from attnviz.experiments.pictures.picture_run import rerun, run_picture
from attnviz.experiments.pictures.smallest_patches import SmallestSet, smallest_set
from attnviz.experiments.pictures.windowed_run import coarser, finer
from attnviz.models.pictures import (
    SAMPLES,
    PatchGrid,
    Photo,
    Sample,
    card,
    compares,
    composed,
    counts_of_drawing,
    held_out,
    looks,
    read_photo,
    reads_words,
    sample,
)

__all__ = [
    "PATCH_MEASURES",
    "SAMPLES",
    "STAGES",
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
    "TextTower",
    "card",
    "changed_program",
    "coarser",
    "compares",
    "composed",
    "counts_of_drawing",
    "finer",
    "head_maps",
    "held_out",
    "looks",
    "mean_of_layers",
    "program",
    "read_photo",
    "reads_words",
    "received",
    "rerun",
    "rolled_out",
    "run_picture",
    "sample",
    "seen_keys",
    "sinks",
    "smallest_set",
    "weights_under",
]
